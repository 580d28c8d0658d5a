"""How many tries are heard, with a clock set by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.people.throttle import MOST_KEPT, OF_ADDRESS, OF_BOTH, OF_NAME, WINDOW_MS, Throttle


@pytest.mark.parametrize(
    ("limit", "name", "address"),
    [(OF_BOTH, "anne", "10.0.0.1"), (OF_ADDRESS, "n{}", "10.0.0.1"), (OF_NAME, "anne", "10.0.0.{}")],
)
def test_the_last_try_within_the_limit_is_heard_and_the_next_waits_for_the_window(
    limit: int, name: str, address: str
) -> None:
    throttle = Throttle()
    heard = []
    for at in range(limit + 1):
        heard.append(throttle.wait_ms(name.format(at), address.format(at), 1000) == 0)
        throttle.failed(name.format(at), address.format(at), 1000)
    assert heard == [True] * limit + [False]
    assert throttle.wait_ms(name.format(0), address.format(0), 1000 + WINDOW_MS - 1) in {0, 1}
    assert throttle.wait_ms(name.format(limit), address.format(limit), 1000 + WINDOW_MS) == 0


def test_somebody_elsewhere_does_not_keep_the_owner_out() -> None:
    throttle = Throttle()
    for _ in range(OF_BOTH):
        throttle.failed("anne", "10.0.0.66", 0)
    assert (throttle.wait_ms("anne", "10.0.0.66", 0), throttle.wait_ms("anne", "10.0.0.1", 0)) == (WINDOW_MS, 0)


def test_a_success_forgets_the_failures_before_it() -> None:
    throttle = Throttle()
    for _ in range(3 * OF_BOTH):
        throttle.failed("anne", "10.0.0.1", 0)
        throttle.succeeded("anne", "10.0.0.1")
    assert throttle.wait_ms("anne", "10.0.0.1", 0) == 0


def test_a_clock_that_was_put_back_keeps_nobody_out() -> None:
    throttle = Throttle()
    for _ in range(OF_BOTH):
        throttle.failed("anne", "10.0.0.1", 10 * WINDOW_MS)
    assert throttle.wait_ms("anne", "10.0.0.1", 0) == 0


def test_many_names_fill_no_memory() -> None:
    throttle = Throttle()
    for at in range(MOST_KEPT + 100):
        throttle.failed(f"n{at}", f"a{at}", 0)
    assert len(throttle._failures) == MOST_KEPT


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, WINDOW_MS)), max_size=60))
def test_in_no_window_are_more_tries_of_one_name_from_one_address_heard_than_the_limit(
    tries: list[tuple[str, str, int]],
) -> None:
    throttle, now = Throttle(), 0
    heard: dict[tuple[str, str], list[int]] = {}
    for name, address, later in tries:
        now += later // 20
        if not throttle.wait_ms(name, address, now):
            throttle.failed(name, address, now)
            heard.setdefault((name, address), []).append(now)
    for times in heard.values():
        assert all(b - a >= WINDOW_MS for a, b in zip(times, times[OF_BOTH:], strict=False))
