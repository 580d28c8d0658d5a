"""Restoring with a scanner: each tile's destination, and a tray that was scanned place by place in its order."""

from dataclasses import dataclass, replace
from typing import Final

from broker.contract.carrier_sheet import CarrierSheet
from broker.contract.plans import PlannedPlay
from broker.contract.words import Seat
from broker.rules.deal import TRAY
from kiosk.table.restoring.places import PLACES, Place, deal_of, homes

FOREIGN: Final = "scan_foreign_set"
"""The code that a scanner gives for a tile of another set than it was told of."""


@dataclass(frozen=True, slots=True)
class Run:
    """Places of one tray that were scanned in their order, from the first."""

    seat: Seat
    count: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sheet of a carrier was shown: of which deal, or None for a carrier of another event."""

    deal: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of the last scan: where the tile goes, or with a code why it goes nowhere."""

    serial: int | None = None
    place: Place | None = None
    code: str | None = None
    text: str = ""
    again: bool = False
    """The same tile was scanned twice."""
    astray: Place | None = None
    """The place of the tray in hand where another tile was expected."""
    sheet: Sheet | None = None
    """It was no tile but a carrier's sheet."""


@dataclass(frozen=True, slots=True)
class Scans:
    """What was scanned for one play. `letter` is the set's, where marks name sets by letter: of the first scan."""

    answer: Answer | None = None
    seen: frozenset[int] = frozenset()
    run: Run | None = None
    letter: str | None = None

    @property
    def complete(self) -> Seat | None:
        """The tray whose 34 places were scanned in their order."""
        return self.run.seat if self.run and self.run.count == TRAY else None


def scanned(scans: Scans, play: PlannedPlay, serial: int, set_text: str | None) -> Scans:
    """Take a scan in."""
    foreign = _is_foreign(scans, play, set_text)
    if foreign or not 1 <= serial <= 4 * TRAY:
        return replace(scans, answer=Answer(serial=serial, code=FOREIGN, text=set_text or ""))
    letter = scans.letter or (set_text if set_text and set_text.isalpha() else None)
    place = homes(deal_of(play.order))[serial]
    if scans.answer is not None and scans.answer.serial == serial and scans.answer.code is None:
        return replace(scans, answer=replace(scans.answer, again=True), letter=letter)
    run, astray = _run(scans.run, play, serial, place)
    return Scans(Answer(serial, place, astray=astray), scans.seen | {serial}, run, letter)


def not_scanned(scans: Scans, code: str, text: str) -> Scans:
    """Take in that something was scanned which is no tile of ours."""
    return replace(scans, answer=Answer(code=code, text=text))


def sheet_shown(scans: Scans, sheet: CarrierSheet, event: str) -> Scans:
    """Take in that a carrier's sheet was shown at a table of this event."""
    return replace(scans, answer=Answer(sheet=Sheet(sheet.deal if sheet.event == event else None)))


def _is_foreign(scans: Scans, play: PlannedPlay, set_text: str | None) -> bool:
    if set_text is None:
        return False
    if set_text.isdecimal():
        return int(set_text) != play.set
    return scans.letter not in (None, set_text)


def _run(run: Run | None, play: PlannedPlay, serial: int, place: Place) -> tuple[Run | None, Place | None]:
    """Go on with a tray that is scanned in its order. A tile that is not the next one leaves it where it was.

    The first tile of any tray begins that tray. One scan in a heap begins a run too: a tray is meant from the second.
    """
    if run is not None and run.count < TRAY and serial == _serials(play, run.seat)[run.count]:
        return Run(run.seat, run.count + 1), None
    if (place.row, place.col) == (0, 0):
        return Run(place.seat, 1), None
    meant = run is not None and 1 < run.count < TRAY
    return (run, _place_at(run.seat, run.count)) if run is not None and meant else (None, None)


def _serials(play: PlannedPlay, seat: Seat) -> list[int]:
    return [serial for row in play.order[seat] for serial in row]


def _place_at(seat: Seat, count: int) -> Place:
    return [place for place in PLACES if place.seat == seat][count]
