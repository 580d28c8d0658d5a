"""What staff work with while walls are restored: tiles in a heap, scans, rows ticked by hand.

Scans and ticks are written down, so that a power cut loses none; what the camera sees it sees again.
"""

from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

import msgspec

from broker.protocol import SEATS, CarrierCode, PlannedPlay, Seat, read_carrier_code
from broker.rules import ROWS, TRAY
from firmware.reports import NotScanned, Scanned
from kiosk.camera.observations import SeenTile, TableObservation
from kiosk.table import (
    ENOUGH,
    PLACES,
    Event,
    Table,
    TilePlace,
    Work,
    events,
    place_by_serial,
    rows_left,
    serial_by_place,
)

Stage = Literal["seat", "place"]
"""What staff sort by now."""

MOST: Final = 0.8
"""Share of the tiles in view that one seat has when they are the pile of that seat."""

FEWEST: Final = 5
"""Tiles in view, below which nobody can tell whose pile it is."""


@dataclass(frozen=True, slots=True)
class Heap:
    """What is known of the tiles that lie in no tray."""

    seen: frozenset[int] = frozenset()
    """Serials that were in view at any time since the work began."""
    in_view: tuple[SeenTile, ...] = ()

    def count(self, *, face_up: bool = False, foreign: bool = False) -> int:
        """Count tiles in view of one kind."""
        return sum((one.face_up, one.foreign) == (face_up, foreign) for one in self.in_view)

    @property
    def unread(self) -> int:
        """Backs in view that were not read."""
        return sum(one.serial is None and not one.face_up and not one.foreign for one in self.in_view)


def with_tiles_in_view(heap: Heap, in_view: Iterable[SeenTile]) -> Heap:
    """Take in what is in view now."""
    in_view = tuple(in_view)
    seen = {one.serial for one in in_view if one.serial is not None and not one.foreign}
    return replace(heap, seen=heap.seen | seen, in_view=in_view)


def unseen_serials(heap: Heap, in_trays: Collection[int]) -> tuple[int, ...]:
    """Return the serials that nobody has seen: neither in the heap, nor among those that lie in a tray."""
    return tuple(serial for serial in range(1, 137) if serial not in heap.seen and serial not in in_trays)


def sorting_stage(serials: Iterable[int], homes: dict[int, TilePlace]) -> tuple[Stage, Seat | None]:
    """Return what the tiles in view are to be sorted by: by seat, until nearly all are of one seat; then by place."""
    seats = [homes[serial].seat for serial in serials if serial in homes]
    if len(seats) < FEWEST:
        return "seat", None
    most = max(SEATS, key=seats.count)
    return ("place", most) if seats.count(most) >= MOST * len(seats) else ("seat", None)


FOREIGN: Final = "scan_foreign_set"
"""The code of a tile of another set, which a table shows by a screen of its own."""


@dataclass(frozen=True, slots=True)
class TrayRun:
    """Places of one tray that were scanned in their order, from the first."""

    seat: Seat
    count: int


@dataclass(frozen=True, slots=True)
class ScannedSheet:
    """The sheet of a carrier was shown: of which deal, or None for a carrier of another event."""

    deal: int | None


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """What is shown of the last scan: where the tile goes, or with a code why it goes nowhere."""

    serial: int | None = None
    place: TilePlace | None = None
    code: str | None = None
    text: str = ""
    again: bool = False
    """The same tile was scanned twice."""
    astray: TilePlace | None = None
    """The place of the tray in hand where another tile was expected."""
    sheet: ScannedSheet | None = None
    """It was no tile but a carrier's sheet."""


@dataclass(frozen=True, slots=True)
class Scans:
    """What was scanned for one play. `letter` is the set's, where marks name sets by letter: of the first scan."""

    answer: ScanAnswer | None = None
    seen: frozenset[int] = frozenset()
    run: TrayRun | None = None
    letter: str | None = None

    @property
    def complete(self) -> Seat | None:
        """The tray whose 34 places were scanned in their order."""
        return self.run.seat if self.run and self.run.count == TRAY else None


def with_serial(scans: Scans, play: PlannedPlay, serial: int, set_text: str | None) -> Scans:
    """Take a scan in."""
    foreign = _is_foreign(scans, play, set_text)
    if foreign or not 1 <= serial <= 4 * TRAY:
        return replace(scans, answer=ScanAnswer(serial=serial, code=FOREIGN, text=set_text or ""))
    letter = scans.letter or (set_text if set_text and set_text.isalpha() else None)
    place = place_by_serial(serial_by_place(play.order))[serial]
    if scans.answer is not None and scans.answer.serial == serial and scans.answer.code is None:
        return replace(scans, answer=replace(scans.answer, again=True), letter=letter)
    run, astray = _run(scans.run, play, serial, place)
    return Scans(ScanAnswer(serial, place, astray=astray), scans.seen | {serial}, run, letter)


def with_unreadable(scans: Scans, code: str, text: str) -> Scans:
    """Take in that something was scanned which is no tile of ours."""
    return replace(scans, answer=ScanAnswer(code=code, text=text))


