"""Times of the box are mapped to within a millisecond, despite drift, delays and wraps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.box.link import ENOUGH_QUERIES, BoxClock
from firmware.pico.edges import PERIOD, Microseconds
from tests.firmware.box.year import live

MS = 1_000_000

ROUNDED_NS = 5_000
"""Rounding errors: the box counts whole microseconds, both for this time and for those of the queries."""


@pytest.mark.parametrize(("ppm", "swing_ppm", "pull_ppm"), [(-100, 5, 100), (100, 10, 500)])
def test_mapped_times_stay_within_a_millisecond_for_hours(ppm: float, swing_ppm: float, pull_ppm: float) -> None:
    """Ten wraps of the ticks, while time synchronisation slews as fast as it can. The benchmark covers a year."""
    worst = live(0.125, ppm=ppm, swing_ppm=swing_ppm, pull_ppm=pull_ppm)
    assert worst.wraps == 10
    assert worst.error_ns <= MS


def test_a_clock_is_ready_only_after_enough_queries() -> None:
    clock = BoxClock()
    for at in range(ENOUGH_QUERIES):
        assert not clock.ready
        clock.add(at, at, at)
    assert clock.ready


@given(
    st.integers(-100, 100),
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 50_000), st.integers(0, 50_000)), min_size=4, max_size=60),
)
def test_the_error_of_a_time_never_exceeds_the_slack(ppm: int, queries: list[tuple[int, int, int]]) -> None:
    """`queries`: the pause before each in s, and its delays out and back in µs."""
    clock, now_us = BoxClock(), 0
    for pause_s, there, back in queries:
        now_us += pause_s * 1_000_000
        box_us = (now_us + there) * (1_000_000 + ppm) // 1_000_000
        clock.add(box_us, now_us * 1000, (now_us + there + back) * 1000)
        true = (now_us + there) * 1000
        assert abs(clock.to_ns(box_us) - true) <= clock.slack_ns(box_us) + ROUNDED_NS


def test_a_slow_query_changes_nothing() -> None:
    clock = BoxClock()
    for s in range(10):
        clock.add(s * 1_000_000, s * 1000 * MS, s * 1000 * MS + MS)
    before = clock.to_ns(9_500_000)
    clock.add(9_400_000, 9_310 * MS, 9_490 * MS)
    assert clock.to_ns(9_500_000) == before


def test_two_queries_together_narrow_the_bounds() -> None:
    clock = BoxClock()
    clock.add(1_000_000, 1_000 * MS, 1_001 * MS)  # fast out, 1 ms back
    clock.add(1_000_001, 999 * MS + 1000, 1_000 * MS + 1000)  # 1 ms out, fast back
    assert clock.to_ns(1_000_001) == 1_000 * MS + 1000
    assert clock.slack_ns(1_000_001) <= 2


def test_after_a_clock_jump_only_the_newest_query_counts() -> None:
    clock = BoxClock()
    clock.add(0, 0, MS)
    clock.add(1_000_000, 5_000 * MS, 5_002 * MS)
    assert (clock.to_ns(1_000_000), clock.slack_ns(1_000_000)) == (5_001 * MS, MS)


@given(st.integers(0, PERIOD - 1), st.lists(st.integers(0, PERIOD - 1), max_size=50))
def test_microseconds_never_wrap(first: int, steps: list[int]) -> None:
    true, unwrapped = first, Microseconds(first)
    for step in steps:
        true += step
        assert unwrapped.now(true % PERIOD) == true - first


@given(st.integers(0, 2**40), st.integers(-(PERIOD // 2), PERIOD // 2 - 1))
def test_an_earlier_edge_keeps_its_time_across_a_wrap(now: int, ago: int) -> None:
    unwrapped = Microseconds(0)
    for part in range(4):
        unwrapped.now(now * (part + 1) // 4 % PERIOD)
    at = unwrapped.now(now % PERIOD)
    assert unwrapped.of((now + ago) % PERIOD) == at + ago
