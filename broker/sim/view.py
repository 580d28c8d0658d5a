"""What a simulated player sees of a play, and where chance comes from: nothing here draws it by itself.

Players are given this and nothing else, so that none can look at hidden tiles.
"""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from broker.protocol import SEATS, Seat, Wind
from broker.rules import COPIES, KINDS, seat_wind
from broker.rules.mcr import Phase, PlayState, TableMeld


class OpenSeat(Struct, frozen=True):
    """What lies open before one seat. A concealed kong of another's has no tiles here: it lies face down."""

    river: tuple[str, ...]
    melds: tuple[TableMeld, ...]
    wall: int
    """Tiles left in the own wall."""


class PlayerView(Struct, frozen=True, dict=True):
    """A play as one seat sees it."""

    seat: Seat
    concealed: tuple[str, ...]
    """The own hand; while its player holds a drawn tile, that is the last."""
    before: tuple[OpenSeat, ...]
    """In the order of SEATS."""
    turn: Seat
    phase: Phase
    ltw: bool
    offered: str
    seat_wind: Wind
    prevalent_wind: Wind

    @property
    def own(self) -> OpenSeat:
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


def view_from(play: PlayState, seat: Seat) -> PlayerView:
    """Return what a seat sees of a play."""
    return PlayerView(
        seat=seat,
        concealed=play.hand(seat).concealed,
        before=tuple(_open_seat(play, other, seat) for other in SEATS),
        turn=play.turns.turn,
        phase=play.turns.phase,
        ltw=play.turns.ltw,
        offered=play.offered,
        seat_wind=seat_wind(seat, play.deal.dealer),
        prevalent_wind=play.deal.prevalent_wind,
    )


def _open_seat(play: PlayState, seat: Seat, viewer: Seat) -> OpenSeat:
    hand = play.hand(seat)
    own = seat == viewer
    melds = tuple(meld if own or not meld.concealed else TableMeld(meld.kind, ()) for meld in hand.melds)
    return OpenSeat(hand.river, melds, play.turns.walls[SEATS.index(seat)])


class Chance(Protocol):
    """Numbers by chance: `random.Random(seed)`."""

    def random(self) -> float:
        """Return a number from 0 up to 1."""


NewChance = Callable[[str], Chance]
"""Returns the same numbers each time for the same words: `random.Random`."""