def with_sheet(scans: Scans, sheet: CarrierCode, event: str) -> Scans:
    """Take in that a carrier's sheet was shown at a table of this event."""
    return replace(scans, answer=ScanAnswer(sheet=ScannedSheet(sheet.deal if sheet.event == event else None)))


def _is_foreign(scans: Scans, play: PlannedPlay, set_text: str | None) -> bool:
    if set_text is None:
        return False
    if set_text.isdecimal():
        return int(set_text) != play.set
    return scans.letter not in (None, set_text)


def _run(
    run: TrayRun | None, play: PlannedPlay, serial: int, place: TilePlace
) -> tuple[TrayRun | None, TilePlace | None]:
    """Go on with a tray that is scanned in its order. A tile that is not the next one leaves it where it was.

    The first tile of any tray begins that tray. One scan in a heap begins a run too: a tray is meant from the second.
    """
    if run is not None and run.count < TRAY and serial == _serials(play, run.seat)[run.count]:
        return TrayRun(run.seat, run.count + 1), None
    if (place.row, place.col) == (0, 0):
        return TrayRun(place.seat, 1), None
    if run is None or not 1 < run.count < TRAY:
        return None, None
    return run, [one for one in PLACES if one.seat == run.seat][run.count]


def _serials(play: PlannedPlay, seat: Seat) -> list[int]:
    return [serial for row in play.order[seat] for serial in row]


Showing = Literal["camera", "scanner", "hand", "anew"]
"""What has the screen; `anew`: the question whether the deal is laid from tiles that somebody has put into trays."""

ROW_KEYS: Final = ("1", "2", "3")

CAMERA_READS: Final = "camera_reads"
"""The camera reads all of the tray, so nobody needs to vouch for it."""


@dataclass(frozen=True, slots=True)
class Restoring:
    """What staff work with: what the camera sees, what was scanned, and which of the three has the screen."""

    observation: TableObservation = field(default_factory=TableObservation)
    heap: Heap = field(default_factory=Heap)
    scans: Scans = field(default_factory=Scans)
    showing: Showing = "camera"

    @property
    def sheet(self) -> ScannedSheet | None:
        """The carrier's sheet that has the screen, if one has."""
        answer = self.scans.answer
        return answer.sheet if answer is not None and self.showing == "scanner" else None


def with_observation(restoring: Restoring, observation: TableObservation, event: str) -> Restoring:
    """Take in what the camera sees now, at a table of this event; a carrier's sheet that comes in view is answered."""
    heap = (
        with_tiles_in_view(restoring.heap, observation.in_view)
        if observation.in_view != restoring.observation.in_view
        else restoring.heap
    )
    now = replace(restoring, observation=observation, heap=heap)
    if observation.sheet is None or observation.sheet == restoring.observation.sheet:
        return now
    return replace(now, scans=with_sheet(restoring.scans, observation.sheet, event), showing="scanner")


def with_scan(restoring: Restoring, report: Scanned | NotScanned, play: PlannedPlay, event: str) -> Restoring:
    """Take in a scan at a table of this event: its answer fills the screen."""
    if isinstance(report, NotScanned) and (sheet := read_carrier_code(report.text)):
        scans = with_sheet(restoring.scans, sheet, event)
    elif isinstance(report, NotScanned):
        scans = with_unreadable(restoring.scans, report.code, report.text)
    else:
        scans = with_serial(restoring.scans, play, report.serial, report.set_text)
    heap = replace(restoring.heap, seen=restoring.heap.seen | scans.seen)
    return replace(restoring, scans=scans, heap=heap, showing="scanner")


def completed_tray(restoring: Restoring, play: PlannedPlay, now: int) -> tuple[Restoring, events.TrayChecked | None]:
    """Return the look at a tray that was scanned through in its order, once."""
    seat = restoring.scans.complete
    if seat is None:
        return restoring, None
    look = events.TrayChecked(at=now, seat=seat, rows=play.order[seat], by="scanner")
    return replace(restoring, scans=replace(restoring.scans, run=None)), look


def with_tray_look(restoring: Restoring, look: events.TrayChecked) -> Restoring:
    """A tray was seen: what the camera says of it has the screen, unless rows are being ticked.

    Under a carrier's sheet not enough of a tray is seen to tell whose it is.
    """
    read = sum(serial is not None for row in look.rows for serial in row)
    if restoring.showing != "scanner" or (restoring.sheet is not None and read < ENOUGH):
        return restoring
    return replace(restoring, showing="camera")


def may_tick(state: Table, camera: str | None) -> bool:
    """Return whether trays may be ticked by hand: where the camera is out of order, or cannot read all of a tray."""
    return camera is not None or (state.check is not None and state.check.unread > 0)


