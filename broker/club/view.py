"""What a player sees of a play. Players are given this and nothing else, so that none can look at hidden tiles."""

from collections import Counter
from functools import cached_property

from msgspec import Struct

from broker.contract.words import SEATS, Seat, Wind
from broker.rules.deal import seat_wind
from broker.rules.referee.hand import Meld
from broker.rules.referee.play import Play
from broker.rules.referee.turns import Phase
from broker.rules.tiles import COPIES, KINDS


class Before(Struct, frozen=True):
    """What lies open before one seat. A concealed kong of another's has no tiles here: it lies face down."""

    river: tuple[str, ...]
    melds: tuple[Meld, ...]
    wall: int
    """Tiles left in the own wall."""


class View(Struct, frozen=True, dict=True):
    """A play as one seat sees it."""

    seat: Seat
    concealed: tuple[str, ...]
    """The own hand; while its player holds a drawn tile, that is the last."""
    before: tuple[Before, ...]
    """In the order of SEATS."""
    turn: Seat
    phase: Phase
    ltw: bool
    offered: str
    seat_wind: Wind
    prevalent_wind: Wind

    @property
    def own(self) -> Before:
        """What lies before the player."""
        return self.before[SEATS.index(self.seat)]

    @cached_property
    def shown(self) -> Counter[str]:
        """Count the tiles that lie open, own melds included; a tile offered lies in a river or in a kong."""
        return Counter(
            tile for one in self.before for tile in (*one.river, *(tile for meld in one.melds for tile in meld.tiles))
        )

    @cached_property
    def unseen(self) -> tuple[int, ...]:
        """Count for each kind what is neither open nor in the own hand."""
        held = Counter(self.concealed)
        return tuple(COPIES - held[kind] - self.shown[kind] for kind in KINDS)


def seen(play: Play, seat: Seat) -> View:
    """Give what a seat sees of a play."""
    return View(
        seat=seat,
        concealed=play.hand(seat).concealed,
        before=tuple(_before(play, other, seat) for other in SEATS),
        turn=play.turns.turn,
        phase=play.turns.phase,
        ltw=play.turns.ltw,
        offered=play.offered,
        seat_wind=seat_wind(seat, play.deal.dealer),
        prevalent_wind=play.deal.prevalent_wind,
    )


def _before(play: Play, seat: Seat, viewer: Seat) -> Before:
    hand = play.hand(seat)
    own = seat == viewer
    melds = tuple(meld if own or not meld.concealed else Meld(meld.kind, ()) for meld in hand.melds)
    return Before(hand.river, melds, play.turns.walls[SEATS.index(seat)])
