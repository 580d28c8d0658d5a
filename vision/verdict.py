"""Compare a finished reading with the deal that should lie in the trays.

The expected serials of a tray or a carrier come from a file of their own, or from the `expected` object of a truth
file.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from broker.i18n import N_, Message
from vision.errors import ExpectedDealError
from vision.reading import (
    LAST_SERIAL,
    ROW_LENGTHS,
    SEATS,
    PictureReading,
    PlaceState,
    RowCol,
    TileRead,
    TrayFault,
    TrayFaultType,
    TrayPlace,
)

SerialsByRow = tuple[tuple[int, ...], ...]
ExpectedSerials = SerialsByRow | Mapping[str, SerialsByRow]  # a tray that stands alone, or the carrier's four by seat
ExpectedByPlace = dict[str | None, dict[RowCol, int]]
"""The serial of each place, by seat; the seat is None for a tray that stands alone."""

FAULT_SENTENCES: Final[Mapping[str, Message]] = {
    TrayFaultType.MISSING: N_("row {row}, place {col}: empty; {expected} belongs there"),
    TrayFaultType.SWAPPED: N_("row {row}, place {col}: {found}; exchange with row {row2}, place {col2}"),
    TrayFaultType.WRONG_HAND: N_("row {row}, place {col}: {found} belongs to another tray; {expected} belongs there"),
    TrayFaultType.FOREIGN: N_("row {row}, place {col}: tile of another set; {expected} belongs there"),
    TrayFaultType.FACE_UP: N_("row {row}, place {col}: face up; turn it over"),
    TrayFaultType.UPSIDE_DOWN: N_("row {row}, place {col}: turn it round"),
    TrayFaultType.OCCLUDED: N_("row {row}, place {col}: covered"),
    TrayFaultType.SIDEWAYS: N_("row {row}, place {col}: lies askew"),
}
"""The sentence shown for each type of fault; rows and places are counted from 1."""

ENROL_SET: Final = N_("Many numbers are not read: enrol this set (homologue set enrol).")

_SHAPE = 'expected is not {"tray": [[13 serials], [11], [10]]} or {"E": ..., "S": ..., "W": ..., "N": ...}'


def load_expected(path: Path) -> ExpectedSerials:
    """Load the serials that belong in a tray or a carrier. Raises ExpectedDealError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ExpectedDealError(f"{path.name} cannot be read as JSON") from error
    return parse_expected(content)


def parse_expected(content: Any) -> ExpectedSerials:  # noqa: ANN401 -- JSON may hold anything
    """Return the serials of `{"tray": rows}` or `{"E": rows, ...}`, either bare or under the key `expected`.

    Raises ExpectedDealError.
    """
    if isinstance(content, dict) and "expected" in content:
        content = content["expected"]
    if not isinstance(content, dict):
        raise ExpectedDealError(_SHAPE)
    expected = _rows(content["tray"]) if "tray" in content else _carrier(content)
    check_expected(expected)
    return expected


def _carrier(content: dict[str, Any]) -> dict[str, SerialsByRow]:
    if not set(SEATS) <= set(content):
        raise ExpectedDealError(_SHAPE)
    return {seat: _rows(content[seat]) for seat in SEATS}


def _rows(rows: Any) -> SerialsByRow:  # noqa: ANN401 -- JSON may hold anything
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ExpectedDealError(_SHAPE)
    if not all(type(serial) is int for row in rows for serial in row):
        raise ExpectedDealError("serials are whole numbers")
    return tuple(tuple(row) for row in rows)


def check_expected(expected: Sequence[Sequence[int]] | Mapping[str, Sequence[Sequence[int]]]) -> ExpectedByPlace:
    """Return the serial of every place. Raises ExpectedDealError if one set of 136 tiles cannot be laid like this."""
    if isinstance(expected, Mapping) and not set(expected) <= set(SEATS):
        raise ExpectedDealError("a carrier has the seats E, S, W and N")
    trays = expected.items() if isinstance(expected, Mapping) else [(None, expected)]
    deal: ExpectedByPlace = {seat: _by_place(rows) for seat, rows in trays}
    serials = [serial for held in deal.values() for serial in held.values()]
    if any(not 1 <= serial <= LAST_SERIAL for serial in serials) or len(set(serials)) != len(serials):
        raise ExpectedDealError(f"serials are different whole numbers from 1 to {LAST_SERIAL}")
    return deal


def _by_place(rows: Sequence[Sequence[int]]) -> dict[RowCol, int]:
    if [len(row) for row in rows] != list(ROW_LENGTHS):
        raise ExpectedDealError("a tray has rows of 13, 11 and 10 serials")
    return {(number, col): serial for number, row in enumerate(rows) for col, serial in enumerate(row)}


