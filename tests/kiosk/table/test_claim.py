"""The silent claim: who has declared is decided by the edges' times, never by the order in which they come."""

from hypothesis import given
from hypothesis import strategies as st

from broker.contract.facts import Declared, Press
from broker.contract.words import SEATS, Seat
from broker.rules.points import Outcome
from kiosk.screens.shown import Line, shown
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    ButtonPressed,
    ButtonReleased,
    ClaimWindowElapsed,
    PlayEndedDrawn,
    Restarted,
    ResultRefused,
)
from kiosk.table.machine import handle
from kiosk.table.state import Declaration, Phase, Table
from tests.kiosk.tables import MS, SETTLE, WINDOW, S, Sitting, sitting_in


def pressed(table: Table, presses: list[tuple[Seat, int]]) -> tuple[Declaration, ...]:
    """Give who has declared after these presses, refused ones and all."""
    for seat, at in presses:
        try:
            table, _ = handle(table, ButtonPressed(at=at, seat=seat))
        except NotNow:
            continue
    return table.declarations


def test_a_first_press_opens_the_window_and_tells_nothing() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    assert sitting.take(ButtonPressed(at=at, seat="west")) == ()
    assert sitting.table.phase is Phase.CLAIMING
    assert sitting.table.claim_deadline == at + WINDOW


def test_the_window_closes_at_the_profiles_time_and_not_before() -> None:
    sitting = sitting_in(Phase.PLAYING)
    first = sitting.wait()
    sitting.take(ButtonPressed(at=first, seat="west"))
    assert sitting.refusal(ClaimWindowElapsed(at=first + WINDOW - 1)) == "window_still_open"
    (fact,) = sitting.take(ClaimWindowElapsed(at=first + WINDOW))
    assert fact == Declared(round=1, deal=1, presses=(Press(seat="west", after_ms=0),))


def test_declarations_are_told_in_the_order_of_their_edges() -> None:
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


def test_two_presses_of_the_same_instant_stand_in_turn_order_however_they_come() -> None:
    table = sitting_in(Phase.PLAYING).table
    at = table.since + 5 * S
    both = (Declaration("south", at), Declaration("north", at))
    presses: list[tuple[Seat, int]] = [("south", at), ("north", at)]
    assert pressed(table, presses) == pressed(table, presses[::-1]) == both


def test_an_earlier_press_that_comes_late_moves_the_window_and_puts_out_who_was_too_late() -> None:
    table = sitting_in(Phase.PLAYING).table
    early, late = table.since + 2 * S, table.since + 2 * S + WINDOW
    assert pressed(table, [("west", late), ("east", early)]) == (Declaration("east", early),)


def test_a_second_press_of_a_seat_is_refused() -> None:
    sitting = sitting_in(Phase.CLAIMING)
    assert sitting.refusal(ButtonPressed(at=sitting.wait(MS), seat="west")) == "press_again"


def test_a_press_just_inside_the_window_counts_and_one_at_its_end_does_not() -> None:
    sitting = sitting_in(Phase.CLAIMING)
    deadline = sitting.table.claim_deadline
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


def test_a_hand_that_was_found_false_is_dead_for_the_play() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.declare("south")
    sitting.false_hu("south")
    assert sitting.refusal(ButtonPressed(at=sitting.wait(), seat="south")) == "press_of_dead_hand"
    sitting.press("east")
    assert sitting.refusal(ButtonPressed(at=sitting.wait(MS), seat="south")) == "press_of_dead_hand"


def test_a_restart_in_the_window_gives_everybody_the_whole_window_again() -> None:
    sitting = sitting_in(Phase.PLAYING)
    first = sitting.wait()
    sitting.take(ButtonPressed(at=first, seat="east"))
    sitting.take(ButtonPressed(at=first + 2 * S, seat="west"))
    sitting.take(Restarted(at=7 * S))  # another clock, younger than the old
    assert sitting.table.claim_deadline == 7 * S + WINDOW
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


def test_a_draw_is_shown_only_when_the_claim_window_has_closed() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait()
    assert sitting.take(PlayEndedDrawn(at=at)) == ()
    assert (sitting.table.public, sitting.table.claim_deadline) == ("playing", at + WINDOW)
    assert sitting.close_window() == ()
    assert sitting.table.phase is Phase.ACCEPTING
    assert sitting.table.outcome == Outcome("draw", {})


def test_a_press_after_nobody_won_was_said_is_a_declaration() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(PlayEndedDrawn(at=sitting.wait()))
    sitting.take(ButtonPressed(at=sitting.wait(WINDOW - 1), seat="south"))
    (fact,) = sitting.close_window()
    assert fact == Declared(round=1, deal=1, presses=(Press(seat="south", after_ms=0),))
    assert (sitting.table.phase, sitting.table.ended) == (Phase.DECLARED, False)


@given(st.lists(st.tuples(st.sampled_from(SEATS), st.integers(0, WINDOW - 1)), max_size=4))
def test_a_press_after_nobody_won_was_said_does_not_show_in_when_the_window_closes(
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
        assert sitting.table.claim_deadline == at + WINDOW


@given(
    st.lists(st.tuples(st.sampled_from(SEATS), st.integers(-WINDOW, 2 * WINDOW)), min_size=1, max_size=5),
    st.data(),
)
def test_the_order_of_arrival_does_not_matter_after_nobody_won_was_said(
    presses: list[tuple[Seat, int]], data: st.DataObject
) -> None:
    sitting = sitting_in(Phase.PLAYING)
    at = sitting.wait(2 * WINDOW)
    sitting.take(PlayEndedDrawn(at=at))
    at_edges = [(seat, at + after) for seat, after in presses]
    shuffled = data.draw(st.permutations(at_edges))
    assert pressed(sitting.table, shuffled) == pressed(sitting.table, sorted(at_edges, key=lambda one: one[1]))


def test_in_the_first_second_of_a_play_it_is_not_over() -> None:
    """Else the second push of a confirmation would be a hu after all."""
    sitting = sitting_in(Phase.PLAYING)
    assert sitting.refusal(PlayEndedDrawn(at=sitting.wait(SETTLE - 1))) == "press_too_soon"


def test_that_nobody_won_is_seen_alike_whether_or_not_somebody_has_pressed() -> None:
    """Else the key would be a way to ask who has."""
    seen = []
    for pressing in ((), ("west",), ("north", "east")):
        sitting = sitting_in(Phase.PLAYING)
        sitting.press(*pressing)
        sitting.take(PlayEndedDrawn(at=sitting.wait(100 * MS)))
        seen.append(shown(1, sitting.table, None, Line(), None))
    assert seen[0].ended
    assert seen[1:] == [seen[0], seen[0]]


def test_an_open_window_is_not_made_longer_by_saying_that_nobody_won() -> None:
    sitting = sitting_in(Phase.CLAIMING)
    before = sitting.table.claim_deadline
    sitting.take(PlayEndedDrawn(at=sitting.wait(100 * MS)))
    assert (sitting.table.claim_deadline, sitting.table.ended) == (before, True)


def test_a_draw_that_is_not_accepted_goes_back_to_the_play() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.draw()
    sitting.take(ResultRefused(at=sitting.wait()))
    assert (sitting.table.phase, sitting.table.ended) == (Phase.PLAYING, False)
