"""Calls for the arbiter: a long press is a call and no hu, and nobody at the table sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.facts import Call, Declared, Paused, Press
from broker.contract.words import SEATS, Seat
from broker.rules.points import Outcome
from kiosk.screens.shown import Line, Shown, shown
from kiosk.table.events import (
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    CallToggled,
    ClaimWindowElapsed,
    PlayEndedDrawn,
)
from kiosk.table.state import Phase
from tests.kiosk.tables import HOLD, MS, WINDOW, S, Sitting, sitting_in

CALL = Call(round=1, deal=1, open=True)


def seen(sitting: Sitting) -> Shown:
    return shown(1, sitting.table, None, Line(), None)


def test_a_hold_in_the_play_is_told_when_the_window_that_it_opened_would_be_over_and_the_play_goes_on() -> None:
    sitting = sitting_in(Phase.PLAYING)
    before, began = seen(sitting), sitting.table.since
    at = sitting.hold("west")
    assert (sitting.table.phase, sitting.table.declarations, sitting.table.calling) == (Phase.CLAIMING, (), False)
    assert sitting.refusal(ClaimWindowElapsed(at=at + WINDOW - 1)) == "window_still_open"
    assert sitting.take(ClaimWindowElapsed(at=at + WINDOW)) == (CALL,)
    assert (sitting.table.phase, sitting.table.since) == (Phase.PLAYING, began)
    assert seen(sitting) == before


def test_a_hold_is_no_hu_and_the_window_is_that_of_the_first_press_that_is_one() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    sitting.take(ButtonPressed(at=at, seat="west"))
    sitting.take(ButtonPressed(at=at + 500 * MS, seat="north"))
    sitting.take(ButtonReleased(at=at + 600 * MS, seat="north"))
    sitting.take(ButtonHeld(at=at, seat="west"))
    assert sitting.table.claim_deadline == at + 500 * MS + WINDOW
    assert sitting.close_window() == (Declared(round=1, deal=1, presses=(Press(seat="north", after_ms=0),)), CALL)


def test_who_was_too_late_for_a_window_that_a_call_had_opened_is_in_time_for_the_next() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    presses: list[tuple[Seat, int]] = [("west", at), ("north", at + 1900 * MS), ("east", at + WINDOW + S)]
    for seat, edge in presses:
        sitting.take(ButtonPressed(at=edge, seat=seat))
        if seat != "west":
            sitting.take(ButtonReleased(at=edge + 50 * MS, seat=seat))
    sitting.take(ButtonHeld(at=at, seat="west"))
    assert [one.seat for one in sitting.table.declarations] == ["north", "east"]


def test_a_finger_that_came_down_at_the_last_instant_is_waited_for_and_may_still_call() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    deadline = sitting.table.claim_deadline
    assert deadline is not None
    last = deadline - 1
    sitting.take(ButtonPressed(at=last, seat="north"))
    assert sitting.refusal(ClaimWindowElapsed(at=last + HOLD - 1)) == "window_still_open"
    sitting.take(ButtonHeld(at=last, seat="north"))
    assert sitting.take(ClaimWindowElapsed(at=deadline + HOLD)) == (
        Declared(round=1, deal=1, presses=(Press(seat="west", after_ms=0),)),
        CALL,
    )


def test_a_finger_that_lets_go_after_the_deadline_is_waited_for_no_longer() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    deadline = sitting.table.claim_deadline
    assert deadline is not None
    sitting.take(ButtonPressed(at=deadline - 1, seat="north"))
    sitting.take(ButtonReleased(at=deadline + 80 * MS, seat="north"))
    assert sitting.table.closes_at == deadline
    (fact,) = sitting.close_window()
    assert isinstance(fact, Declared)
    assert [press.seat for press in fact.presses] == ["west", "north"]


def test_a_hold_that_is_told_when_the_window_is_closed_calls_and_its_declaration_stands() -> None:
    """The table has seen it; the arbiter comes and can find it false."""
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    sitting.take(ButtonPressed(at=at, seat="west"))
    sitting.close_window()
    assert sitting.take(ButtonHeld(at=at, seat="west")) == (CALL,)
    assert [one.seat for one in sitting.table.declarations] == ["west"]


def test_a_dead_hand_and_whoever_has_declared_may_call_too() -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    sitting.hold("south")
    assert sitting.close_window() == (CALL,)
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    sitting.hold("west")
    assert [type(fact) for fact in sitting.close_window()] == [Declared, Call]


def test_after_nobody_won_was_said_a_hold_changes_nothing_of_when_the_draw_is_shown() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    sitting.take(PlayEndedDrawn(at=at))
    before = sitting.table.closes_at
    sitting.hold("east")
    assert sitting.table.closes_at == before == at + WINDOW + HOLD
    assert sitting.close_window() == (CALL,)
    assert (sitting.table.phase, sitting.table.outcome) == (Phase.ACCEPTING, Outcome("draw", {}))


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in (Phase.WAITING, Phase.FINISHED)])
def test_nothing_at_the_table_shows_a_hold_neither_then_nor_later(phase: Phase) -> None:
    sitting = sitting_in(phase)
    before = seen(sitting)
    at = sitting.wait()
    sitting.take(ButtonHeld(at=at, seat="south"))
    assert seen(sitting) == before
    if phase is Phase.PLAYING:
        sitting.close_window()
        assert seen(sitting) == before
    if phase is not Phase.CLAIMING:
        assert (sitting.table.calling, sitting.table.discreet) == (True, True)


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.FINISHED])
def test_where_nothing_is_played_nobody_can_be_called_about_it(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert sitting.refusal(ButtonHeld(at=sitting.wait(), seat="south")) == "no_play"


def test_a_discreet_call_is_one_call_however_many_hold_and_goes_with_the_arbiters_word() -> None:
    sitting = sitting_in(Phase.DECLARED)
    assert sitting.take(ButtonHeld(at=sitting.wait(), seat="south")) == (CALL,)
    assert sitting.take(ButtonHeld(at=sitting.wait(), seat="north")) == ()
    assert sitting.take(CallToggled(at=sitting.wait(), open=False)) == (Call(round=1, deal=1, open=False),)
    assert (sitting.table.calling, sitting.table.discreet) == (False, False)


def test_a_call_by_key_beside_a_discreet_one_is_seen_as_if_it_were_the_only_one() -> None:
    sitting, other = sitting_in(Phase.DECLARED), sitting_in(Phase.DECLARED)
    sitting.take(ButtonHeld(at=sitting.wait(), seat="south"))
    assert sitting.take(CallToggled(at=sitting.wait(), open=True)) == ()
    assert other.take(CallToggled(at=other.wait(), open=True)) == (CALL,)
    assert seen(sitting) == seen(other)
    assert seen(sitting).calling


def test_a_hold_beside_an_open_call_tells_nothing_new() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(CallToggled(at=sitting.wait(), open=True))
    sitting.hold("east")
    assert sitting.close_window() == ()
    assert (sitting.table.phase, sitting.table.discreet, seen(sitting).calling) == (Phase.PLAYING, False, True)


def test_a_discreet_call_stays_when_the_next_deal_begins() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.take(ButtonHeld(at=sitting.wait(), seat="south"))
    sitting.next_deal()
    assert (sitting.table.calling, sitting.table.discreet, seen(sitting).calling) == (True, True, False)


# ---- the arbiter's pause ----------------------------------------------------------------------------


def test_in_a_pause_the_window_stands_still_and_what_was_left_of_it_is_left_again() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    deadline = sitting.table.claim_deadline
    assert deadline is not None
    sitting.order("pause", deadline - S)
    assert sitting.refusal(ClaimWindowElapsed(at=deadline + 9 * S)) == "table_paused"
    assert sitting.refusal(PlayEndedDrawn(at=deadline + 9 * S)) == "table_paused"
    sitting.order("resume", deadline + 59 * S)
    assert sitting.table.claim_deadline == deadline + 60 * S
    sitting.take(ButtonPressed(at=deadline + 60 * S - 1, seat="north"))
    assert [one.seat for one in sitting.table.declarations] == ["west", "north"]


@given(st.permutations(["west", "north"]), st.integers(0, 900))
def test_presses_before_a_pause_stand_in_their_order_though_one_is_told_after_it(
    seats: list[Seat], told_late_ms: int
) -> None:
    first, second = seats
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    late = at + told_late_ms * MS
    sitting.take(ButtonPressed(at=at + 500 * MS, seat=first))
    sitting.order("pause", at + S)
    sitting.order("resume", at + 31 * S)
    sitting.take(ButtonPressed(at=late, seat=second))
    edges = sorted([(at + 500 * MS, SEATS.index(first), first), (late, SEATS.index(second), second)])
    assert [one.seat for one in sitting.table.declarations] == [seat for _, _, seat in edges]


@pytest.mark.parametrize("phase", Phase)
def test_a_pause_shows_and_tells_itself_once_and_nothing_else(phase: Phase) -> None:
    sitting = sitting_in(phase)
    before, told = seen(sitting), [] if phase is Phase.WAITING else [Paused]
    assert [type(fact) for fact in sitting.order("pause")] == told
    assert sitting.order("pause") == ()
    assert seen(sitting).paused
    assert [type(fact) for fact in sitting.order("resume")] == told
    assert seen(sitting) == before


def test_an_acceptance_waits_for_the_end_of_the_pause() -> None:
    sitting = sitting_in(Phase.ACCEPTING)
    sitting.order("pause")
    assert [sitting.refusal(ButtonPressed(at=sitting.wait(), seat=seat)) for seat in SEATS] == ["press_in_pause"] * 4
    sitting.order("resume")
    sitting.press(*SEATS)
    assert sitting.table.phase is Phase.RECORDED
