"""The state machine: what a press means in every phase, what holds on every day, and its diagram in docs/."""

import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import (
    ARBITER_FACTS,
    SEATS,
    Adjusted,
    Call,
    Confirmed,
    Declared,
    Fact,
    FineRuled,
    Overridden,
    Reopen,
    Restored,
    Result,
    Ruled,
    Seated,
    Void,
)
from kiosk.table import (
    Event,
    Phase,
    Table,
    handle,
)
from kiosk.table.diagram import diagram
from kiosk.table.events import ButtonPressed, Restarted, ResultRefused
from kiosk.table.machine import RIICHI, RULES
from tests.kiosk.table.days import MOVES, Move, Step, days, walk
from tests.kiosk.table.timeless import without_times
from tests.kiosk.tables import HOLD, MS, SETTLE, WINDOW, S, Sitting, sitting_in

TAKEN: Final = ""


def claiming(*, down: bool = False) -> Sitting:
    """Return a play in which west has pressed."""
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(ButtonPressed(at=sitting.wait(), seat="west"))
    if not down:
        sitting = sitting_in(Phase.PLAYING)
        sitting.press("west")
    return sitting


def opened(sitting: Sitting) -> int:
    assert sitting.table.window is not None
    return sitting.table.window.opened_at


def code(sitting: Sitting, seat_at: int, at: int) -> str:
    return sitting.refusal(ButtonPressed(at=at, seat=SEATS[seat_at]))


EAST, SOUTH, WEST, NORTH = range(4)

REFUSED_IN: Final[dict[Phase, str]] = {
    Phase.WAITING: "press_before_play",
    Phase.RESTORING: TAKEN,
    Phase.SEATING: TAKEN,
    Phase.CONFIRMING: TAKEN,
    Phase.PLAYING: TAKEN,
    Phase.CLAIMING: TAKEN,
    Phase.DECLARED: "press_after_window",
    Phase.ACCEPTING: TAKEN,
    Phase.RECORDED: "press_after_play",
    Phase.FINISHED: "press_after_play",
}
"""The code for a first press of an unimpeded seat, long after the phase began (with the window still open)."""


@pytest.mark.parametrize("phase", Phase)
def test_a_press_is_accepted_or_refused_by_phase(phase: Phase) -> None:
    sitting = sitting_in(phase)
    wait = 500 * MS if phase is Phase.CLAIMING else 2 * S
    assert code(sitting, EAST, sitting.now + wait) == REFUSED_IN[phase]


