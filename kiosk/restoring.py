"""The work of restoring walls: tiles in a heap, scans, and rows ticked by hand.

Scans and ticks are saved, so that a power cut loses none. What the camera saw it will see again.
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
"""How staff are to sort the tiles at this stage: by seat or by place."""

PILE_SHARE: Final = 0.8
"""Share of the tiles in view that belong to one seat if this is that seat's pile."""

FEWEST_IN_PILE: Final = 5
"""Fewest tiles in view needed to tell whose pile it is."""


@dataclass(frozen=True, slots=True)
class Heap:
    """The tiles known to be outside the trays."""

    seen: frozenset[int] = frozenset()
    """Serials that have been in view at any time since the work began."""
    in_view: tuple[SeenTile, ...] = ()

    def count(self, *, face_up: bool = False, foreign: bool = False) -> int:
        """Count the tiles in view with exactly these properties."""
        return sum((one.face_up, one.foreign) == (face_up, foreign) for one in self.in_view)

    @property
    def unread(self) -> int:
        """Number of backs in view that could not be read."""
        return sum(one.serial is None and not one.face_up and not one.foreign for one in self.in_view)


def with_tiles_in_view(heap: Heap, in_view: Iterable[SeenTile]) -> Heap:
    """Update the heap with the tiles that are in view now."""
    in_view = tuple(in_view)
    seen = {one.serial for one in in_view if one.serial is not None and not one.foreign}
    return replace(heap, seen=heap.seen | seen, in_view=in_view)


def unseen_serials(heap: Heap, in_trays: Collection[int]) -> tuple[int, ...]:
    """Return the serials not yet seen, neither in the heap nor in a tray."""
    return tuple(serial for serial in range(1, 137) if serial not in heap.seen and serial not in in_trays)


def sorting_stage(serials: Iterable[int], homes: dict[int, TilePlace]) -> tuple[Stage, Seat | None]:
    """Return how to sort the tiles in view: by seat or, once nearly all are of one seat, by place within that seat."""
    seats = [homes[serial].seat for serial in serials if serial in homes]
    if len(seats) < FEWEST_IN_PILE:
        return "seat", None
    most = max(SEATS, key=seats.count)
    return ("place", most) if seats.count(most) >= PILE_SHARE * len(seats) else ("seat", None)


FOREIGN: Final = "scan_foreign_set"
"""The code for a tile of another set. The table has a screen of its own for it."""


@dataclass(frozen=True, slots=True)
class TrayRun:
    """How many places of one tray have been scanned in order, from its first."""

    seat: Seat
    count: int


@dataclass(frozen=True, slots=True)
class ScannedSheet:
    """A carrier's sheet that was shown: its deal, or None if the carrier belongs to another event."""

    deal: int | None


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """What is shown for the last scan: the tile's place, or the code of why it has none."""

    serial: int | None = None
    place: TilePlace | None = None
    code: str | None = None
    text: str = ""
    again: bool = False
    """Whether the same tile was scanned twice."""
    astray: TilePlace | None = None
    """The place of the current tray at which another tile was expected."""
    sheet: ScannedSheet | None = None
    """The carrier's sheet, if one was scanned instead of a tile."""


@dataclass(frozen=True, slots=True)
class Scans:
    """The scans for one play. `letter` is the letter of the set, taken from the first scan whose mark has one."""

    answer: ScanAnswer | None = None
    seen: frozenset[int] = frozenset()
    run: TrayRun | None = None
    letter: str | None = None

    @property
    def complete(self) -> Seat | None:
        """The tray whose 34 places have all been scanned in order."""
        return self.run.seat if self.run and self.run.count == TRAY else None


def with_serial(scans: Scans, play: PlannedPlay, serial: int, set_text: str | None) -> Scans:
    """Add the scan of a serial."""
    foreign = _is_foreign(scans, play, set_text)
    if foreign or not 1 <= serial <= 4 * TRAY:
        return replace(scans, answer=ScanAnswer(serial=serial, code=FOREIGN, text=set_text or ""))
    letter = scans.letter or (set_text if set_text and set_text.isalpha() else None)
    place = place_by_serial(serial_by_place(play.order))[serial]
    if scans.answer is not None and scans.answer.serial == serial and scans.answer.code is None:
        return replace(scans, answer=replace(scans.answer, again=True), letter=letter)
    run, astray = _next_run(scans.run, play, serial, place)
    return Scans(ScanAnswer(serial, place, astray=astray), scans.seen | {serial}, run, letter)


def with_unreadable(scans: Scans, code: str, text: str) -> Scans:
    """Add a scan that is no tile of ours."""
    return replace(scans, answer=ScanAnswer(code=code, text=text))


