"""What holds on every day, whatever happens at the table."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.facts import (
    OF_ARBITERS,
    Call,
    Confirmed,
    Declared,
    Fact,
    Overridden,
    Restored,
    Result,
    Ruled,
    Seated,
)
from broker.contract.rulings import Adjusted, FineRuled, Reopen, Void
from broker.contract.words import SEATS
from kiosk.table.events import ButtonPressed, Event, Restarted
from kiosk.table.machine import RULES, handle
from kiosk.table.state import Phase, Table
from tests.kiosk.table.days import MOVES, Move, Step, days, walk
from tests.kiosk.table.timeless import without_times
from tests.kiosk.tables import WINDOW, S, sitting_in

LETTER = {Restored: "r", Seated: "s", Overridden: "o", Confirmed: "c", Declared: "d", Result: "R"}

PLAY = re.compile(r"o*(r(s+(c[do]*(R(O[do]*R)*(O[do]*)?)?)?)?)?(vf*)*")
"""A second result comes only where the arbiter has reopened the first; nothing but fines follows on a void play."""


def letter(fact: Fact) -> str:
    if isinstance(fact, Ruled):
        return {Reopen: "O", Void: "v", Adjusted: "v", FineRuled: "f"}[type(fact.decision)]
    return LETTER[type(fact)]


def facts_by_play(steps: list[Step]) -> dict[int, list[Fact]]:
    found: dict[int, list[Fact]] = {}
    for step in steps:
        for fact in step.facts:
            if not isinstance(fact, (Call, *OF_ARBITERS)):
                found.setdefault(fact.round, []).append(fact)
    return found


@given(days)
def test_a_refused_event_changes_nothing_and_has_a_code(steps: list[Step]) -> None:
    for step in steps:
        if step.code is not None:
            assert step.after == step.before
            assert re.fullmatch(r"[a-z][a-z_]+", step.code)


@given(days)
def test_an_event_leads_where_the_table_of_rules_says(steps: list[Step]) -> None:
    for step in steps:
        if step.code is None:
            (rule,) = [one for one in RULES if one.event is type(step.event) and step.before.phase in one.phases]
            assert step.after.phase in {step.before.phase, *rule.leads_to}


@given(days)
def test_the_journal_played_again_gives_the_same_table(steps: list[Step]) -> None:
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
def test_no_play_begins_before_all_four_trays_were_seen_right(steps: list[Step]) -> None:
    for step in steps:
        if step.after.phase not in (Phase.WAITING, Phase.RESTORING, Phase.FINISHED) and not step.after.ruled:
            assert step.after.verified == set(SEATS)


@given(days)
def test_only_four_different_seats_presses_record_a_result(steps: list[Step]) -> None:
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
def test_an_open_claim_window_is_told_as_playing(steps: list[Step]) -> None:
    for step in steps:
        assert step.after.public == ("playing" if step.after.phase is Phase.CLAIMING else step.after.phase.value)


@given(days, st.integers(0, 10**15), st.integers(0, 10**15))
def test_a_restart_at_any_moment_loses_nothing_and_a_second_is_harmless(steps: list[Step], one: int, two: int) -> None:
    for step in steps:
        once, facts = handle(step.after, Restarted(at=one))
        twice, more = handle(once, Restarted(at=two))
        assert without_times(once) == without_times(twice) == without_times(step.after)
        assert (facts, more) == ((), ())
        assert handle(once, Restarted(at=one)) == (once, ())


@given(days, st.integers(0, 10**15))
def test_a_restart_on_the_same_clock_moves_no_time_and_gives_the_whole_window_again(steps: list[Step], at: int) -> None:
    for before in (step.after for step in steps):
        after, facts = handle(before, Restarted(at=at, same_clock=True))
        assert (facts, without_times(after)) == ((), without_times(before))
        assert (after.since, after.closed_at, after.pause) == (before.since, before.closed_at, before.pause)
        restarted = (before.window and before.window.reopened_at) or 0
        if before.window and after.window and not before.paused and at >= restarted:  # no clock runs backwards
            assert after.window.contacts == before.window.contacts
            assert after.window.deadline == max(at, before.window.opened_at) + WINDOW


@pytest.mark.parametrize("phase", [*Phase])
def test_an_event_that_no_rule_has_for_a_phase_is_refused(phase: Phase) -> None:
    start = sitting_in(phase).table
    for kind in MOVES:
        (step,) = walk([Move(kind, "east", 500 * S)], start)
        ruled = any(rule.event is type(step.event) and phase in rule.phases for rule in RULES)
        assert ruled or step.code is not None


def test_who_only_does_what_the_table_waits_for_comes_through_all_phases_to_the_end() -> None:
    steps = walk([Move("forward", "east", 2 * S)] * 40)
    assert {step.after.phase for step in steps} | {steps[0].before.phase} == set(Phase)
    assert steps[-1].after.phase is Phase.FINISHED
