"""A deal that is not verified is not played, and staff are told when a carrier is the wrong one."""

import random
from dataclasses import replace as replace_state

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import SEATS, Confirmed, Restored, Seat
from broker.rules import ROWS, TRAY, form_hash, in_rows
from kiosk.table import (
    Misplaced,
    Phase,
    Swap,
    TilePlace,
    TrayProblem,
    Work,
)
from kiosk.table.events import (
    ButtonPressed,
    CarrierTakenApart,
    RowTicked,
    TrayChecked,
)
from tests.kiosk.tables import SETTLE, Sitting, play, right, sitting_in, strange, swapped


def test_four_right_trays_in_any_order_restore_the_deal() -> None:
    sitting = Sitting()
    sitting.lay(["west", "east", "north"])
    assert (sitting.facts, sitting.table.phase) == ([], Phase.RESTORING)
    assert sitting.table.unverified == ("south",)
    sitting.lay(["south"])
    form = form_hash(play(1).order)
    assert sitting.facts == [Restored(round=1, deal=1, verified=True, form=form, refusals=0)]
    assert sitting.table.phase is Phase.SEATING


@given(st.sampled_from(SEATS), st.integers(0, 33), st.one_of(st.none(), st.integers(1, 136)))
def test_a_tray_with_any_single_wrong_place_is_refused(seat: Seat, at: int, found: int | None) -> None:
    sitting = Sitting()
    places: list[int | None] = [serial for row in play(1).order[seat] for serial in row]
    places[at] = found if found != places[at] else None
    rows = (tuple(places[: ROWS[0]]), tuple(places[ROWS[0] : -ROWS[2]]), tuple(places[-ROWS[2] :]))
    sitting.take(TrayChecked(at=sitting.wait(), seat=seat, rows=rows))
    assert sitting.table.verified == frozenset()
    assert sitting.table.check == TrayProblem(seat, (), unread=places.count(None))


def test_misaligned_tiles_with_the_right_serials_are_refused() -> None:
    """A tile that lies askew or upside down is read, and still wrong."""
    sitting = Sitting()
    sideways = replace(swapped(play(1), "east", 1).wrong[0], kind="sideways", other=None)
    sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=play(1).order["east"], wrong=(sideways,)))
    assert sitting.table.verified == frozenset()


def test_a_tray_with_missing_or_extra_rows_is_refused() -> None:
    for rows in ((), play(1).order["east"][:2], (*play(1).order["east"], ())):
        sitting = Sitting()
        sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=rows))
        assert sitting.table.verified == frozenset()


def test_the_tray_of_another_seat_is_refused() -> None:
    sitting = Sitting()
    sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=play(1).order["south"]))
    assert sitting.table.verified == frozenset()


def test_a_right_tray_that_is_later_seen_wrong_is_no_longer_right() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south", "west"])
    sitting.take(swapped(play(1), "south", sitting.wait()))
    sitting.restore(["north"])
    assert sitting.table.unverified == ("south",)
    sitting.restore(["south"])
    assert sitting.table.phase is Phase.CONFIRMING


def test_a_right_tray_clears_the_complaint() -> None:
    sitting = Sitting()
    sitting.take(swapped(play(1), "south", sitting.wait()))
    assert sitting.table.check is not None
    sitting.restore(["south"])
    assert sitting.table.check is None


def test_the_same_wrong_check_again_changes_nothing_and_counts_once() -> None:
    sitting = Sitting()
    sitting.take(swapped(play(1), "south", sitting.wait()))
    before = sitting.table
    sitting.take(swapped(play(1), "south", sitting.wait()))
    assert sitting.table == before
    sitting.restore()
    assert [fact.refusals for fact in sitting.facts if isinstance(fact, Restored)] == [1]


def test_a_tray_under_a_flickering_lamp_makes_no_undecodable_fact() -> None:
    sitting = Sitting()
    sitting.table = replace_state(sitting.table, refusals=9998)
    for seat in ("east", "south", "west"):
        sitting.take(swapped(play(1), seat, sitting.wait()))
    assert sitting.table.refusals == 9999