def with_sheet(scans: Scans, sheet: CarrierCode, event: str) -> Scans:
    """Add the scan of a carrier's sheet, at a table of this event."""
    return replace(scans, answer=ScanAnswer(sheet=ScannedSheet(sheet.deal if sheet.event == event else None)))


def _is_foreign(scans: Scans, play: PlannedPlay, set_text: str | None) -> bool:
    if set_text is None:
        return False
    if set_text.isdecimal():
        return int(set_text) != play.set
    return scans.letter not in (None, set_text)


def _next_run(
    run: TrayRun | None, play: PlannedPlay, serial: int, place: TilePlace
) -> tuple[TrayRun | None, TilePlace | None]:
    """Continue a tray scanned in order, or begin one at its first tile. Other tiles leave the run as it is.

    A single scan from a heap may begin a run as well, so a run counts only from its second tile.
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
"""What fills the screen. `anew` asks whether to lay the deal from tiles that somebody has put into trays."""

ROW_KEYS: Final = ("1", "2", "3")

CAMERA_READS: Final = "camera_reads"
"""The code of a refused tick: the camera reads the whole tray, so nobody needs to vouch for it."""


@dataclass(frozen=True, slots=True)
class Restoring:
    """The state of the work: what the camera sees, what was scanned, and what fills the screen."""

    observation: TableObservation = field(default_factory=TableObservation)
    heap: Heap = field(default_factory=Heap)
    scans: Scans = field(default_factory=Scans)
    showing: Showing = "camera"

    @property
    def sheet(self) -> ScannedSheet | None:
        """The carrier's sheet that fills the screen, or None."""
        answer = self.scans.answer
        return answer.sheet if answer is not None and self.showing == "scanner" else None


def with_observation(restoring: Restoring, observation: TableObservation, event: str) -> Restoring:
    """Update with the camera's observation, at a table of this event. A carrier's sheet coming into view is shown."""
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
    """Add a scan at a table of this event. Its answer fills the screen."""
    if isinstance(report, NotScanned) and (sheet := read_carrier_code(report.text)):
        scans = with_sheet(restoring.scans, sheet, event)
    elif isinstance(report, NotScanned):
        scans = with_unreadable(restoring.scans, report.code, report.text)
    else:
        scans = with_serial(restoring.scans, play, report.serial, report.set_text)
    heap = replace(restoring.heap, seen=restoring.heap.seen | scans.seen)
    return replace(restoring, scans=scans, heap=heap, showing="scanner")


def completed_tray(restoring: Restoring, play: PlannedPlay, now: int) -> tuple[Restoring, events.TrayChecked | None]:
    """Return the check of a tray that was scanned completely in order. It is returned once only."""
    seat = restoring.scans.complete
    if seat is None:
        return restoring, None
    look = events.TrayChecked(at=now, seat=seat, rows=play.order[seat], by="scanner")
    return replace(restoring, scans=replace(restoring.scans, run=None)), look


def with_tray_look(restoring: Restoring, look: events.TrayChecked) -> Restoring:
    """Show the camera's verdict on a tray, unless rows are being ticked.

    With a carrier's sheet on top, too little of a tray is visible to tell whose it is.
    """
    read = sum(serial is not None for row in look.rows for serial in row)
    if restoring.showing != "scanner" or (restoring.sheet is not None and read < ENOUGH):
        return restoring
    return replace(restoring, showing="camera")


def may_tick(state: Table, camera: str | None) -> bool:
    """Return whether rows may be ticked by hand: the camera is out of order, or cannot read all of a tray."""
    return camera is not None or (state.check is not None and state.check.unread > 0)


def press_restoring_key(restoring: Restoring, name: str, state: Table, now: int) -> Restoring | Event | None:
    """Return the event or the new state that a key leads to; None if the key does nothing here."""
    if restoring.showing == "anew" and is_unknown_tray(state):
        if name == "y":
            return events.CarrierTakenApart(at=now)
        return replace(restoring, showing="camera") if name == "back" else None
    if name == "h":
        return replace(restoring, showing="camera" if restoring.showing == "hand" else "hand")
    if name == "back" and restoring.showing == "scanner":
        return replace(restoring, showing="camera")
    if restoring.showing != "hand":
        asks = name == "enter" and restoring.sheet is None and is_unknown_tray(state)
        return replace(restoring, showing="anew") if asks else None
    return _untick(state.work, now) if name == "back" else _tick(state.work, name, now)


def is_unknown_tray(state: Table) -> bool:
    """Return whether the tray in view belongs to no deal known here, so that the deal may be laid from its tiles."""
    return state.check is not None and state.check.unknown_look is not None and not state.check.of_another_set


