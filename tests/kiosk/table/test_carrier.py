"""A carrier of a deal that this table does not know: staff are told that it is the wrong one before they touch it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.facts import Restored
from broker.contract.words import SEATS, Seat
from broker.rules.deal import TRAY, in_rows
from kiosk.table.events import CarrierTakenApart, TrayChecked
from kiosk.table.restoring.work import Work
from kiosk.table.state import Check
from tests.kiosk.tables import Sitting, play, strange, swapped


def check(sitting: Sitting) -> Check:
    assert sitting.table.check is not None
    return sitting.table.check


def of_own(sitting: Sitting, seat: Seat, own: int, other: int) -> TrayChecked:
    """Look at a tray in which so many tiles of its own lie, anywhere in it, and so many of the next seat's."""
    homes = [
        [serial for row in sitting.play.order[one] for serial in row]
        for one in (seat, SEATS[(SEATS.index(seat) + 1) % 4])
    ]
    lying: list[int | None] = [*reversed(homes[0][:own]), *homes[1][:other], *[None] * (TRAY - own - other)]
    rows = (tuple(lying[:13]), tuple(lying[13:24]), tuple(lying[24:]))
    return TrayChecked(at=sitting.wait(), seat=seat, rows=rows)


def is_strange(own: int, other: int) -> bool:
    sitting = Sitting()
    sitting.take(of_own(sitting, "west", own, other))
    return check(sitting).aside is not None


@given(st.integers(0, 2**32))
def test_any_other_deal_of_the_set_is_not_this_one_and_no_move_is_told(seed: int) -> None:
    sitting = Sitting(play(1), play(2))
    serials = list(range(1, 137))
    random.Random(seed).shuffle(serials)
    tray = serials[:TRAY]
    homes = {seat: {serial for row in play(1).order[seat] for serial in row} for seat in SEATS}
    seat = max(SEATS, key=lambda one: len(homes[one] & {*tray}))
    sitting.take(TrayChecked(at=sitting.wait(), seat=seat, rows=in_rows(tray)))
    strangers = len(homes[seat] & {*tray}) < TRAY // 2
    assert (check(sitting).aside is not None, sitting.table.work == Work()) == (strangers, strangers)


def test_half_of_what_lies_there_is_enough_to_be_of_this_deal_wherever_in_its_tray_it_lies() -> None:
    assert (is_strange(17, 17), is_strange(16, 18)) == (False, True)


def test_of_a_tray_of_which_little_is_read_nothing_is_said() -> None:
    assert (is_strange(0, 16), is_strange(0, 17)) == (False, True)


def test_a_carrier_of_another_set_is_not_this_one_and_cannot_be_laid_as_it() -> None:
    sitting = Sitting()
    sitting.take(strange(sitting.play, "east", sitting.wait(), foreign=True))
    assert (check(sitting).of_another_set, sitting.table.work) == (True, Work())
    assert sitting.refusal(CarrierTakenApart(at=sitting.wait())) == "no_such_carrier"


def test_tiles_of_another_set_of_which_no_number_was_read_are_told_too() -> None:
    sitting = Sitting()
    look = strange(sitting.play, "east", sitting.wait(), foreign=True)
    sitting.take(
        TrayChecked(at=look.at, seat="east", rows=tuple((None,) * len(row) for row in look.rows), wrong=look.wrong)
    )
    assert check(sitting).of_another_set


def test_staff_may_lay_the_deal_from_tiles_that_are_no_prepared_one() -> None:
    sitting = Sitting()
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    sitting.take(CarrierTakenApart(at=sitting.wait()))
    assert (check(sitting).aside, sitting.table.work.left > 0) == (None, True)
    sitting.take(strange(sitting.play, "south", sitting.wait()))
    assert check(sitting).aside is None
    sitting.lay()
    assert [fact.verified for fact in sitting.facts if isinstance(fact, Restored)] == [True]


@pytest.mark.parametrize("shown", [False, True])
def test_without_a_strange_carrier_there_is_none_to_lay_the_deal_from(shown: bool) -> None:  # noqa: FBT001 - an example
    sitting = Sitting()
    if shown:
        sitting.take(swapped(sitting.play, "east", sitting.wait()))
    assert sitting.refusal(CarrierTakenApart(at=sitting.wait())) == "no_such_carrier"


def test_a_tray_that_staff_have_begun_is_work_whatever_they_put_into_it() -> None:
    sitting = Sitting()
    sitting.take(swapped(sitting.play, "east", sitting.wait()))
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    assert check(sitting).aside is None


def test_a_tray_in_the_place_of_one_that_was_right_is_told_and_the_right_one_stays_right() -> None:
    sitting = Sitting()
    sitting.lay(["east"])
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    assert check(sitting).aside is not None
    assert [*sitting.table.verified] == ["east"]


def test_the_right_carrier_is_restored_as_if_the_other_had_never_been_there() -> None:
    sitting, other = Sitting(), Sitting()
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    for one in (sitting, other):
        one.lay(["south"])
    assert sitting.table.work == other.table.work
    assert sitting.table.check is None
