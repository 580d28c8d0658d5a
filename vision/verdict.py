"""Stage 7, reading against deal: what is wrong in the tray. The deal judges reads here; it never makes one."""

from collections import Counter
from collections.abc import Sequence

from vision.errors import ExpectedDealError
from vision.lattice import ROW_LENGTHS
from vision.payload import LAST_SERIAL
from vision.reading import Fault, FaultType, Place, Read, Reading, State

Deal = dict[tuple[int, int], int]  # (row, col) to the serial that belongs there


def compare(
    reading: Reading, expected_rows: Sequence[Sequence[int]], set_number: int | None = None
) -> tuple[Fault, ...]:
    """Name what is wrong in a tray, in reading order; nothing when no tray was found.

    `expected_rows` are three rows of 13, 11 and 10 serials; `set_number` the set that is in play, by default the one
    that most tiles of the picture belong to. A swap of two tiles is one fault, at its first place. A tile that was
    not read is no fault by itself. Raises ExpectedDealError.
    """
    deal = check_deal(expected_rows)
    own = f"{set_number:02d}" if set_number is not None else _usual_set(reading.reads)
    faults: list[Fault] = []
    for place in reading.places:
        faults += _faults_at(place, deal, own)
    return tuple(_without_mirrors(faults))


def verified(reading: Reading, expected_rows: Sequence[Sequence[int]], faults: Sequence[Fault]) -> bool:
    """Tell whether the tray was found, all 34 places were read, and everything lies as it should.

    No fault alone is no proof: a picture without a tray has none.
    """
    return not faults and [list(row) for row in reading.rows] == [list(row) for row in expected_rows]


def check_deal(rows: Sequence[Sequence[int]]) -> Deal:
    """Give the deal by place; raises ExpectedDealError when it is not 13, 11 and 10 different serials of 1..136."""
    if [len(row) for row in rows] != list(ROW_LENGTHS):
        raise ExpectedDealError("a tray has rows of 13, 11 and 10 serials")
    serials = [serial for row in rows for serial in row]
    if any(not 1 <= serial <= LAST_SERIAL for serial in serials) or len(set(serials)) != len(serials):
        raise ExpectedDealError(f"serials are different whole numbers from 1 to {LAST_SERIAL}")
    return {(number, col): serial for number, row in enumerate(rows) for col, serial in enumerate(row)}


def _usual_set(reads: tuple[Read, ...]) -> str | None:
    known = Counter(read.set for read in reads if read.set is not None)
    return known.most_common(1)[0][0] if known else None


_PLAIN = {State.EMPTY: FaultType.MISSING, State.FACE_UP: FaultType.FACE_UP, State.OCCLUDED: FaultType.OCCLUDED}
_TURNS = {180: FaultType.UPSIDE_DOWN, 90: FaultType.SIDEWAYS, 270: FaultType.SIDEWAYS}


def _faults_at(place: Place, deal: Deal, own: str | None) -> list[Fault]:
    row, col, expected = place.row, place.col, deal[place.row, place.col]
    if place.state in _PLAIN:
        return [Fault(_PLAIN[place.state], row, col, expected)]
    read = place.read
    if read is None:
        return []
    faults = [Fault(_TURNS[read.turn], row, col, expected)] if read.turn in _TURNS else []
    if read.serial is not None and read.set != own:
        faults.append(Fault(FaultType.FOREIGN, row, col, expected, found=read.serial))
    elif read.serial is not None and read.serial != expected:
        belongs = next((at for at, serial in deal.items() if serial == read.serial), None)
        kind = FaultType.WRONG_HAND if belongs is None else FaultType.SWAPPED
        faults.append(Fault(kind, row, col, expected, found=read.serial, with_=belongs))
    return faults


def _without_mirrors(faults: list[Fault]) -> list[Fault]:
    """Drop the second half of each swap of two tiles; a longer ring keeps a fault a place."""
    kept: list[Fault] = []
    for fault in faults:
        mirrored = any(
            other.with_ == (fault.row, fault.col) and fault.with_ == (other.row, other.col) for other in kept
        )
        if not mirrored:
            kept.append(fault)
    return kept