TOO_SOON_IN: Final[dict[Phase, str]] = {
    **REFUSED_IN,
    Phase.RESTORING: "press_too_soon",
    Phase.SEATING: "press_too_soon",
    Phase.CONFIRMING: "press_too_soon",
    Phase.PLAYING: "press_too_soon",
    Phase.ACCEPTING: "press_too_soon",
}


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.CLAIMING])
def test_a_press_in_the_first_second_of_a_screen_does_not_count(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert code(sitting, EAST, sitting.table.since + SETTLE - 1) == TOO_SOON_IN[phase]


@pytest.mark.parametrize("phase", Phase)
def test_a_press_during_a_pause_is_refused_even_if_reported_after_it(phase: Phase) -> None:
    sitting = sitting_in(phase)
    sitting.order("pause", sitting.wait(100 * MS))
    in_pause = sitting.wait(1 * S)
    assert code(sitting, EAST, in_pause) == "press_in_pause"
    sitting.order("resume", sitting.wait(1 * S))
    assert code(sitting, EAST, in_pause) == "press_in_pause"


@pytest.mark.parametrize("phase", [phase for phase in Phase if REFUSED_IN[phase] == TAKEN])
def test_a_press_just_outside_a_pause_counts_as_usual(phase: Phase) -> None:
    sitting = sitting_in(phase)
    began = sitting.wait(1500 * MS if phase is not Phase.CLAIMING else 100 * MS)
    sitting.order("pause", began)
    assert code(sitting, EAST, began - 1) == TAKEN
    sitting.order("resume", began + 9 * S)
    assert (code(sitting, EAST, began - 1), code(sitting, EAST, began + 9 * S)) == (TAKEN, TAKEN)


@pytest.mark.parametrize("phase", [Phase.PLAYING, Phase.CLAIMING, Phase.DECLARED])
def test_a_press_of_a_dead_hand_is_refused(phase: Phase) -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    if phase is not Phase.PLAYING:
        sitting.press("east")
    before_the_close = sitting.now
    if phase is Phase.DECLARED:
        sitting.close_window()
    assert sitting.table.phase is phase
    assert code(sitting, SOUTH, before_the_close if phase is Phase.DECLARED else sitting.wait()) == "press_of_dead_hand"


AT: Final[dict[str, tuple[Callable[[Sitting], int], str]]] = {
    "before the play": (lambda sitting: sitting.table.since - 1, "press_before_play"),
    "as the play began": (lambda sitting: sitting.table.since, "press_too_soon"),
    "before the first press": (lambda sitting: opened(sitting) - 1, TAKEN),
    "with the first press": (opened, TAKEN),
    "just inside": (lambda sitting: opened(sitting) + WINDOW - 1, TAKEN),
    "just outside": (lambda sitting: opened(sitting) + WINDOW, "press_after_window"),
    "long after": (lambda sitting: opened(sitting) + 60 * S, "press_after_window"),
}


@pytest.mark.parametrize("when", AT)
def test_a_press_counts_if_it_is_within_the_window_of_an_earlier_hu(when: str) -> None:
    at, expected = AT[when]
    sitting = claiming()
    assert code(sitting, EAST, at(sitting)) == expected


@pytest.mark.parametrize("when", AT)
def test_a_press_too_late_for_a_possible_call_is_stored_for_the_next_window(when: str) -> None:
    at, expected = AT[when]
    sitting = claiming(down=True)
    assert code(sitting, EAST, at(sitting)) == (TAKEN if expected == "press_after_window" else expected)


@pytest.mark.parametrize(
    ("after", "expected"), [(-1, TAKEN), (0, "press_again"), (MS, "press_again"), (WINDOW, "press_again")]
)
@pytest.mark.parametrize("down", [False, True])
def test_a_second_press_of_a_seat_counts_only_if_it_is_earlier(after: int, expected: str, *, down: bool) -> None:
    sitting = claiming(down=down)
    assert code(sitting, WEST, opened(sitting) + after) == expected


@pytest.mark.parametrize("result", ["declared", "accepting"])
@pytest.mark.parametrize(
    ("seat", "before", "expected"),
    [(WEST, 1, "press_again"), (EAST, 1, "press_told_late"), (EAST, 0, "press_after_window")],
)
def test_a_press_reported_after_the_window_closed_is_refused(
    result: str, seat: int, before: int, expected: str
) -> None:
    """It can be neither a hu, as the table has seen who declared, nor the acceptance of a result."""
    sitting = claiming()
    deadline = sitting.deadline
    assert deadline is not None
    sitting.close_window()
    if result == "accepting":
        sitting.value("north", west=8)
        expected = expected if before else "press_too_soon"
    assert code(sitting, seat, deadline - before) == expected


def test_a_press_before_a_drawn_hand_was_shown_accepts_nothing() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.draw()
    assert sitting.table.phase is Phase.ACCEPTING
    assert sitting.table.closed_at is not None
    assert code(sitting, EAST, sitting.table.closed_at - 1) == "press_told_late"
    assert code(sitting, EAST, sitting.table.closed_at + HOLD) == "press_too_soon"


def test_a_press_from_before_a_false_hu_does_not_count_in_the_resumed_play() -> None:
    sitting = claiming()
    told_late = sitting.now
    sitting.close_window()
    sitting.false_hu("west")
    assert code(sitting, EAST, told_late) == "press_before_play"
    sitting.take(ButtonPressed(at=sitting.wait(), seat="east"))


def test_no_refused_press_changes_anything() -> None:
    for phase in Phase:
        sitting = sitting_in(phase)
        before = deepcopy(sitting.table)
        for at in (0, sitting.table.since, sitting.now, sitting.now + 60 * S):
            for seat in range(4):
                code(sitting, seat, at)
        assert sitting.table == before


def test_after_a_refused_draw_presses_count_again() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.draw()
    sitting.take(ResultRefused(at=sitting.wait()))
    assert code(sitting, EAST, sitting.now + SETTLE) == TAKEN


LETTER = {Restored: "r", Seated: "s", Overridden: "o", Confirmed: "c", Declared: "d", Result: "R"}

PLAY = re.compile(r"o*(r(s+(c[do]*(R(O[do]*R)*(O[do]*)?)?)?)?)?(vf*)*")
"""A second result comes only after the arbiter has reopened the first; only fines follow a voided play."""


def letter(fact: Fact) -> str:
    if isinstance(fact, Ruled):
        if isinstance(fact.decision, FineRuled) and fact.decision.infraction:
            return ""  # an infraction may be ruled at any time
        return {Reopen: "O", Void: "v", Adjusted: "v", FineRuled: "f"}[type(fact.decision)]
    return LETTER[type(fact)]


def facts_by_play(steps: list[Step]) -> dict[int, list[Fact]]:
    found: dict[int, list[Fact]] = {}
    for step in steps:
        for fact in step.facts:
            if not isinstance(fact, (Call, *ARBITER_FACTS)):
                found.setdefault(fact.round, []).append(fact)
    return found


@given(days)
def test_a_refused_event_changes_nothing_and_has_a_code(steps: list[Step]) -> None:
    for step in steps:
        if step.code is not None:
            assert step.after == step.before
            assert re.fullmatch(r"[a-z][a-z_]+", step.code)


@given(days)
def test_events_lead_only_to_the_phases_that_the_rules_name(steps: list[Step]) -> None:
    for step in steps:
        if step.code is None:
            (rule,) = [one for one in RULES if one.event is type(step.event) and step.before.phase in one.phases]
            assert step.after.phase in {step.before.phase, *rule.leads_to}


@given(days)
def test_replaying_the_journal_gives_the_same_table(steps: list[Step]) -> None:
    written = [msgspec.json.encode(step.event) for step in steps if step.code is None]
    state = Table()
    for line in written:
        state, _ = handle(state, msgspec.json.decode(line, type=Event))
    assert state == steps[-1].after


@given(days)
def test_facts_of_a_play_come_in_order_and_its_result_once(steps: list[Step]) -> None:
    for facts in facts_by_play(steps).values():
        assert PLAY.fullmatch("".join(letter(fact) for fact in facts))


@given(days)
def test_no_play_begins_before_all_four_trays_were_right(steps: list[Step]) -> None:
    for step in steps:
        if step.after.phase not in (Phase.WAITING, Phase.RESTORING, Phase.FINISHED) and not step.after.ruled:
            assert step.after.verified == set(SEATS)


@given(days)
def test_only_presses_of_four_different_seats_record_a_result(steps: list[Step]) -> None:
    pressed: set[str] = set()
    for step in steps:
        if step.before.phase is not Phase.ACCEPTING:
            pressed = set()
        elif isinstance(step.event, ButtonPressed) and step.code is None:
            pressed.add(step.event.seat)
        recorded = step.after.phase is Phase.RECORDED and not step.after.ruled
        if recorded and step.before.phase is not Phase.RECORDED:
            assert (step.before.phase, pressed) == (Phase.ACCEPTING, set(SEATS))


@given(days)
def test_an_open_claim_window_is_published_as_playing(steps: list[Step]) -> None:
    for step in steps:
        assert step.after.public == ("playing" if step.after.phase is Phase.CLAIMING else step.after.phase.value)


@given(days, st.integers(0, 10**15), st.integers(0, 10**15))
def test_a_restart_at_any_time_loses_nothing_and_a_second_one_is_harmless(
    steps: list[Step], one: int, two: int
) -> None:
    for step in steps:
        once, facts = handle(step.after, Restarted(at=one))
        twice, more = handle(once, Restarted(at=two))
        assert without_times(once) == without_times(twice) == without_times(step.after)
        assert (facts, more) == ((), ())
        assert handle(once, Restarted(at=one)) == (once, ())


@given(days, st.integers(0, 10**15))
def test_a_restart_on_the_same_clock_moves_no_times_and_gives_the_whole_window_again(
    steps: list[Step], at: int
) -> None:
    for before in (step.after for step in steps):
        after, facts = handle(before, Restarted(at=at, same_clock=True))
        assert (facts, without_times(after)) == ((), without_times(before))
        assert (after.since, after.closed_at, after.pause) == (before.since, before.closed_at, before.pause)
        restarted = (before.window and before.window.reopened_at) or 0
        if before.window and after.window and not before.paused and at >= restarted:  # no clock runs backwards
            assert after.window.presses == before.window.presses
            assert after.window.deadline == max(at, before.window.opened_at) + WINDOW


@pytest.mark.parametrize("phase", [*Phase])
def test_an_event_without_a_rule_for_the_phase_is_refused(phase: Phase) -> None:
    start = sitting_in(phase).table
    for kind in MOVES:
        (step,) = walk([Move(kind, "east", 500 * S)], start)
        ruled = any(rule.event is type(step.event) and phase in rule.phases for rule in RULES)
        assert ruled or step.code is not None


def test_doing_only_what_the_table_waits_for_leads_through_all_phases_to_the_end() -> None:
    steps = walk([Move("forward", "east", 2 * S)] * 40)
    assert {step.after.phase for step in steps} | {steps[0].before.phase} == set(Phase)
    assert steps[-1].after.phase is Phase.FINISHED


PAGE = Path(__file__).parents[3] / "docs" / "table-states.md"


def test_the_page_matches_the_machine() -> None:
    assert PAGE.read_text(encoding="utf-8") == diagram(), "stale: make docs"


def test_every_phase_is_drawn_and_no_other() -> None:
    drawn = set(re.findall(r"^    (\w+) -->|--> (\w+)(?::|$)", diagram(), flags=re.MULTILINE))
    assert {name for pair in drawn for name in pair if name} == {phase.value for phase in Phase}


def test_every_event_has_a_rule() -> None:
    assert {rule.event for rule in (*RULES, *RIICHI)} == {*Event.__args__}
