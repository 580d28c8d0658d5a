"""What should lie in a tray, and what is wrong in it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from vision.errors import ExpectedDealError
from vision.reading import (
    ROW_LENGTHS,
    PictureReading,
    PlaceState,
    TileRead,
    TrayFault,
    TrayFaultType,
    TrayPlace,
    tray_places,
)
from vision.verdict import compare, load_expected, parse_expected, verified

EXPECTED_ROWS = [list(range(1, 14)), list(range(14, 25)), list(range(25, 35))]
EXPECTED_CARRIER = {
    seat: [[34 * number + one for one in row] for row in EXPECTED_ROWS] for number, seat in enumerate("ESWN")
}


def frozen(rows: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows)


@pytest.mark.parametrize("wrap", [lambda content: content, lambda content: {"schema": "x", "expected": content}])
def test_the_deal_is_read_bare_or_from_a_truth_file(
    wrap: Callable[[object], object],
) -> None:
    assert parse_expected(wrap({"tray": EXPECTED_ROWS})) == frozen(EXPECTED_ROWS)
    assert parse_expected(wrap(EXPECTED_CARRIER)) == {seat: frozen(rows) for seat, rows in EXPECTED_CARRIER.items()}


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"expected": None},
        {"tray": None},
        {"tray": EXPECTED_ROWS[:2]},
        {"tray": [[True, *EXPECTED_ROWS[0][1:]], *EXPECTED_ROWS[1:]]},
        {"tray": [["1", *EXPECTED_ROWS[0][1:]], *EXPECTED_ROWS[1:]]},
        {seat: rows for seat, rows in EXPECTED_CARRIER.items() if seat != "N"},
        {**EXPECTED_CARRIER, "N": EXPECTED_CARRIER["E"]},
        {**EXPECTED_CARRIER, "N": [row[:-1] for row in EXPECTED_ROWS]},
    ],
)
def test_deals_impossible_with_136_tiles_are_refused(content: object) -> None:
    with pytest.raises(ExpectedDealError):
        parse_expected(content)


def test_a_file_that_is_not_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(ExpectedDealError):
        load_expected(file)


def test_a_deal_is_loaded_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    file.write_text(json.dumps({"expected": EXPECTED_CARRIER}), encoding="utf-8")
    assert load_expected(file) == {seat: frozen(rows) for seat, rows in EXPECTED_CARRIER.items()}


CORNERS = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
ROWS = (tuple(range(1, 14)), tuple(range(14, 25)), tuple(range(25, 35)))
Changes = dict[tuple[int, int], TileRead | PlaceState]


def read_at(row: int, col: int, serial: int | None, number: str | None = "08", turn: int = 0) -> TileRead:
    return TileRead(serial, number, CORNERS, 0.999, 0.0, row, col, turn=turn)


def reading(changes: Changes) -> PictureReading:
    """Return a tray laid as ROWS, except for some places."""
    held = []
    for row, col in tray_places():
        change = changes.get((row, col), read_at(row, col, ROWS[row][col]))
        state, read = (change, None) if isinstance(change, PlaceState) else (PlaceState.BACK, change)
        held.append(TrayPlace(row, col, state, read))
    return PictureReading(tuple(place.read for place in held if place.read), tuple(held))


def test_a_tray_laid_as_dealt_has_no_fault() -> None:
    assert compare(reading({}), ROWS) == ()


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (PlaceState.EMPTY, TrayFaultType.MISSING),
        (PlaceState.FACE_UP, TrayFaultType.FACE_UP),
        (PlaceState.OCCLUDED, TrayFaultType.OCCLUDED),
    ],
)
def test_an_empty_covered_or_face_up_place_is_the_fault(state: PlaceState, fault: TrayFaultType) -> None:
    assert compare(reading({(1, 4): state}), ROWS) == (TrayFault(fault, 1, 4, 18),)


@pytest.mark.parametrize(
    ("turn", "fault"), [(180, TrayFaultType.UPSIDE_DOWN), (90, TrayFaultType.SIDEWAYS), (270, TrayFaultType.SIDEWAYS)]
)
def test_a_turned_tile_is_named_by_its_turn(turn: int, fault: TrayFaultType) -> None:
    assert compare(reading({(0, 0): read_at(0, 0, 1, turn=turn)}), ROWS) == (TrayFault(fault, 0, 0, 1),)


def test_an_unread_tile_is_not_a_fault() -> None:
    assert compare(reading({(0, 0): read_at(0, 0, None, None)}), ROWS) == ()


def test_two_exchanged_tiles_are_one_fault_at_the_first_place() -> None:
    swapped = reading({(0, 1): read_at(0, 1, 26), (2, 1): read_at(2, 1, 2)})
    assert compare(swapped, ROWS) == (TrayFault(TrayFaultType.SWAPPED, 0, 1, 2, found=26, with_=(2, 1)),)


def test_a_cycle_of_three_has_one_fault_per_place() -> None:
    ring = reading({(0, 0): read_at(0, 0, 2), (0, 1): read_at(0, 1, 3), (0, 2): read_at(0, 2, 1)})
    assert [(fault.col, fault.with_) for fault in compare(ring, ROWS)] == [(0, (0, 1)), (1, (0, 2)), (2, (0, 0))]


def test_a_serial_of_another_hand_is_distinguished_from_one_of_this() -> None:
    assert compare(reading({(2, 9): read_at(2, 9, 99)}), ROWS) == (
        TrayFault(TrayFaultType.WRONG_HAND, 2, 9, 34, found=99),
    )


def test_another_set_is_foreign_even_with_the_right_serial() -> None:
    stranger = reading({(0, 4): read_at(0, 4, 5, "31")})
    assert compare(stranger, ROWS) == (TrayFault(TrayFaultType.FOREIGN, 0, 4, 5, found=5),)


def test_a_back_of_another_colour_is_foreign_if_its_mark_names_no_set() -> None:
    changes: Changes = {at: read_at(*at, ROWS[at[0]][at[1]], None) for at in tray_places()}
    changes[0, 4] = replace(read_at(0, 4, 83, None), foreign=True)
    changes[0, 5] = replace(read_at(0, 5, None, None), foreign=True)
    assert compare(reading(changes), ROWS) == (
        TrayFault(TrayFaultType.FOREIGN, 0, 4, 5, found=83),
        TrayFault(TrayFaultType.FOREIGN, 0, 5, 6),
    )


def test_a_mark_with_the_set_in_play_overrules_its_colour() -> None:
    assert compare(reading({(0, 4): replace(read_at(0, 4, 5), foreign=True)}), ROWS) == ()


def test_a_set_number_is_ignored_for_sets_named_by_letter() -> None:
    changes: Changes = {at: read_at(*at, ROWS[at[0]][at[1]], "C") for at in tray_places()}
    changes[1, 1] = read_at(1, 1, ROWS[1][1], "D")
    assert [fault.type for fault in compare(reading(changes), ROWS, set_number=31)] == [TrayFaultType.FOREIGN]


def carrier(changes: Changes, west: Changes | None = None) -> PictureReading:
    """Return four trays laid as dealt, except for some places of South's and West's; serials as if each were East's."""
    trays = [reading({}), reading(changes), reading(west or {}), reading({})]
    held = [
        replace(
            place,
            seat=seat,
            read=place.read and replace(place.read, seat=seat, serial=place.read.serial and place.read.serial + shift),
        )
        for shift, seat, tray in zip((0, 34, 68, 102), "ESWN", trays, strict=True)
        for place in tray.places
    ]
    return PictureReading(tuple(place.read for place in held if place.read), tuple(held))


