"""Points as sticks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiosk.screens import sticks


@pytest.mark.parametrize(
    ("points", "laid"),
    [
        (3900, {1000: 3, 100: 9}),
        (-8000, {5000: 1, 1000: 3}),
        (48_300, {10_000: 4, 5000: 1, 1000: 3, 100: 3}),
        (0, {}),
    ],
)
def test_a_payment_is_laid_in_as_few_sticks_as_can_be(points: int, laid: dict[int, int]) -> None:
    assert sticks(points) == laid


@given(st.integers(-2000, 2000))
def test_sticks_are_worth_what_is_paid(hundreds: int) -> None:
    assert sum(worth * count for worth, count in sticks(100 * hundreds).items()) == abs(100 * hundreds)
