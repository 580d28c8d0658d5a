"""What is on the table's screen while walls are restored, beside the trays' own state: heap, scans, rows by hand. Pure.

None of it is kept: after a restart the camera sees it again.
"""

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from broker.contract.carrier_sheet import read_sheet
from broker.contract.plans import PlannedPlay
from broker.contract.words import SEATS, Seat
from broker.rules.deal import ROWS
from firmware.reports import NotScanned, Scanned
from kiosk.sight import Sight
from kiosk.table.carrier import ENOUGH
from kiosk.table.events import CarrierTakenApart, Event, RowTicked, TrayChecked
from kiosk.table.restoring.heap import Heap, sighted
from kiosk.table.restoring.scans import Scans, Sheet, not_scanned, scanned, sheet_shown
from kiosk.table.restoring.work import Work, left_by_hand
from kiosk.table.state import Table

Showing = Literal["camera", "scanner", "hand"]

ROW_KEYS: Final = ("1", "2", "3")

CAMERA_READS: Final = "camera_reads"
"""The camera reads all of the tray, so nobody needs to vouch for it."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What staff work with: what the camera sees, what was scanned, and which of the three has the screen."""

    sight: Sight = field(default_factory=Sight)
    heap: Heap = field(default_factory=Heap)
    scans: Scans = field(default_factory=Scans)
    showing: Showing = "camera"

    @property
    def sheet(self) -> Sheet | None:
        """The carrier's sheet that has the screen, if one has."""
        answer = self.scans.answer
        return answer.sheet if answer is not None and self.showing == "scanner" else None


def saw(bench: Bench, sight: Sight, event: str) -> Bench:
    """Take in what the camera sees now, at a table of this event; a carrier's sheet that comes in view is answered."""
    heap = sighted(bench.heap, sight.in_view) if sight.in_view != bench.sight.in_view else bench.heap
    now = replace(bench, sight=sight, heap=heap)
    if sight.sheet is None or sight.sheet == bench.sight.sheet:
        return now
    return replace(now, scans=sheet_shown(bench.scans, sight.sheet, event), showing="scanner")


def scan(bench: Bench, report: Scanned | NotScanned, play: PlannedPlay, event: str) -> Bench:
    """Take in a scan at a table of this event: its answer fills the screen."""
    if isinstance(report, NotScanned) and (sheet := read_sheet(report.text)):
        scans = sheet_shown(bench.scans, sheet, event)
    elif isinstance(report, NotScanned):
        scans = not_scanned(bench.scans, report.code, report.text)
    else:
        scans = scanned(bench.scans, play, report.serial, report.set_text)
    heap = replace(bench.heap, seen=bench.heap.seen | scans.seen)
    return replace(bench, scans=scans, heap=heap, showing="scanner")


def complete(bench: Bench, play: PlannedPlay, now: int) -> tuple[Bench, TrayChecked | None]:
    """Give the look at a tray that was scanned through in its order, once."""
    seat = bench.scans.complete
    if seat is None:
        return bench, None
    look = TrayChecked(at=now, seat=seat, rows=play.order[seat], by="scanner")
    return replace(bench, scans=replace(bench.scans, run=None)), look


def looked(bench: Bench, look: TrayChecked) -> Bench:
    """A tray was seen: what the camera says of it has the screen, unless rows are being ticked.

    Under a carrier's sheet not enough of a tray is seen to tell whose it is.
    """
    read = sum(serial is not None for row in look.rows for serial in row)
    if bench.showing != "scanner" or (bench.sheet is not None and read < ENOUGH):
        return bench
    return replace(bench, showing="camera")


def may_tick(state: Table, camera: str | None) -> bool:
    """Say whether trays may be ticked by hand: where the camera is out of order, or cannot read all of a tray."""
    return camera is not None or (state.check is not None and state.check.unread > 0)


def key(bench: Bench, name: str, state: Table, now: int) -> Bench | Event | None:
    """Say what a key does; None where it does nothing here."""
    if name == "h":
        return replace(bench, showing="camera" if bench.showing == "hand" else "hand")
    if name == "back" and bench.showing == "scanner":
        return replace(bench, showing="camera")
    if name == "enter" and bench.sheet is None and state.check is not None and state.check.aside is not None:
        return CarrierTakenApart(at=now)
    if bench.showing != "hand":
        return None
    return _untick(state.work, now) if name == "back" else _tick(state.work, name, now)


def tray_by_hand(work: Work) -> Seat | None:
    """Give the tray whose rows are to be ticked now."""
    left = left_by_hand(work)
    return left[0][0] if left else None


def _tick(work: Work, name: str, now: int) -> Event | None:
    seat = tray_by_hand(work)
    if seat is None or name not in ROW_KEYS:
        return None
    row = ROW_KEYS.index(name)
    return RowTicked(at=now, seat=seat, row=row, right=(seat, row) not in work.rows)


def _untick(work: Work, now: int) -> Event | None:
    """Take back the last tick in the order of trays and rows."""
    rows = [(seat, row) for seat in SEATS for row in range(len(ROWS)) if (seat, row) in work.rows]
    return RowTicked(at=now, seat=rows[-1][0], row=rows[-1][1], right=False) if rows else None
