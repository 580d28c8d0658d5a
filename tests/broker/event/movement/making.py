"""Movements for tests, from short and reproducible searches."""

from collections.abc import Callable
from functools import cache
from random import Random

from broker.event.movement import MovementOrder, NumberedPlay, make_movement


def steps(hundreds: int) -> Callable[[], bool]:
    """Return a `KeepSearching` that returns True so many times."""
    left = iter(range(hundreds))
    return lambda: next(left, None) is not None


@cache
def made(
    order: MovementOrder, hundreds: int = 20, seed: int = 1, *, in_teams: bool = False
) -> tuple[NumberedPlay, ...]:
    """Return the movement for an order after so many hundred steps of search."""
    return make_movement(order, Random(seed), steps(hundreds), in_teams=in_teams)