CARRIER = {
    seat: tuple(tuple(serial + shift for serial in row) for row in ROWS)
    for shift, seat in zip((0, 34, 68, 102), "ESWN", strict=True)
}


def test_a_carrier_laid_as_dealt_is_verified() -> None:
    assert verified(carrier({}), CARRIER, compare(carrier({}), CARRIER))


def test_a_fault_in_a_carrier_names_the_seat_and_a_swap_stays_in_its_tray() -> None:
    swapped = carrier({(0, 1): read_at(0, 1, 26), (2, 1): read_at(2, 1, 2)})
    assert compare(swapped, CARRIER) == (TrayFault(TrayFaultType.SWAPPED, 0, 1, 36, found=60, with_=(2, 1), seat="S"),)


def test_swaps_in_two_trays_do_not_hide_one_another() -> None:
    both = carrier(
        {(0, 1): read_at(0, 1, 26), (2, 1): read_at(2, 1, None)},
        {(0, 1): read_at(0, 1, None), (2, 1): read_at(2, 1, 2)},
    )
    assert [(fault.seat, fault.row, fault.col) for fault in compare(both, CARRIER)] == [("S", 0, 1), ("W", 2, 1)]


def test_a_tile_of_another_seat_is_of_another_hand() -> None:
    stray = carrier({(0, 1): read_at(0, 1, 99 - 34)})
    assert compare(stray, CARRIER) == (TrayFault(TrayFaultType.WRONG_HAND, 0, 1, 36, found=99, seat="S"),)


