"""What shows all of a large event is made seldom, and soon for who waits for it."""

import pytest

from broker.scorer.publisher import PAUSE_S
from broker.scorer.throttle import LONGEST_REST_S, REST, Throttle


@pytest.mark.parametrize(
    ("took_s", "rests_s"), [(0.0, PAUSE_S), (0.2, 0.2 + 0.2 * REST), (10.0, 10.0 + LONGEST_REST_S)]
)
def test_what_shows_all_players_takes_a_tenth_of_the_time_at_most(took_s: float, rests_s: float) -> None:
    now = [100.0]
    throttle = Throttle(PAUSE_S, lambda: now[0])
    throttle.ask()
    assert throttle.due()
    now[0] += took_s
    throttle.done()
    throttle.ask()
    for after, due in ((rests_s - 0.01, False), (rests_s + 0.01, True)):
        now[0] = 100.0 + after
        assert throttle.due() == due


def test_who_waits_for_what_shows_all_players_waits_for_no_rest_and_nobody_gets_it_unasked() -> None:
    throttle = Throttle(PAUSE_S, lambda: 100.0)
    throttle.ask()
    assert (throttle.due(), throttle.due()) == (True, False)
    throttle.done()
    throttle.hurry()
    assert not throttle.due()
    throttle.ask()
    assert throttle.due()


def test_what_waits_for_the_processor_rests_no_longer_for_that() -> None:
    now, spent = [100.0], [5.0]
    throttle = Throttle(PAUSE_S, lambda: now[0], lambda: spent[0])
    throttle.ask()
    assert throttle.due()
    now[0] += 2.0
    spent[0] += 0.2
    throttle.done()
    throttle.ask()
    for after, due in ((2.0 + 0.2 * REST - 0.01, False), (2.0 + 0.2 * REST + 0.01, True)):
        now[0] = 100.0 + after
        assert throttle.due() == due