def tray_by_hand(work: Work) -> Seat | None:
    """Return the tray whose rows are to be ticked next."""
    left = rows_left(work)
    return left[0][0] if left else None


def _tick(work: Work, name: str, now: int) -> Event | None:
    seat = tray_by_hand(work)
    if seat is None or name not in ROW_KEYS:
        return None
    row = ROW_KEYS.index(name)
    return events.RowTicked(at=now, seat=seat, row=row, right=(seat, row) not in work.rows)


def _untick(work: Work, now: int) -> Event | None:
    """Return the event that takes back the last tick, in the order of trays and rows."""
    rows = [(seat, row) for seat in SEATS for row in range(len(ROWS)) if (seat, row) in work.rows]
    return events.RowTicked(at=now, seat=rows[-1][0], row=rows[-1][1], right=False) if rows else None


@dataclass(frozen=True, slots=True)
class _Draft:
    """The part of the work on one play that is saved. The rest the camera sees again."""

    round: int
    deal: int
    showing: Showing
    scans: Scans


def restoring_draft(restoring: Restoring, play: PlannedPlay | None) -> str:
    """Return the work as text, or "" if staff would have nothing to do again."""
    if play is None or (restoring.showing == "camera" and restoring.scans == Scans()):
        return ""
    return msgspec.json.encode(_Draft(play.round, play.deal, restoring.showing, restoring.scans)).decode()


def restoring_from_draft(text: str, play: PlannedPlay | None) -> Restoring:
    """Return the work saved before a power cut if it is of this play, or else empty work."""
    try:
        draft = msgspec.json.decode(text or "null", type=_Draft | None)
    except (msgspec.DecodeError, UnicodeError):
        draft = None
    if draft is None or play is None or (draft.round, draft.deal) != (play.round, play.deal):
        return Restoring()
    return replace(Restoring(), showing=draft.showing, scans=draft.scans, heap=Heap(seen=draft.scans.seen))


class RestoringDrafts(Protocol):
    """Where the work is saved."""

    restoring_draft: str

    def with_drafts(self, **drafts: str) -> AbstractContextManager[None]:
        """Save these drafts in one transaction with an event recorded in the block."""


class RestoringDesk:
    """Restoring at one table. It takes observations, scans and keys, and produces tray checks and ticks as events.

    What staff would have to do again is saved, either with an event or by itself.
    """

    def __init__(self, drafts: RestoringDrafts, event: str, play: PlannedPlay | None) -> None:
        """Resume the saved work if it is of the current play."""
        self._drafts, self._event, self._play = drafts, event, play
        self._saved = drafts.restoring_draft
        self.now = restoring_from_draft(self._saved, play)

    def observed(self, seen: events.TrayChecked | TableObservation) -> None:
        """Update with the camera's observation."""
        if isinstance(seen, events.TrayChecked):
            self.now = with_tray_look(self.now, seen)
        else:
            self.now = with_observation(self.now, seen, self._event)

    def scanned(self, report: Scanned | NotScanned, play: PlannedPlay, now: int) -> events.TrayChecked | None:
        """Answer a scan; return the check of a tray that it completes."""
        scanned = with_scan(self.now, report, play, self._event)
        self.now, look = completed_tray(scanned, play, now)
        return look

    def key(self, key: str, state: Table, camera: str | None, now: int) -> Event | str | Literal[False]:
        """Return the event of a key, a refusal's code ("": only the view changed), or False if it is not ours.

        `camera` is the code of the camera's fault, if it has one.
        """
        result = press_restoring_key(self.now, key, state, now)
        if not isinstance(result, Restoring):
            return False if result is None else result
        if result.showing == "hand" and not may_tick(state, camera):
            return CAMERA_READS
        self.now = result
        return ""

    def follow(self, state: Table) -> None:
        """Start over for another play; withdraw the question about a tray that is gone."""
        if self._play != state.play:
            self.now, self._play = Restoring(), state.play
        elif self.now.showing == "anew" and not is_unknown_tray(state):
            self.now = replace(self.now, showing="camera")

    def with_draft(self) -> AbstractContextManager[None]:
        """Save the draft together with the event recorded in the block."""
        text = restoring_draft(self.now, self._play)
        return nullcontext() if text == self._saved else self._drafts.with_drafts(bench=text)

    def save(self) -> None:
        """Save the draft, unless it was saved with an event."""
        text = restoring_draft(self.now, self._play)
        if text == self._saved:
            return
        self._saved = text
        if self._drafts.restoring_draft != text:
            self._drafts.restoring_draft = text
