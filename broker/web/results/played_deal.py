"""What stands on a deal's page once the standings are final: its four walls, and its par where somebody had it played.

Before that faces are secret, and nothing of this is given to anybody, arbiters either.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from markupsafe import Markup

from broker.errors import BrokerError, RuleError
from broker.event import HANDS, PAR, DealPar, SeatPar, par_of_deal, read_hands, read_par
from broker.export.pmn.record import in_order
from broker.protocol import SEATS, Seat
from broker.rules import ROWS, Deal
from broker.rules.riichi import RiichiProfile
from broker.scorer.snapshot import Snapshot
from broker.scoring import Interval
from broker.terms import tile_signs
from broker.web.svg import interval_bar

HAND = ROWS[0]

T = TypeVar("T")


class DrawnTile(NamedTuple):
    """A tile as the page draws it."""

    suit: str
    rank: str
    sign: str


class SeatTray(NamedTuple):
    """The tiles of a seat: the hand sorted, the wall as it is drawn."""

    hand: Sequence[DrawnTile]
    wall: Sequence[DrawnTile]


class PlayedDeal(NamedTuple):
    """A deal that is public."""

    deal: Deal
    par: DealPar | None
    replay: bool = False
    """Whether it is known step by step how some table played it."""

    def trays(self) -> dict[Seat, SeatTray]:
        """Return the tiles of each seat."""
        return {
            seat: SeatTray(_drawn(in_order(tray[:HAND])), _drawn(tray[HAND:]))
            for seat, tray in ((seat, self.deal.faces[seat]) for seat in SEATS)
        }

    def seats(self) -> Mapping[Seat, SeatPar]:
        """Return the par of each seat; none where nobody had the deal played."""
        return self.par.seats() if self.par else {}

    def bar(self, seat: Seat) -> Markup:
        """Draw between what most plays of a seat ended, with the expected points."""
        seats = self.seats()
        ends = [end for one in seats.values() for end in (one.least, one.most)]
        found = seats[seat]
        return interval_bar(Interval(found.mean, found.least, found.most), (min(0, *ends), max(0, *ends)))


def _drawn(faces: Sequence[str]) -> list[DrawnTile]:
    return [DrawnTile(face[1], *tile_signs(face)) for face in faces]


class KeptFile(Generic[T]):
    """A file of an event's folder, read again when it has changed."""

    def __init__(self, folder: Path | None, name: str, read: Callable[[Path], T | None]) -> None:
        self._folder, self._name, self._read = folder, name, read
        self._kept: tuple[int, T | None] = 0, None

    def read(self) -> T | None:
        """Return what the file holds by now; None if there is none, or none that can be read."""
        if self._folder is None:
            return None
        try:
            at = (self._folder / self._name).stat().st_mtime_ns
            if at != self._kept[0]:
                self._kept = at, self._read(self._folder)
        except (OSError, RuleError, BrokerError):
            return None
        return self._kept[1]


class PlayedDeals:
    """Opens deals once they are public. `folder` is the event's; without it there is no par, and no replay."""

    def __init__(self, folder: Path | None = None) -> None:
        self._par = KeptFile(folder, PAR, read_par)
        self._replayed = KeptFile(folder, HANDS, lambda inside: {hand.deal for hand in read_hands(inside)})

    def of(self, snapshot: Snapshot, deal: int) -> PlayedDeal | None:
        """Return a deal; None while it is secret, where its key is missing, and for riichi, whose red fives differ."""
        event = snapshot.event
        if not snapshot.final or isinstance(event.profile, RiichiProfile):
            return None
        try:
            opened = event.open_deal(deal)
        except (RuleError, BrokerError, KeyError):
            return None
        par = par_of_deal(self._par.read(), event.name, opened, event.profile.payments)
        return PlayedDeal(opened, par, replay=deal in (self._replayed.read() or ()))
