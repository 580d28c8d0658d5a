"""The clock of a play runs from the fourth confirmation; pauses and extra time count, presses do not."""

from typing import Final

import msgspec
import pytest

from broker.protocol import SEATS, RiichiStanding
from kiosk.screens import StatusLine, screen_view, with_time_left
from kiosk.table import (
    Phase,
    Table,
    minutes_left,
    paused_ms,
    played_ms,
)
from kiosk.table.events import (
    Assigned,
    LastTakenBack,
    Restarted,
    SessionStopped,
)
from tests.kiosk.riichi_tables import RiichiSitting, session_plan
from tests.kiosk.tables import TABLE, S, Sitting, plan, play

MINUTE: Final = 60 * S


def limited(minutes: int = 40) -> Sitting:
    """Start a table whose first play has a time limit, and whose second has none."""
    sitting = Sitting()
    sitting.table = Table()
    longer = msgspec.structs.replace(plan(play(1), play(2)), minutes={1: minutes})
    sitting.take(Assigned(at=sitting.now, assignment=longer))
    return sitting


def playing(minutes: int = 40) -> Sitting:
    sitting = limited(minutes)
    sitting.begin()
    return sitting


def left(sitting: Sitting, after: int = 0) -> int | None:
    return minutes_left(sitting.table, sitting.now + after)


def test_time_runs_from_the_fourth_confirmation_and_a_begun_minute_counts_whole() -> None:
    sitting = limited()
    sitting.restore()
    sitting.wait(30 * MINUTE)
    assert left(sitting) is None
    sitting.press(*SEATS)
    at = {0: 40, 1: 40, MINUTE - 1: 40, MINUTE: 39, 39 * MINUTE: 1, 40 * MINUTE - 1: 1}
    assert {after: left(sitting, after) for after in at} == at


def test_when_time_is_up_it_says_so_and_then_shows_the_minutes_over() -> None:
    sitting = playing(2)
    at = {2 * MINUTE: 0, 3 * MINUTE - 1: 0, 3 * MINUTE: -1, 62 * MINUTE: -60}
    assert {after: left(sitting, after) for after in at} == at


def test_extra_time_is_added_and_a_pause_does_not_count_during_it_or_after() -> None:
    sitting = playing()
    began = sitting.now
    sitting.order("extra_time", at=began + MINUTE, minutes=10)
    assert left(sitting) == 49
    sitting.order("pause", at=began + 5 * MINUTE)
    assert [left(sitting, after) for after in (0, MINUTE, 90 * MINUTE)] == [45, 45, 45]
    sitting.order("resume", at=began + 25 * MINUTE)
    assert [left(sitting), left(sitting, MINUTE)] == [45, 44]
    sitting.order("pause", at=began + 30 * MINUTE)
    sitting.order("resume", at=began + 31 * MINUTE)
    assert left(sitting) == 40


def test_pauses_are_published_in_ms_that_change_only_when_one_begins_or_ends() -> None:
    sitting = playing()
    began = sitting.now
    assert (paused_ms(sitting.table), played_ms(sitting.table)) == (0, None)
    sitting.order("pause", at=began + 5 * MINUTE)
    assert (paused_ms(sitting.table), played_ms(sitting.table)) == (0, 300_000)
    sitting.order("resume", at=began + 7 * MINUTE)
    assert (paused_ms(sitting.table), played_ms(sitting.table)) == (120_000, None)
    sitting.take(Restarted(at=5 * S))
    assert (paused_ms(sitting.table), played_ms(sitting.table)) == (None, None)


def test_a_play_without_a_limit_has_no_clock_and_a_new_play_begins_its_own() -> None:
    sitting = playing()
    sitting.order("pause")
    sitting.wait(10 * MINUTE)
    sitting.order("resume")
    sitting.draw()
    assert left(sitting) == 40
    sitting.press(*SEATS)
    assert (sitting.table.phase, left(sitting)) == (Phase.RECORDED, None)
    sitting.next_deal()
    sitting.begin()
    assert (sitting.table.phase, left(sitting)) == (Phase.PLAYING, None)


def test_the_clock_runs_on_while_a_result_is_entered_and_accepted() -> None:
    sitting = playing()
    began = sitting.now
    sitting.declare("west")
    assert minutes_left(sitting.table, began + 10 * MINUTE) == 30
    sitting.value("north", west=18)
    assert minutes_left(sitting.table, began + 10 * MINUTE) == 30


@pytest.mark.parametrize("pressing", [("west",), SEATS])
def test_the_shown_time_does_not_depend_on_presses(pressing: tuple[str, ...]) -> None:
    quiet, pressed = playing(), playing()
    pressed.press(*(seat for seat in SEATS if seat in pressing))
    assert pressed.table.phase is Phase.CLAIMING
    for at in range(quiet.now, quiet.now + 42 * MINUTE, 20 * S):
        one, other = (
            with_time_left(screen_view(TABLE, sitting.table, None, StatusLine(), None), sitting.table, at)
            for sitting in (quiet, pressed)
        )
        assert one == other


def test_the_clock_survives_a_restart_on_the_same_clock_and_is_unknown_after_a_power_cut() -> None:
    same, cut = playing(), playing()
    same.take(Restarted(at=same.wait(10 * MINUTE), same_clock=True))
    assert left(same) == 30
    cut.take(Restarted(at=5 * S))
    assert left(cut) is None


def session(standing: RiichiStanding | None = None) -> RiichiSitting:
    """Start a riichi session with a time limit."""
    sitting = RiichiSitting(msgspec.structs.replace(session_plan(standing=standing), minutes={1: 75}))
    sitting.begin()
    return sitting


def test_a_riichi_session_has_one_clock_that_counts_extra_time_and_pauses_until_it_ends() -> None:
    sitting = session()
    began = sitting.now
    sitting.order("extra_time", minutes=10)
    sitting.order("pause", at=began + 5 * MINUTE)
    sitting.order("resume", at=began + 9 * MINUTE)
    sitting.ron("south", "west")
    sitting.record()
    assert (sitting.table.phase, minutes_left(sitting.table, began + 20 * MINUTE)) == (Phase.RECORDED, 69)
    sitting.order("extra_time", minutes=5)
    sitting.next_deal()
    sitting.wait(10 * MINUTE)
    assert (sitting.table.extra_min, minutes_left(sitting.table, began + 20 * MINUTE)) == (15, 74)
    assert paused_ms(sitting.table) == 240_000
    sitting.take(LastTakenBack(at=sitting.wait()))
    assert (sitting.session.hand, minutes_left(sitting.table, began + 20 * MINUTE)) == (1, 74)
    sitting.ron("south", "west")
    sitting.record()
    sitting.take(SessionStopped(at=sitting.wait()))
    assert left(sitting) is None
    sitting.order("extra_time", minutes=5)
    assert sitting.table.extra_min == 15


def test_the_time_of_a_session_begun_on_another_device_is_unknown() -> None:
    scores = dict.fromkeys(SEATS, 25_000)
    going = RiichiStanding(hand=5, round_wind="south", dealer="east", counters=0, deposits=0, scores=scores)
    assert left(session(going)) is None
