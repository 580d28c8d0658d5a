"""The self-test as far as it is the table's: when it may be, and that no button means anything then."""

import pytest

from broker.contract.words import SEATS
from kiosk.table.arbiter import AT_THE_TABLE
from kiosk.table.events import (
    ArbiterAdmitted,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    PauseRuled,
    SelfTestBegun,
    SelfTestEnded,
)
from kiosk.table.machine import handle
from kiosk.table.self_test import BEFORE_PLAY, IDLE, PLAY
from kiosk.table.state import Phase, Table
from tests.kiosk.tables import S, Sitting, plan, play, sitting_in


def ruled(sitting: Sitting) -> Sitting:
    """Let an arbiter in."""
    sitting.take(ArbiterAdmitted(at=sitting.wait(), by=AT_THE_TABLE))
    return sitting


def running_in(phase: Phase) -> Sitting:
    """Come to a self-test that the arbiter has asked for; a play is paused for it."""
    sitting = ruled(sitting_in(phase))
    if phase in PLAY:
        sitting.take(PauseRuled(at=sitting.wait(), begin=True))
    sitting.take(SelfTestBegun(at=sitting.wait(), asked=True))
    assert sitting.table.self_test == "running"
    return sitting


@pytest.mark.parametrize("phase", Phase)
def test_where_something_is_played_only_the_arbiter_asks_for_it(phase: Phase) -> None:
    sitting = sitting_in(phase)
    refused = sitting.refusal(SelfTestBegun(at=sitting.wait(), asked=True))
    assert refused == ("" if phase in IDLE else "arbiter_needed")


@pytest.mark.parametrize("phase", PLAY)
def test_in_a_play_the_arbiter_pauses_first(phase: Phase) -> None:
    sitting = ruled(sitting_in(phase))
    assert sitting.refusal(SelfTestBegun(at=sitting.wait(), asked=True)) == "not_now"
    running_in(phase)


@pytest.mark.parametrize("phase", Phase)
def test_a_day_begins_with_it_only_before_a_play(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert sitting.refusal(SelfTestBegun(at=sitting.wait())) == ("" if phase in BEFORE_PLAY else "not_now")


@pytest.mark.parametrize("phase", Phase)
def test_no_button_means_anything_while_it_runs(phase: Phase) -> None:
    sitting = running_in(phase)
    in_pause = "press_in_pause" if phase in PLAY else "press_in_test"
    for seat in SEATS:
        assert sitting.refusal(ButtonPressed(at=sitting.wait(), seat=seat)) == in_pause
        assert sitting.refusal(ButtonHeld(at=sitting.wait(), seat=seat)) == "press_in_test"


@pytest.mark.parametrize("phase", Phase)
def test_after_it_the_table_stands_where_it_stood(phase: Phase) -> None:
    sitting = running_in(phase)
    before = sitting.table
    sitting.take(SelfTestEnded(at=sitting.wait(), verdict="passed"))
    assert (before.self_test, sitting.table.self_test) == ("running", "passed")
    assert sitting.refusal(SelfTestEnded(at=sitting.wait(), verdict="passed")) == "not_now"
    assert {name for name in Table.__slots__ if getattr(before, name) != getattr(sitting.table, name)} == {"self_test"}


@pytest.mark.parametrize("phase", PLAY)
def test_a_play_that_goes_on_ends_it(phase: Phase) -> None:
    """The desk can end the pause: then buttons declare, and the screen is the play's."""
    sitting = running_in(phase)
    sitting.take(PauseRuled(at=sitting.wait(), begin=False))
    assert sitting.table.self_test == "skipped"


def test_a_plan_that_comes_meanwhile_is_taken_and_the_test_goes_on() -> None:
    state, _ = handle(Table(), SelfTestBegun(at=S))
    state, _ = handle(state, Assigned(at=2 * S, assignment=plan(play(1))))
    assert (state.phase, state.self_test) == (Phase.RESTORING, "running")
