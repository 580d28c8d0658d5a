"""What may be seen of a session's sheet: what was recorded at this table, a line an entry, and where all stand."""

from dataclasses import dataclass

from broker.contract.riichi import RiichiEvent
from broker.contract.words import SEATS, Seat
from kiosk.table.riichi.session import Entry, Session
from kiosk.table.riichi.sheet import LINES, pages_of


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One entry."""

    wind: Seat
    dealer: int
    """Which deal of the round it was, from 1."""
    told: RiichiEvent
    deltas: dict[Seat, int]


@dataclass(frozen=True, slots=True)
class SheetShown:
    """One page of a sheet, the newest entry last."""

    page: int
    """0 is the newest."""
    pages: int
    lines: tuple[SheetLine, ...]
    scores: dict[Seat, int]
    elsewhere: int = 0
    """How many entries this device does not know: another had the table before."""


def sheet_shown(session: Session, page: int) -> SheetShown:
    """Give a page."""
    upto = len(session.entries) - page * LINES
    return SheetShown(
        page=page,
        pages=pages_of(session),
        lines=tuple(_line(one) for one in session.entries[max(0, upto - LINES) : max(0, upto)]),
        scores={seat: session.state.scores[at] for at, seat in enumerate(SEATS)},
        elsewhere=session.recorded - len(session.entries),
    )


def _line(entry: Entry) -> SheetLine:
    before = entry.before
    return SheetLine(SEATS[before.round], before.dealer + 1, entry.fact.event, dict(entry.fact.deltas))
