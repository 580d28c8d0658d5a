"""What stands on a deal's page once the standings are final: its four walls, and its par where somebody had it played.

Before that faces are secret, and nothing of this is given to anybody, arbiters either.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from broker.errors import BrokerError
from broker.event.par import PAR, DealPar, EventPar, SeatPar, played_hash, read_par
from broker.export.pmn.record import in_order
from broker.protocol import SEATS, Seat
from broker.rules import ROWS, Deal, RuleError
from broker.rules.riichi import RiichiProfile
from broker.scorer.snapshot import Snapshot
from broker.scoring import Interval
from broker.terms import tile_signs
from broker.web.svg import interval_bar

HAND = ROWS[0]


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
        """Draw between what most plays of a seat ended, with the points to expect."""
        seats = self.seats()
        ends = [end for one in seats.values() for end in (one.least, one.most)]
        found = seats[seat]
        return interval_bar(Interval(found.mean, found.least, found.most), (min(0, *ends), max(0, *ends)))


def _drawn(faces: Sequence[str]) -> list[DrawnTile]:
    return [DrawnTile(face[1], *tile_signs(face)) for face in faces]


class PlayedDeals:
    """Opens deals once they are public. `folder` is the event's; without it there is no par."""

    def __init__(self, folder: Path | None = None) -> None:
        self._path = folder / PAR if folder else None
        self._kept: tuple[int, EventPar | None] = 0, None

    def of(self, snapshot: Snapshot, deal: int) -> PlayedDeal | None:
        """Return a deal; None while it is secret, where its key is missing, and for riichi, whose red fives differ."""
        event = snapshot.event
        if not snapshot.final or isinstance(event.profile, RiichiProfile):
            return None
        try:
            opened = event.open_deal(deal)
        except (RuleError, BrokerError, KeyError):
            return None
        par = self._par()
        known = par.deals.get(deal) if par and par.event == event.name else None
        same = known is not None and known.deal_hash == played_hash(opened, event.profile.payments)
        return PlayedDeal(opened, known if same else None)

    def _par(self) -> EventPar | None:
        """Return what the file holds by now; None where there is none, or none that can be read."""
        if self._path is None:
            return None
        try:
            at = self._path.stat().st_mtime_ns
            if at != self._kept[0]:
                self._kept = at, read_par(self._path.parent)
        except (OSError, RuleError):
            return None
        return self._kept[1]