def test_the_fourth_confirmation_begins_the_play_and_no_seat_can_confirm_for_another() -> None:
    sitting = sitting_in(Phase.CONFIRMING)
    sitting.press("east", "east", "north", "west", "north")
    assert sitting.table.phase is Phase.CONFIRMING
    assert sitting.table.agreed == {"east", "north", "west"}
    told = sitting.take(ButtonPressed(at=sitting.wait(), seat="south"))
    assert told == (Confirmed(round=1, deal=1),)
    assert (sitting.table.phase, sitting.table.agreed) == (Phase.PLAYING, frozenset())


def test_a_press_while_the_screen_changes_confirms_nothing() -> None:
    sitting = sitting_in(Phase.CONFIRMING)
    changed = sitting.table.since
    assert sitting.refusal(ButtonPressed(at=changed + SETTLE - 1, seat="east")) == "press_too_soon"
    sitting.take(ButtonPressed(at=changed + SETTLE, seat="east"))
    assert sitting.table.agreed == {"east"}


def test_trays_are_checked_only_while_walls_are_restored() -> None:
    sitting = sitting_in(Phase.PLAYING)
    assert sitting.refusal(right(play(1), "east", sitting.wait())) == "not_now"


def of_another_tray(seat: Seat, other: Seat, at: int) -> TrayChecked:
    """Return the check of a tray whose first tile is another seat's."""
    (_, *hand), *walls = play(1).order[seat]
    stray = play(1).order[other][0][0]
    wrong = Misplaced(kind="wrong-hand", row=0, col=0, expected=play(1).order[seat][0][0], found=stray)
    return TrayChecked(at=at, seat=seat, rows=((stray, *hand), *walls), wrong=(wrong,))


def test_a_tray_is_no_longer_right_when_one_of_its_tiles_is_seen_in_another() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south"])
    sitting.take(of_another_tray("west", "south", sitting.wait()))
    assert sitting.table.verified == {"east"}


def test_the_next_move_is_proposed_and_marked_done_when_it_is_seen() -> None:
    sitting = Sitting()
    first, second, third = (TilePlace("south", 0, col) for col in range(3))
    (one, two, three, *hand), *walls = play(1).order["south"]
    sitting.take(TrayChecked(at=sitting.wait(), seat="south", rows=((two, three, one, *hand), *walls)))
    assert (sitting.table.work.move, sitting.table.work.left) == (Swap(first, third), 2)
    sitting.take(TrayChecked(at=sitting.wait(), seat="south", rows=((one, three, two, *hand), *walls)))
    work = sitting.table.work
    assert (work.move, work.left, work.done, work.last_move_done) == (Swap(second, third), 1, 1, True)
    sitting.restore(["south"])
    work = sitting.table.work
    assert (work.move, work.left, work.done, work.last_move_done) == (None, 0, 2, True)


def test_after_another_move_the_proposals_continue_from_there() -> None:
    sitting = Sitting()
    sitting.take(swapped(play(1), "south", sitting.wait()))
    sitting.take(of_another_tray("south", "north", sitting.wait()))
    work = sitting.table.work
    swap = Swap(TilePlace("south", 0, 0), TilePlace("north", 0, 0))
    assert (work.move, work.last_move_done, work.done) == (swap, False, 0)


def tick(sitting: Sitting, seat: Seat, *rows: int, right: bool = True) -> None:
    for row in rows:
        sitting.take(RowTicked(at=sitting.wait(), seat=seat, row=row, right=right))


def test_a_deal_with_a_tray_ticked_by_hand_is_reported_as_not_verified() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south", "west"])
    tick(sitting, "north", 2, 0)
    assert sitting.table.unverified == ("north",)
    tick(sitting, "north", 1)
    form = form_hash(play(1).order)
    assert sitting.facts == [Restored(round=1, deal=1, verified=False, by="hand", form=form, refusals=0)]


def test_a_deal_read_by_a_scanner_is_verified_and_reported_so() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south", "west"])
    sitting.take(replace(right(play(1), "north", sitting.wait()), by="scanner"))
    form = form_hash(play(1).order)
    assert sitting.facts == [Restored(round=1, deal=1, verified=True, by="scanner", form=form, refusals=0)]


def test_a_tick_can_be_taken_back() -> None:
    sitting = Sitting()
    tick(sitting, "north", 0, 1, 2)
    tick(sitting, "north", 1, right=False)
    assert sitting.table.unverified == SEATS