def test_trays_and_carriers_are_not_judged_by_each_others_deals() -> None:
    assert compare(reading({}), CARRIER) == compare(carrier({}), ROWS) == ()
    assert not verified(reading({}), CARRIER, ())
    assert not verified(carrier({}), ROWS, ())


def test_a_carrier_with_a_missing_seat_is_not_verified() -> None:
    three = carrier({})
    three = replace(three, places=tuple(place for place in three.places if place.seat != "W"))
    assert not verified(three, CARRIER, compare(three, CARRIER))


def test_a_tile_askew_is_sideways_whatever_its_turn() -> None:
    askew = replace(read_at(0, 0, 1), sideways=True)
    assert compare(reading({(0, 0): askew}), ROWS) == (TrayFault(TrayFaultType.SIDEWAYS, 0, 0, 1),)


def test_the_given_set_number_decides() -> None:
    assert {fault.type for fault in compare(reading({}), ROWS, set_number=31)} == {TrayFaultType.FOREIGN}


def test_without_a_tray_there_is_no_fault() -> None:
    assert compare(replace(reading({}), places=()), ROWS) == ()


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ROWS[:2],
        (ROWS[1], ROWS[0], ROWS[2]),
        ((0, *ROWS[0][1:]), *ROWS[1:]),
        ((137, *ROWS[0][1:]), *ROWS[1:]),
        ((2, *ROWS[0][1:]), *ROWS[1:]),
    ],
)
def test_impossible_rows_are_refused(rows: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ExpectedDealError):
        compare(reading({}), rows)


def test_rows_contain_serials_in_order_and_none_for_unread_places() -> None:
    assert reading({(0, 1): PlaceState.EMPTY}).rows == ((1, None, *ROWS[0][2:]), *ROWS[1:])
    assert tuple(map(len, reading({}).rows)) == ROW_LENGTHS


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({}, True),
        ({(0, 0): PlaceState.OCCLUDED}, False),
        ({(0, 0): read_at(0, 0, None)}, False),
        ({(0, 0): read_at(0, 0, 2), (0, 1): read_at(0, 1, 1)}, False),
        ({(1, 3): read_at(1, 3, ROWS[1][3], turn=180)}, False),
    ],
)
def test_a_tray_is_verified_only_if_every_place_was_read_and_is_right(*, changes: Changes, right: bool) -> None:
    seen = reading(changes)
    assert verified(seen, ROWS, compare(seen, ROWS)) is right


def test_without_a_tray_nothing_is_verified() -> None:
    assert not verified(PictureReading((), ()), ROWS, ())


def test_of_two_tiles_with_one_serial_the_misplaced_one_is_named_and_nothing_verified() -> None:
    own, other = (replace(read_at(*at, None), clash=ROWS[0][4]) for at in ((0, 4), (2, 1)))
    seen = reading({(0, 4): own, (2, 1): other})
    faults = compare(seen, ROWS)
    assert faults == (TrayFault(TrayFaultType.SWAPPED, 2, 1, ROWS[2][1], found=ROWS[0][4], with_=(0, 4)),)
    assert not verified(seen, ROWS, faults)
