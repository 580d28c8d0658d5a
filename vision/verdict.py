"""Stage 7, reading against deal: what is wrong in the trays. The deal judges reads here; it never makes one."""

from collections import Counter
from collections.abc import Mapping, Sequence

from vision.expected import check_expected
from vision.layout.tray import Where
from vision.reading import Fault, FaultType, Place, Read, Reading, State

_Expected = Sequence[Sequence[int]] | Mapping[str, Sequence[Sequence[int]]]


def compare(reading: Reading, expected: _Expected, set_number: int | None = None) -> tuple[Fault, ...]:
    """Name what is wrong, tray by tray in reading order; nothing of a tray that was not found.

    `expected` are three rows of 13, 11 and 10 serials for a tray that stands alone, or such rows by seat for a carrier.
    `set_number` is the set in play where marks name sets by number; by default the set that most tiles belong to. A
    swap of two tiles is one fault, at its first place. A tile that was not read is no fault by itself. Raises
    ExpectedDealError.
    """
    deal = check_expected(expected)
    own = _own_set(reading.reads, set_number)
    faults: list[Fault] = []
    for place in reading.places:
        if place.seat in deal:
            faults += _faults_at(place, deal[place.seat], own)
    return tuple(_without_mirrors(faults))


def verified(reading: Reading, expected: _Expected, faults: Sequence[Fault]) -> bool:
    """Tell whether every tray was found, every place was read, and everything lies as it should.

    No fault alone is no proof: a picture without a tray has none.
    """
    trays = expected if isinstance(expected, Mapping) else {None: expected}
    wanted = {seat: [list(row) for row in rows] for seat, rows in trays.items()}
    seen = {seat: [list(row) for row in rows] for seat, rows in reading.seats.items()}
    return not faults and seen == wanted


def _own_set(reads: tuple[Read, ...], set_number: int | None) -> str | None:
    """Give the set in play; where marks name sets by letter, a number says nothing and most tiles decide."""
    known = Counter(read.set for read in reads if read.set is not None)
    usual = known.most_common(1)[0][0] if known else None
    if set_number is not None and (usual is None or usual.isdecimal()):
        return f"{set_number:02d}"
    return usual


_PLAIN = {State.EMPTY: FaultType.MISSING, State.FACE_UP: FaultType.FACE_UP, State.OCCLUDED: FaultType.OCCLUDED}
_TURNS = {180: FaultType.UPSIDE_DOWN, 90: FaultType.SIDEWAYS, 270: FaultType.SIDEWAYS}


def _faults_at(place: Place, deal: dict[Where, int], own: str | None) -> list[Fault]:
    expected = deal[place.row, place.col]
    if place.state in _PLAIN:
        return [Fault(_PLAIN[place.state], place.row, place.col, expected, seat=place.seat)]
    if place.read is None:
        return []
    found = (_lie_fault(place, place.read, expected), _tile_fault(place, place.read, deal, own))
    return [fault for fault in found if fault is not None]


def _lie_fault(place: Place, read: Read, expected: int) -> Fault | None:
    """Say what is wrong with how a tile lies."""
    kind = FaultType.SIDEWAYS if read.sideways else _TURNS.get(read.turn)
    return Fault(kind, place.row, place.col, expected, seat=place.seat) if kind else None


def _tile_fault(place: Place, read: Read, deal: dict[Where, int], own: str | None) -> Fault | None:
    """Say what is wrong with which tile lies there; a mark's set is surer than its back's colour.

    Of two tiles with one serial neither is read, yet one of them lies where the deal has another: that is named.
    """
    expected = deal[place.row, place.col]
    serial = read.clash if read.serial is None else read.serial
    if read.foreign if read.set is None else read.set != own:
        return Fault(FaultType.FOREIGN, place.row, place.col, expected, found=serial, seat=place.seat)
    if serial is None or serial == expected:
        return None
    belongs = next((at for at, planned in deal.items() if planned == serial), None)
    kind = FaultType.WRONG_HAND if belongs is None else FaultType.SWAPPED
    return Fault(kind, place.row, place.col, expected, found=serial, with_=belongs, seat=place.seat)


def _without_mirrors(faults: list[Fault]) -> list[Fault]:
    """Drop the second half of each swap of two tiles; a longer ring keeps a fault a place."""
    kept: list[Fault] = []
    for fault in faults:
        mirrored = any(
            other.seat == fault.seat and other.with_ == (fault.row, fault.col) and fault.with_ == (other.row, other.col)
            for other in kept
        )
        if not mirrored:
            kept.append(fault)
    return kept
