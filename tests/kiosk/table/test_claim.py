"""The silent claim, decided by the times of edges, and calls for the arbiter: a long press is a call and no hu."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Call, Declared, Paused, Press, Seat
from broker.rules import Outcome
from broker.scorer.intake import MOST_OF_A_KIND
from kiosk.screens import CallView, PlayingView, ScreenView, StatusLine, screen_view
from kiosk.table import (
    NotNow,
    Phase,
    Table,
    handle,
)
from kiosk.table.claim import MOST_CALLS
from kiosk.table.events import (
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    CallToggled,
    ClaimWindowElapsed,
    PlayEndedDrawn,
    Restarted,
    ResultRefused,
)
from kiosk.table.state import Declaration
from tests.kiosk.tables import HOLD, MS, SETTLE, WINDOW, S, Sitting, sitting_in


def pressed(table: Table, presses: list[tuple[Seat, int]]) -> tuple[Declaration, ...]:
    """Return who has declared after these presses, including refused ones."""
    for seat, at in presses:
        try:
            table, _ = handle(table, ButtonPressed(at=at, seat=seat))
        except NotNow:
            continue
    return table.declarations


def test_a_first_press_opens_the_window_and_reports_nothing() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    assert sitting.take(ButtonPressed(at=at, seat="west")) == ()
    assert sitting.table.phase is Phase.CLAIMING
    assert sitting.deadline == at + WINDOW


def test_the_window_closes_at_the_profiles_time_and_not_before() -> None:
    sitting = sitting_in(Phase.PLAYING)
    first = sitting.wait()
    sitting.take(ButtonPressed(at=first, seat="west"))
    assert sitting.refusal(ClaimWindowElapsed(at=first + WINDOW - 1)) == "window_still_open"
    (fact,) = sitting.take(ClaimWindowElapsed(at=first + WINDOW))
    assert fact == Declared(round=1, deal=1, presses=(Press(seat="west", after_ms=0),))


def test_declarations_are_reported_in_the_order_of_their_edges() -> None:
    sitting = sitting_in(Phase.PLAYING)
    first = sitting.wait()
    presses_as_they_come: list[tuple[Seat, int]] = [("north", 700 * MS), ("east", 0), ("west", 2_999 * MS)]
    for seat, after in presses_as_they_come:
        sitting.take(ButtonPressed(at=first + after, seat=seat))
    (fact,) = sitting.close_window()
    presses = (Press(seat="east", after_ms=0), Press(seat="north", after_ms=700), Press(seat="west", after_ms=2999))
    assert fact == Declared(round=1, deal=1, presses=presses)


@given(
    st.lists(st.tuples(st.sampled_from(SEATS), st.integers(SETTLE, SETTLE + 2 * WINDOW)), min_size=1, max_size=5),
    st.data(),
)
def test_the_order_of_arrival_does_not_matter(presses: list[tuple[Seat, int]], data: st.DataObject) -> None:
    table = sitting_in(Phase.PLAYING).table
    at_edges = [(seat, table.since + after) for seat, after in presses]
    arrived = data.draw(st.permutations(at_edges))
    assert pressed(table, arrived) == pressed(table, sorted(at_edges, key=lambda one: (one[1], SEATS.index(one[0]))))


def test_simultaneous_presses_are_in_turn_order_whatever_order_they_arrive_in() -> None:
    table = sitting_in(Phase.PLAYING).table
    at = table.since + 5 * S
    both = (Declaration("south", at), Declaration("north", at))
    presses: list[tuple[Seat, int]] = [("south", at), ("north", at)]
    assert pressed(table, presses) == pressed(table, presses[::-1]) == both


def test_an_earlier_press_that_arrives_late_moves_the_window_and_excludes_who_was_too_late() -> None:
    table = sitting_in(Phase.PLAYING).table
    early, late = table.since + 2 * S, table.since + 2 * S + WINDOW
    assert pressed(table, [("west", late), ("east", early)]) == (Declaration("east", early),)


def test_a_second_press_of_a_seat_is_refused() -> None:
    sitting = sitting_in(Phase.CLAIMING)
    assert sitting.refusal(ButtonPressed(at=sitting.wait(MS), seat="west")) == "press_again"


def test_a_press_just_inside_the_window_counts_and_one_at_its_end_does_not() -> None:
    sitting = sitting_in(Phase.CLAIMING)
    deadline = sitting.deadline
    assert deadline is not None
    assert sitting.refusal(ButtonPressed(at=deadline, seat="east")) == "press_after_window"
    sitting.take(ButtonPressed(at=deadline - 1, seat="east"))
    assert [one.seat for one in sitting.table.declarations] == ["west", "north", "east"]


def test_a_second_push_at_the_confirmation_is_no_hu() -> None:
    sitting = sitting_in(Phase.PLAYING)
    begun = sitting.table.since
    assert sitting.refusal(ButtonPressed(at=begun + SETTLE - 1, seat="north")) == "press_too_soon"
    sitting.take(ButtonPressed(at=begun + SETTLE, seat="north"))
    assert sitting.table.declarations == (Declaration("north", begun + SETTLE),)


def test_a_hand_ruled_false_is_dead_for_the_play() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.declare("south")
    sitting.false_hu("south")
    assert sitting.refusal(ButtonPressed(at=sitting.wait(), seat="south")) == "press_of_dead_hand"
    sitting.press("east")
    assert sitting.refusal(ButtonPressed(at=sitting.wait(MS), seat="south")) == "press_of_dead_hand"


def test_a_restart_gives_everybody_the_whole_window_again() -> None:
    sitting = sitting_in(Phase.PLAYING)
    first = sitting.wait()
    sitting.take(ButtonPressed(at=first, seat="east"))
    sitting.take(ButtonPressed(at=first + 2 * S, seat="west"))
    sitting.take(Restarted(at=7 * S))  # another clock, younger than the old
    assert sitting.deadline == 7 * S + WINDOW
    sitting.take(ButtonPressed(at=9 * S, seat="north"))
    sitting.take(ButtonReleased(at=9 * S + 50 * MS, seat="north"))
    (fact,) = sitting.take(ClaimWindowElapsed(at=7 * S + WINDOW))
    presses = (Press(seat="east", after_ms=0), Press(seat="west", after_ms=2000), Press(seat="north", after_ms=4000))
    assert fact == Declared(round=1, deal=1, presses=presses)


def test_a_press_right_after_a_restart_is_not_lost() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(Restarted(at=0))
    sitting.take(ButtonPressed(at=1, seat="east"))
    assert sitting.table.declarations == (Declaration("east", 1),)


def test_all_four_can_declare() -> None:
    sitting = Sitting()
    (fact,) = sitting.declare(*SEATS)
    assert isinstance(fact, Declared)
    assert [(press.seat, press.after_ms) for press in fact.presses] == [
        ("east", 0),
        ("south", 100),
        ("west", 200),
        ("north", 300),
    ]


# ---- "nobody won" -----------------------------------------------------------------------------------


def test_a_draw_is_shown_only_after_the_claim_window_has_closed() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    assert sitting.take(PlayEndedDrawn(at=at)) == ()
    assert (sitting.table.public, sitting.deadline) == ("playing", at + WINDOW)
    assert sitting.close_window() == ()
    assert sitting.table.phase is Phase.ACCEPTING
    assert sitting.table.outcome == Outcome("draw", {})


def test_a_press_after_nobody_won_was_reported_is_a_declaration() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(PlayEndedDrawn(at=sitting.wait()))
    sitting.take(ButtonPressed(at=sitting.wait(WINDOW - 1), seat="south"))
    (fact,) = sitting.close_window()
    assert fact == Declared(round=1, deal=1, presses=(Press(seat="south", after_ms=0),))
    assert (sitting.table.phase, sitting.table.ended) == (Phase.DECLARED, False)


@given(st.lists(st.tuples(st.sampled_from(SEATS), st.integers(0, WINDOW - 1)), max_size=4))
def test_a_press_after_nobody_won_does_not_change_when_the_window_closes(
    presses: list[tuple[Seat, int]],
) -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    sitting.take(PlayEndedDrawn(at=at))
    declared = pressed(sitting.table, [(seat, at + after) for seat, after in presses])
    assert {one.seat for one in declared} == {seat for seat, _ in presses}
    for seat, after in presses:
        if not any(one.seat == seat for one in sitting.table.declarations):
            sitting.take(ButtonPressed(at=at + after, seat=seat))
        assert sitting.deadline == at + WINDOW


@given(
    st.lists(st.tuples(st.sampled_from(SEATS), st.integers(-WINDOW, 2 * WINDOW)), min_size=1, max_size=5),
    st.data(),
)
def test_the_order_of_arrival_does_not_matter_after_nobody_won_was_reported(
    presses: list[tuple[Seat, int]], data: st.DataObject
) -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait(2 * WINDOW)
    sitting.take(PlayEndedDrawn(at=at))
    at_edges = [(seat, at + after) for seat, after in presses]
    shuffled = data.draw(st.permutations(at_edges))
    assert pressed(sitting.table, shuffled) == pressed(sitting.table, sorted(at_edges, key=lambda one: one[1]))


def test_nobody_won_is_refused_in_the_first_second_of_a_play() -> None:
    """Otherwise the second push of a confirmation would be a hu after all."""
    sitting = sitting_in(Phase.PLAYING)
    assert sitting.refusal(PlayEndedDrawn(at=sitting.wait(SETTLE - 1))) == "press_too_soon"


def test_nobody_won_looks_the_same_whether_or_not_somebody_has_pressed() -> None:
    """Otherwise the key would be a way to ask who has."""
    seen = []
    for pressing in ((), ("west",), ("north", "east")):
        sitting = sitting_in(Phase.PLAYING)
        sitting.press(*pressing)
        sitting.take(PlayEndedDrawn(at=sitting.wait(100 * MS)))
        seen.append(screen_view(1, sitting.table, None, StatusLine(), None))
    assert seen[0].phase == PlayingView(ended=True)
    assert seen[1:] == [seen[0], seen[0]]


def test_reporting_nobody_won_does_not_prolong_an_open_window() -> None:
    sitting = sitting_in(Phase.CLAIMING)
    before = sitting.deadline
    sitting.take(PlayEndedDrawn(at=sitting.wait(100 * MS)))
    assert (sitting.deadline, sitting.table.ended) == (before, True)


def test_a_refused_draw_returns_to_the_play() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.draw()
    sitting.take(ResultRefused(at=sitting.wait()))
    assert (sitting.table.phase, sitting.table.ended) == (Phase.PLAYING, False)


CALL = Call(round=1, deal=1, open=True)


def seen(sitting: Sitting) -> ScreenView:
    return screen_view(1, sitting.table, None, StatusLine(), None)


def test_a_hold_is_reported_when_its_window_would_be_over_and_the_play_goes_on() -> None:
    sitting = sitting_in(Phase.PLAYING)
    before, began = seen(sitting), sitting.table.since
    at = sitting.hold("west")
    assert (sitting.table.phase, sitting.table.declarations, sitting.table.calling) == (Phase.CLAIMING, (), False)
    assert sitting.refusal(ClaimWindowElapsed(at=at + WINDOW - 1)) == "window_still_open"
    assert sitting.take(ClaimWindowElapsed(at=at + WINDOW)) == (CALL,)
    assert (sitting.table.phase, sitting.table.since) == (Phase.PLAYING, began)
    assert seen(sitting) == before


def test_a_hold_is_no_hu_and_the_window_begins_with_the_first_press_that_is_one() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    sitting.take(ButtonPressed(at=at, seat="west"))
    sitting.take(ButtonPressed(at=at + 500 * MS, seat="north"))
    sitting.take(ButtonReleased(at=at + 600 * MS, seat="north"))
    sitting.take(ButtonHeld(at=at, seat="west"))
    assert sitting.deadline == at + 500 * MS + WINDOW
    assert sitting.close_window() == (Declared(round=1, deal=1, presses=(Press(seat="north", after_ms=0),)), CALL)


def test_a_press_too_late_for_the_window_of_a_call_is_in_time_for_the_next() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    presses: list[tuple[Seat, int]] = [("west", at), ("north", at + 1900 * MS), ("east", at + WINDOW + S)]
    for seat, edge in presses:
        sitting.take(ButtonPressed(at=edge, seat=seat))
        if seat != "west":
            sitting.take(ButtonReleased(at=edge + 50 * MS, seat=seat))
    sitting.take(ButtonHeld(at=at, seat="west"))
    assert [one.seat for one in sitting.table.declarations] == ["north", "east"]


def test_a_finger_down_at_the_last_instant_is_waited_for_and_may_still_call() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    deadline = sitting.deadline
    assert deadline is not None
    last = deadline - 1
    sitting.take(ButtonPressed(at=last, seat="north"))
    assert sitting.refusal(ClaimWindowElapsed(at=last + HOLD - 1)) == "window_still_open"
    sitting.take(ButtonHeld(at=last, seat="north"))
    assert sitting.take(ClaimWindowElapsed(at=deadline + HOLD)) == (
        Declared(round=1, deal=1, presses=(Press(seat="west", after_ms=0),)),
        CALL,
    )


def test_a_finger_released_after_the_deadline_is_no_longer_waited_for() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    deadline = sitting.deadline
    assert deadline is not None
    sitting.take(ButtonPressed(at=deadline - 1, seat="north"))
    sitting.take(ButtonReleased(at=deadline + 80 * MS, seat="north"))
    assert sitting.table.closes_at == deadline
    (fact,) = sitting.close_window()
    assert isinstance(fact, Declared)
    assert [press.seat for press in fact.presses] == ["west", "north"]


def test_a_hold_reported_after_the_window_closed_calls_and_its_declaration_stays() -> None:
    """The table has already shown it; the arbiter comes and can rule it false."""
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    sitting.take(ButtonPressed(at=at, seat="west"))
    sitting.close_window()
    assert sitting.take(ButtonHeld(at=at, seat="west")) == (CALL,)
    assert [one.seat for one in sitting.table.declarations] == ["west"]


def test_a_dead_hand_and_a_seat_that_has_declared_may_call_too() -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    sitting.hold("south")
    assert sitting.close_window() == (CALL,)
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    sitting.hold("west")
    assert [type(fact) for fact in sitting.close_window()] == [Declared, Call]


def test_after_nobody_won_a_hold_does_not_change_when_the_draw_is_shown() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    sitting.take(PlayEndedDrawn(at=at))
    before = sitting.table.closes_at
    sitting.hold("east")
    assert sitting.table.closes_at == before == at + WINDOW + HOLD
    assert sitting.close_window() == (CALL,)
    assert (sitting.table.phase, sitting.table.outcome) == (Phase.ACCEPTING, Outcome("draw", {}))


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in (Phase.WAITING, Phase.FINISHED)])
def test_nothing_at_the_table_ever_shows_a_hold(phase: Phase) -> None:
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
def test_without_a_play_nobody_can_be_called(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert sitting.refusal(ButtonHeld(at=sitting.wait(), seat="south")) == "no_play"


def test_a_discreet_call_is_one_call_until_the_arbiter_clears_it() -> None:
    sitting = sitting_in(Phase.DECLARED)
    assert sitting.take(ButtonHeld(at=sitting.wait(), seat="south")) == (CALL,)
    assert sitting.take(ButtonHeld(at=sitting.wait(), seat="north")) == ()
    assert sitting.take(CallToggled(at=sitting.wait(), open=False)) == (Call(round=1, deal=1, open=False),)
    assert (sitting.table.calling, sitting.table.discreet) == (False, False)


def test_an_open_call_after_a_discreet_one_looks_as_if_it_were_the_only_one() -> None:
    sitting, other = sitting_in(Phase.DECLARED), sitting_in(Phase.DECLARED)
    sitting.take(ButtonHeld(at=sitting.wait(), seat="south"))
    assert sitting.take(CallToggled(at=sitting.wait(), open=True)) == ()
    assert other.take(CallToggled(at=other.wait(), open=True)) == (CALL,)
    assert seen(sitting) == seen(other)
    assert seen(sitting).call


def test_a_hold_during_an_open_call_reports_nothing_new() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(CallToggled(at=sitting.wait(), open=True))
    sitting.hold("east")
    assert sitting.close_window() == ()
    assert (sitting.table.phase, sitting.table.discreet, seen(sitting).call) == (Phase.PLAYING, False, CallView())


def test_a_discreet_call_stays_when_the_next_deal_begins() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.take(ButtonHeld(at=sitting.wait(), seat="south"))
    sitting.next_deal()
    assert (sitting.table.calling, sitting.table.discreet, seen(sitting).call) == (True, True, None)


# ---- the arbiter's pause ----------------------------------------------------------------------------


def test_a_pause_stops_the_window_and_then_its_remaining_time_runs() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.press("west")
    deadline = sitting.deadline
    assert deadline is not None
    sitting.order("pause", deadline - S)
    assert sitting.refusal(ClaimWindowElapsed(at=deadline + 9 * S)) == "table_paused"
    assert sitting.refusal(PlayEndedDrawn(at=deadline + 9 * S)) == "table_paused"
    sitting.order("resume", deadline + 59 * S)
    assert sitting.deadline == deadline + 60 * S
    sitting.take(ButtonPressed(at=deadline + 60 * S - 1, seat="north"))
    assert [one.seat for one in sitting.table.declarations] == ["west", "north"]


@given(st.permutations(["west", "north"]), st.integers(0, 900))
def test_presses_before_a_pause_keep_their_order_even_if_reported_after_it(
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
def test_a_pause_is_shown_and_reported_once_and_changes_nothing_else(phase: Phase) -> None:
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


def test_endless_calls_are_all_shown_but_reported_less_often_than_the_scorer_accepts() -> None:
    sitting = sitting_in(Phase.PLAYING)
    told = 0
    for _ in range(3 * MOST_CALLS):
        told += len(sitting.take(CallToggled(at=sitting.wait(), open=True)))
        assert sitting.table.calling
        told += len(sitting.take(CallToggled(at=sitting.wait(), open=False)))
    assert told == 2 * MOST_CALLS < MOST_OF_A_KIND