def press_restoring_key(restoring: Restoring, name: str, state: Table, now: int) -> Restoring | Event | None:
    """Return what a key does; None if it does nothing here."""
    if restoring.showing == "anew" and is_strange(state):
        if name == "y":
            return events.CarrierTakenApart(at=now)
        return replace(restoring, showing="camera") if name == "back" else None
    if name == "h":
        return replace(restoring, showing="camera" if restoring.showing == "hand" else "hand")
    if name == "back" and restoring.showing == "scanner":
        return replace(restoring, showing="camera")
    if restoring.showing != "hand":
        asks = name == "enter" and restoring.sheet is None and is_strange(state)
        return replace(restoring, showing="anew") if asks else None
    return _untick(state.work, now) if name == "back" else _tick(state.work, name, now)


def is_strange(state: Table) -> bool:
    """Return whether a tray of no deal that this table knows was shown, of whose tiles the deal may be laid."""
    return state.check is not None and state.check.aside is not None and not state.check.of_another_set


def tray_by_hand(work: Work) -> Seat | None:
    """Return the tray whose rows are to be ticked now."""
    left = rows_left(work)
    return left[0][0] if left else None


def _tick(work: Work, name: str, now: int) -> Event | None:
    seat = tray_by_hand(work)
    if seat is None or name not in ROW_KEYS:
        return None
    row = ROW_KEYS.index(name)
    return events.RowTicked(at=now, seat=seat, row=row, right=(seat, row) not in work.rows)


def _untick(work: Work, now: int) -> Event | None:
    """Take back the last tick in the order of trays and rows."""
    rows = [(seat, row) for seat in SEATS for row in range(len(ROWS)) if (seat, row) in work.rows]
    return events.RowTicked(at=now, seat=rows[-1][0], row=rows[-1][1], right=False) if rows else None


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is written down of the work at one play: the camera sees the rest again."""

    round: int
    deal: int
    showing: Showing
    scans: Scans


def restoring_draft(restoring: Restoring, play: PlannedPlay | None) -> str:
    """Return the work as text; "" where there is nothing that staff would have to do again."""
    if play is None or (restoring.showing == "camera" and restoring.scans == Scans()):
        return ""
    return msgspec.json.encode(_Draft(play.round, play.deal, restoring.showing, restoring.scans)).decode()


def restoring_from_draft(text: str, play: PlannedPlay | None) -> Restoring:
    """Return the restoring from before a power cut, where it is of this play; else an empty one."""
    try:
        left = msgspec.json.decode(text or "null", type=_Draft | None)
    except (msgspec.DecodeError, UnicodeError):
        left = None
    if left is None or play is None or (left.round, left.deal) != (play.round, play.deal):
        return Restoring()
    return replace(Restoring(), showing=left.showing, scans=left.scans, heap=Heap(seen=left.scans.seen))


class RestoringDrafts(Protocol):
    """Where the work is written down."""

    bench: str

    def beside(self, **drafts: str) -> AbstractContextManager[None]:
        """Write these with the event that is recorded meanwhile, as one."""


class RestoringDesk:
    """The work at one table: what the camera sees, scans and keys come in; looks at trays and ticks go out as events.

    What staff would have to do again is written down, with an event or alone.
    """

    def __init__(self, drafts: RestoringDrafts, event: str, play: PlannedPlay | None) -> None:
        """Go on where a power cut has left it, if the present play is still the same."""
        self._drafts, self._event, self._play = drafts, event, play
        self._written = drafts.bench
        self.now = restoring_from_draft(self._written, play)

    def observed(self, seen: events.TrayChecked | TableObservation) -> None:
        """Take in what the camera sees."""
        if isinstance(seen, events.TrayChecked):
            self.now = with_tray_look(self.now, seen)
        else:
            self.now = with_observation(self.now, seen, self._event)

    def scanned(self, report: Scanned | NotScanned, play: PlannedPlay, now: int) -> events.TrayChecked | None:
        """Answer a scan; return the look at a tray that is scanned through by it."""
        scanned = with_scan(self.now, report, play, self._event)
        self.now, look = completed_tray(scanned, play, now)
        return look

    def key(self, key: str, state: Table, camera: str | None, now: int) -> Event | str | Literal[False]:
        """Return the event that a key makes, the code of why it is refused ("": it is not), or False: none of ours.

        `camera` is the code of what is wrong with the camera.
        """
        result = press_restoring_key(self.now, key, state, now)
        if not isinstance(result, Restoring):
            return False if result is None else result
        if result.showing == "hand" and not may_tick(state, camera):
            return CAMERA_READS
        self.now = result
        return ""

    def follow(self, state: Table) -> None:
        """Start over with another play; drop a question about a tray that is no longer here."""
        if self._play != state.play:
            self.now, self._play = Restoring(), state.play
        elif self.now.showing == "anew" and not is_strange(state):
            self.now = replace(self.now, showing="camera")

    def beside(self) -> AbstractContextManager[None]:
        """Write the draft with the event that is recorded meanwhile."""
        text = restoring_draft(self.now, self._play)
        return nullcontext() if text == self._written else self._drafts.beside(bench=text)

    def write(self) -> None:
        """Write the draft, unless an event has."""
        text = restoring_draft(self.now, self._play)
        if text == self._written:
            return
        self._written = text
        if self._drafts.bench != text:
            self._drafts.bench = text
