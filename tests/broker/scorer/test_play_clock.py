"""The desk reckons the time that is left as the table does: by the plan, the pauses and the extra time."""

from typing import Final

import pytest
from msgspec.structs import replace

from broker.scorer.play_clock import MINUTE_MS, left_ms, stands_ms, up_at, whole_minutes
from broker.scorer.view import TableView
from tests.broker.desk import sample

BEGAN: Final = sample.NOON


def playing(**more: object) -> TableView:
    limited = {"playing_since": BEGAN, "minutes": 40, "stood_ms": 0, **more}
    return replace(sample.table(1), **limited)


def left(table: TableView, after_min: int) -> int | None:
    return left_ms(table, BEGAN + after_min * MINUTE_MS)


def test_it_ends_after_its_minutes_its_extra_time_and_its_pauses() -> None:
    table = playing(extra_min=5, stood_ms=2 * MINUTE_MS)
    assert up_at(table) == BEGAN + 47 * MINUTE_MS
    assert (left(table, 40), left(table, 50)) == (7 * MINUTE_MS, -3 * MINUTE_MS)


def test_in_a_pause_it_stands_still_at_what_was_left_when_that_began() -> None:
    table = playing(paused=True, played_ms=10 * MINUTE_MS)
    assert (up_at(table), stands_ms(table)) == (None, 30 * MINUTE_MS)
    assert left(table, 10) == left(table, 90) == 30 * MINUTE_MS


@pytest.mark.parametrize(
    "unknown",
    [
        {"minutes": None},
        {"playing_since": None},
        {"stood_ms": None},
        {"state": "recorded"},
        {"paused": True},
    ],
)
def test_where_there_is_no_limit_or_something_is_not_known_nothing_is_guessed(unknown: dict[str, object]) -> None:
    table = playing(**unknown)
    assert (up_at(table), left(table, 1)) == (None, None)


def test_a_minute_that_has_begun_counts_whole_as_on_the_tables_screen() -> None:
    seconds = {60: 1, 59: 1, 1: 1, 0: 0, -59: 0, -60: -1, -61: -1}
    assert {at: whole_minutes(at * 1000) for at in seconds} == seconds
