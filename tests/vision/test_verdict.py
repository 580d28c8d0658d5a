from dataclasses import replace

import pytest

from vision.errors import ExpectedDealError
from vision.layout.tray import ROW_LENGTHS, places
from vision.reading import Fault, FaultType, Place, Read, Reading, State
from vision.verdict import compare, verified

CORNERS = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
ROWS = (tuple(range(1, 14)), tuple(range(14, 25)), tuple(range(25, 35)))
Changes = dict[tuple[int, int], Read | State]


def read_at(row: int, col: int, serial: int | None, number: str | None = "08", turn: int = 0) -> Read:
    return Read(serial, number, CORNERS, 0.999, 0.0, row, col, turn=turn)


def reading(changes: Changes) -> Reading:
    """Give a tray that lies as ROWS say, but for some places."""
    held = []
    for row, col in places():
        change = changes.get((row, col), read_at(row, col, ROWS[row][col]))
        state, read = (change, None) if isinstance(change, State) else (State.BACK, change)
        held.append(Place(row, col, state, read))
    return Reading(tuple(place.read for place in held if place.read), tuple(held))


def test_a_tray_that_lies_as_dealt_has_no_fault() -> None:
    assert compare(reading({}), ROWS) == ()


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (State.EMPTY, FaultType.MISSING),
        (State.FACE_UP, FaultType.FACE_UP),
        (State.OCCLUDED, FaultType.OCCLUDED),
    ],
)
def test_what_the_picture_shows_instead_of_a_back_is_the_fault(state: State, fault: FaultType) -> None:
    assert compare(reading({(1, 4): state}), ROWS) == (Fault(fault, 1, 4, 18),)


@pytest.mark.parametrize(
    ("turn", "fault"), [(180, FaultType.UPSIDE_DOWN), (90, FaultType.SIDEWAYS), (270, FaultType.SIDEWAYS)]
)
def test_a_turned_tile_is_named_by_its_turn(turn: int, fault: FaultType) -> None:
    assert compare(reading({(0, 0): read_at(0, 0, 1, turn=turn)}), ROWS) == (Fault(fault, 0, 0, 1),)


def test_a_tile_that_was_not_read_is_no_fault() -> None:
    assert compare(reading({(0, 0): read_at(0, 0, None, None)}), ROWS) == ()


def test_two_exchanged_tiles_are_one_fault_at_the_first_of_the_two_places() -> None:
    swapped = reading({(0, 1): read_at(0, 1, 26), (2, 1): read_at(2, 1, 2)})
    assert compare(swapped, ROWS) == (Fault(FaultType.SWAPPED, 0, 1, 2, found=26, with_=(2, 1)),)


def test_a_ring_of_three_has_a_fault_a_place() -> None:
    ring = reading({(0, 0): read_at(0, 0, 2), (0, 1): read_at(0, 1, 3), (0, 2): read_at(0, 2, 1)})
    assert [(fault.col, fault.with_) for fault in compare(ring, ROWS)] == [(0, (0, 1)), (1, (0, 2)), (2, (0, 0))]


def test_a_serial_of_another_hand_is_told_from_one_of_this() -> None:
    assert compare(reading({(2, 9): read_at(2, 9, 99)}), ROWS) == (Fault(FaultType.WRONG_HAND, 2, 9, 34, found=99),)


def test_another_set_is_foreign_even_with_the_right_serial() -> None:
    stranger = reading({(0, 4): read_at(0, 4, 5, "31")})
    assert compare(stranger, ROWS) == (Fault(FaultType.FOREIGN, 0, 4, 5, found=5),)


def test_a_back_of_another_colour_is_foreign_where_its_mark_names_no_set() -> None:
    changes: Changes = {at: read_at(*at, ROWS[at[0]][at[1]], None) for at in places()}
    changes[0, 4] = replace(read_at(0, 4, 83, None), foreign=True)
    changes[0, 5] = replace(read_at(0, 5, None, None), foreign=True)
    assert compare(reading(changes), ROWS) == (
        Fault(FaultType.FOREIGN, 0, 4, 5, found=83),
        Fault(FaultType.FOREIGN, 0, 5, 6),
    )


def test_a_mark_that_names_the_set_in_play_is_surer_than_a_colour() -> None:
    assert compare(reading({(0, 4): replace(read_at(0, 4, 5), foreign=True)}), ROWS) == ()


def test_a_number_says_nothing_of_sets_that_are_named_by_letter() -> None:
    changes: Changes = {at: read_at(*at, ROWS[at[0]][at[1]], "C") for at in places()}
    changes[1, 1] = read_at(1, 1, ROWS[1][1], "D")
    assert [fault.type for fault in compare(reading(changes), ROWS, set_number=31)] == [FaultType.FOREIGN]


