"""From a reading to looks at trays: which seat's tray each one is, and what is wrong in it. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from broker.contract.plans import PlannedPlay
from broker.contract.words import SEATS, Seat
from kiosk.table.events import Misplaced, TrayChecked
from kiosk.table.restoring.heap import Sighted
from vision.reading import Fault, Read, Reading
from vision.verdict import compare


def looks(reading: Reading, play: PlannedPlay, now: int) -> Iterator[TrayChecked]:
    """Hold each tray of a reading against the play. Trays of which nothing was read are left out.

    Whose a tray is its tiles say, wherever it lies: that of which most are there. Of two trays of one seat the one
    with more of them counts.
    """
    found: dict[Seat, tuple[int, Reading]] = {}
    for alone in _trays(reading):
        read = {serial for row in alone.rows for serial in row if serial is not None}
        seat = max(SEATS, key=lambda one: len(read & _serials(play, one)))
        own = len(read & _serials(play, seat))
        if read and own >= found.get(seat, (0, alone))[0]:
            found[seat] = own, alone
    for seat, (_, alone) in found.items():
        wrong = tuple(_misplaced(fault) for fault in compare(alone, play.order[seat], play.set))
        yield TrayChecked(at=now, seat=seat, rows=alone.rows, wrong=wrong)


def _trays(reading: Reading) -> Iterator[Reading]:
    """Give each tray as if it stood alone."""
    for seat in reading.seats:
        places = tuple(
            replace(place, seat=None, read=place.read and replace(place.read, seat=None))
            for place in reading.places
            if place.seat == seat
        )
        yield Reading(tuple(place.read for place in places if place.read is not None), places)


def strays(reading: Reading, play: PlannedPlay) -> tuple[Sighted, ...]:
    """Give the tiles that lie in no tray. A mark that names another set by number makes a tile foreign."""
    placed = {id(place.read) for place in reading.places}
    return tuple(sighted(read, play.set) for read in reading.reads if id(read) not in placed)


def sighted(read: Read, number: int) -> Sighted:
    """Give a tile as it is seen where tiles of one set are looked for."""
    return Sighted(read.serial, read.face_up, read.foreign or _of_another(read.set, number))


def _of_another(named: str | None, number: int) -> bool:
    return named is not None and named.isdecimal() and int(named) != number


def _serials(play: PlannedPlay, seat: Seat) -> set[int]:
    return {serial for row in play.order[seat] for serial in row}


def _misplaced(fault: Fault) -> Misplaced:
    return Misplaced(
        kind=fault.type, row=fault.row, col=fault.col, expected=fault.expected, found=fault.found, other=fault.with_
    )