_Expected = Sequence[Sequence[int]] | Mapping[str, Sequence[Sequence[int]]]


def compare(reading: PictureReading, expected: _Expected, set_number: int | None = None) -> tuple[TrayFault, ...]:
    """Return the faults, tray by tray in reading order. A tray that was not found has none.

    `expected` is three rows of 13, 11 and 10 serials for a tray that stands alone, or such rows by seat for a carrier.
    `set_number` is the set in play if marks name sets by number; by default it is the set of most tiles. A swap of two
    tiles is one fault, at its first place. A tile that was not read is not a fault. Raises ExpectedDealError.
    """
    deal = check_expected(expected)
    own = _own_set(reading.reads, set_number)
    faults: list[TrayFault] = []
    for place in reading.places:
        if place.seat in deal:
            faults += _faults_at(place, deal[place.seat], own)
    return tuple(_without_mirrors(faults))


def verified(reading: PictureReading, expected: _Expected, faults: Sequence[TrayFault]) -> bool:
    """Return whether every tray was found, every place was read, and every tile lies where it should.

    It is not enough that there are no faults: a picture without a tray has none either.
    """
    trays = expected if isinstance(expected, Mapping) else {None: expected}
    wanted = {seat: [list(row) for row in rows] for seat, rows in trays.items()}
    seen = {seat: [list(row) for row in rows] for seat, rows in reading.seats.items()}
    return not faults and seen == wanted


def _own_set(reads: tuple[TileRead, ...], set_number: int | None) -> str | None:
    """Return the set in play: `set_number` if marks name sets by number, otherwise the set of most tiles."""
    known = Counter(read.set for read in reads if read.set is not None)
    usual = known.most_common(1)[0][0] if known else None
    if set_number is not None and (usual is None or usual.isdecimal()):
        return f"{set_number:02d}"
    return usual


_PLAIN = {
    PlaceState.EMPTY: TrayFaultType.MISSING,
    PlaceState.FACE_UP: TrayFaultType.FACE_UP,
    PlaceState.OCCLUDED: TrayFaultType.OCCLUDED,
}
_TURNS = {180: TrayFaultType.UPSIDE_DOWN, 90: TrayFaultType.SIDEWAYS, 270: TrayFaultType.SIDEWAYS}


def _faults_at(place: TrayPlace, deal: dict[RowCol, int], own: str | None) -> list[TrayFault]:
    expected = deal[place.row, place.col]
    if place.state in _PLAIN:
        return [TrayFault(_PLAIN[place.state], place.row, place.col, expected, seat=place.seat)]
    if place.read is None:
        return []
    found = (_orientation_fault(place, place.read, expected), _tile_fault(place, place.read, deal, own))
    return [fault for fault in found if fault is not None]


def _orientation_fault(place: TrayPlace, read: TileRead, expected: int) -> TrayFault | None:
    """Return the fault in how a tile lies (sideways or upside down); None if there is none."""
    kind = TrayFaultType.SIDEWAYS if read.sideways else _TURNS.get(read.turn)
    return TrayFault(kind, place.row, place.col, expected, seat=place.seat) if kind else None


def _tile_fault(place: TrayPlace, read: TileRead, deal: dict[RowCol, int], own: str | None) -> TrayFault | None:
    """Return the fault if the wrong tile lies there; None if there is none.

    The set that a mark names is more reliable than the colour of the back. If two tiles have one serial, neither counts
    as read, but the one that lies at the wrong place is still reported by its withheld serial.
    """
    expected = deal[place.row, place.col]
    serial = read.clash if read.serial is None else read.serial
    if read.foreign if read.set is None else read.set != own:
        return TrayFault(TrayFaultType.FOREIGN, place.row, place.col, expected, found=serial, seat=place.seat)
    if serial is None or serial == expected:
        return None
    belongs = next((at for at, planned in deal.items() if planned == serial), None)
    kind = TrayFaultType.WRONG_HAND if belongs is None else TrayFaultType.SWAPPED
    return TrayFault(kind, place.row, place.col, expected, found=serial, with_=belongs, seat=place.seat)


def _without_mirrors(faults: list[TrayFault]) -> list[TrayFault]:
    """Drop the second fault of each swap of two tiles; a longer cycle keeps one fault per place."""
    unique: list[TrayFault] = []
    for fault in faults:
        mirrored = any(
            other.seat == fault.seat and other.with_ == (fault.row, fault.col) and fault.with_ == (other.row, other.col)
            for other in unique
        )
        if not mirrored:
            unique.append(fault)
    return unique