def test_what_the_camera_sees_overrides_ticks() -> None:
    sitting = Sitting()
    tick(sitting, "north", 0, 1, 2)
    sitting.take(swapped(play(1), "north", sitting.wait()))
    assert sitting.table.unverified == SEATS
    assert sitting.table.work.rows == frozenset()
    sitting.restore(["north"])
    assert sitting.refusal(RowTicked(at=sitting.wait(), seat="north", row=0)) == "tray_is_right"


def check(sitting: Sitting) -> TrayProblem:
    assert sitting.table.check is not None
    return sitting.table.check


def of_own(sitting: Sitting, seat: Seat, own: int, other: int) -> TrayChecked:
    """Return the check of a tray with this many of its own tiles, anywhere in it, and this many of the next seat's."""
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
    return check(sitting).unknown_look is not None


@given(st.integers(0, 2**32))
def test_any_other_deal_of_the_set_is_recognised_and_no_move_is_proposed(seed: int) -> None:
    sitting = Sitting(play(1), play(2))
    serials = list(range(1, 137))
    random.Random(seed).shuffle(serials)
    tray = serials[:TRAY]
    homes = {seat: {serial for row in play(1).order[seat] for serial in row} for seat in SEATS}
    seat = max(SEATS, key=lambda one: len(homes[one] & {*tray}))
    sitting.take(TrayChecked(at=sitting.wait(), seat=seat, rows=in_rows(tray)))
    strangers = len(homes[seat] & {*tray}) < TRAY // 2
    assert (check(sitting).unknown_look is not None, sitting.table.work == Work()) == (strangers, strangers)


def test_half_of_the_tiles_are_enough_for_this_deal_wherever_they_lie_in_their_tray() -> None:
    assert (is_strange(17, 17), is_strange(16, 18)) == (False, True)


def test_a_tray_of_which_little_was_read_gets_no_verdict() -> None:
    assert (is_strange(0, 16), is_strange(0, 17)) == (False, True)


def test_a_carrier_of_another_set_is_recognised_and_cannot_be_laid() -> None:
    sitting = Sitting()
    sitting.take(strange(sitting.play, "east", sitting.wait(), foreign=True))
    assert (check(sitting).of_another_set, sitting.table.work) == (True, Work())
    assert sitting.refusal(CarrierTakenApart(at=sitting.wait())) == "no_such_carrier"


def test_foreign_tiles_without_a_read_number_are_reported_too() -> None:
    sitting = Sitting()
    look = strange(sitting.play, "east", sitting.wait(), foreign=True)
    sitting.take(
        TrayChecked(at=look.at, seat="east", rows=tuple((None,) * len(row) for row in look.rows), wrong=look.wrong)
    )
    assert check(sitting).of_another_set


def test_staff_may_lay_the_deal_from_tiles_that_are_no_prepared_deal() -> None:
    sitting = Sitting()
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    sitting.take(CarrierTakenApart(at=sitting.wait()))
    assert (check(sitting).unknown_look, sitting.table.work.left > 0) == (None, True)
    sitting.take(strange(sitting.play, "south", sitting.wait()))
    assert check(sitting).unknown_look is None
    sitting.lay()
    assert [fact.verified for fact in sitting.facts if isinstance(fact, Restored)] == [True]


@pytest.mark.parametrize("shown", [False, True])
def test_without_an_unknown_carrier_there_is_none_to_lay_the_deal_from(*, shown: bool) -> None:
    sitting = Sitting()
    if shown:
        sitting.take(swapped(sitting.play, "east", sitting.wait()))
    assert sitting.refusal(CarrierTakenApart(at=sitting.wait())) == "no_such_carrier"


def test_a_tray_that_staff_have_begun_counts_as_work_whatever_they_put_into_it() -> None:
    sitting = Sitting()
    sitting.take(swapped(sitting.play, "east", sitting.wait()))
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    assert check(sitting).unknown_look is None


def test_a_strange_tray_in_place_of_a_right_one_is_reported_and_the_right_one_stays_right() -> None:
    sitting = Sitting()
    sitting.lay(["east"])
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    assert check(sitting).unknown_look is not None
    assert [*sitting.table.verified] == ["east"]


def test_the_right_carrier_is_restored_as_if_the_other_had_never_been_shown() -> None:
    sitting, other = Sitting(), Sitting()
    sitting.take(strange(sitting.play, "east", sitting.wait()))
    for one in (sitting, other):
        one.lay(["south"])
    assert sitting.table.work == other.table.work
    assert sitting.table.check is None