def carrier(changes: Changes, west: Changes | None = None) -> Reading:
    """Give four trays that lie as dealt but for some places of South's and West's; serials as if each were East's."""
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
    return Reading(tuple(place.read for place in held if place.read), tuple(held))


CARRIER = {
    seat: tuple(tuple(serial + shift for serial in row) for row in ROWS)
    for shift, seat in zip((0, 34, 68, 102), "ESWN", strict=True)
}


def test_a_carrier_that_lies_as_dealt_is_verified() -> None:
    assert verified(carrier({}), CARRIER, compare(carrier({}), CARRIER))


def test_a_fault_in_a_carrier_names_the_seat_and_a_swap_stays_within_its_tray() -> None:
    swapped = carrier({(0, 1): read_at(0, 1, 26), (2, 1): read_at(2, 1, 2)})
    assert compare(swapped, CARRIER) == (Fault(FaultType.SWAPPED, 0, 1, 36, found=60, with_=(2, 1), seat="S"),)


def test_swaps_in_two_trays_do_not_hide_one_another() -> None:
    both = carrier(
        {(0, 1): read_at(0, 1, 26), (2, 1): read_at(2, 1, None)},
        {(0, 1): read_at(0, 1, None), (2, 1): read_at(2, 1, 2)},
    )
    assert [(fault.seat, fault.row, fault.col) for fault in compare(both, CARRIER)] == [("S", 0, 1), ("W", 2, 1)]


def test_a_tile_of_another_seat_is_of_another_hand() -> None:
    stray = carrier({(0, 1): read_at(0, 1, 99 - 34)})
    assert compare(stray, CARRIER) == (Fault(FaultType.WRONG_HAND, 0, 1, 36, found=99, seat="S"),)


def test_a_lone_tray_is_not_judged_by_a_carriers_deal_nor_a_carrier_by_a_trays() -> None:
    assert compare(reading({}), CARRIER) == compare(carrier({}), ROWS) == ()
    assert not verified(reading({}), CARRIER, ())
    assert not verified(carrier({}), ROWS, ())


def test_a_carrier_with_a_seat_that_was_not_found_is_not_verified() -> None:
    three = carrier({})
    three = replace(three, places=tuple(place for place in three.places if place.seat != "W"))
    assert not verified(three, CARRIER, compare(three, CARRIER))


def test_a_tile_that_lies_askew_lies_sideways_whatever_its_quarter() -> None:
    askew = replace(read_at(0, 0, 1), sideways=True)
    assert compare(reading({(0, 0): askew}), ROWS) == (Fault(FaultType.SIDEWAYS, 0, 0, 1),)


def test_the_set_in_play_decides_when_it_is_told() -> None:
    assert {fault.type for fault in compare(reading({}), ROWS, set_number=31)} == {FaultType.FOREIGN}


def test_without_a_tray_there_is_nothing_to_judge() -> None:
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
def test_a_deal_that_no_tray_can_hold_is_refused(rows: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ExpectedDealError):
        compare(reading({}), rows)


def test_rows_give_serials_in_order_with_none_where_nothing_was_read() -> None:
    assert reading({(0, 1): State.EMPTY}).rows == ((1, None, *ROWS[0][2:]), *ROWS[1:])
    assert tuple(map(len, reading({}).rows)) == ROW_LENGTHS


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({}, True),
        ({(0, 0): State.OCCLUDED}, False),
        ({(0, 0): read_at(0, 0, None)}, False),
        ({(0, 0): read_at(0, 0, 2), (0, 1): read_at(0, 1, 1)}, False),
        ({(1, 3): read_at(1, 3, ROWS[1][3], turn=180)}, False),
    ],
)
def test_a_tray_is_verified_only_when_every_place_was_read_and_is_right(changes: Changes, right: bool) -> None:  # noqa: FBT001 - a parameter of the test
    seen = reading(changes)
    assert verified(seen, ROWS, compare(seen, ROWS)) is right


def test_no_tray_is_not_verified() -> None:
    assert not verified(Reading((), ()), ROWS, ())


def test_of_two_tiles_with_one_serial_the_one_that_lies_elsewhere_is_named_and_nothing_is_verified() -> None:
    own, other = (replace(read_at(*at, None), clash=ROWS[0][4]) for at in ((0, 4), (2, 1)))
    seen = reading({(0, 4): own, (2, 1): other})
    faults = compare(seen, ROWS)
    assert faults == (Fault(FaultType.SWAPPED, 2, 1, ROWS[2][1], found=ROWS[0][4], with_=(0, 4)),)
    assert not verified(seen, ROWS, faults)
