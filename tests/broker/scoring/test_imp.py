"""The scale at every boundary, and one step to each side."""

from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.rules.profile import Stated
from broker.rules.profile_files import load
from broker.scoring.imp import imp
from tests.broker.scoring.oracle import STEPS, imps

MIDPOINT: Final = load("oedmc-2020").imp
FLOOR: Final = replace(MIDPOINT, gap=Stated("floor", "assumption: turned for a test"))

LITTLE: Final = Fraction(1, 10**9)


def test_the_scale_under_test_is_the_rule_book_s() -> None:
    assert MIDPOINT.scale.value == STEPS


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("size", "step"), list(enumerate(STEPS, 1)))
def test_a_step_begins_half_a_point_below_its_bound(size: int, step: int, sign: int) -> None:
    begins = Fraction(2 * step - 1, 2)
    assert imp(sign * begins, MIDPOINT) == sign * size
    assert imp(sign * (begins + LITTLE), MIDPOINT) == sign * size
    assert imp(sign * (begins - LITTLE), MIDPOINT) == sign * (size - 1)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("size", "step"), list(enumerate(STEPS, 1)))
def test_with_floor_a_step_begins_at_its_bound(size: int, step: int, sign: int) -> None:
    assert imp(Fraction(sign * step), FLOOR) == sign * size
    assert imp(sign * (step + LITTLE), FLOOR) == sign * size
    assert imp(sign * (step - LITTLE), FLOOR) == sign * (size - 1)


@pytest.mark.parametrize(
    ("difference", "midpoint", "floor"),
    [
        ("0", 0, 0),
        ("1.4999", 0, 0),
        ("1.5", 1, 0),
        ("2", 1, 1),
        ("4.5", 2, 1),
        ("8.2", 2, 2),
        ("8.4999", 2, 2),
        ("8.5", 3, 2),
        ("-8.5", -3, -2),
        ("-8.4999", -2, -2),
        ("8.999", 3, 2),
        ("9", 3, 3),
        ("10.4", 3, 3),
        ("-6.5", -2, -2),
        ("-12", -3, -3),
        ("12.5", 4, 3),
        ("399.5", 24, 23),
        ("400", 24, 24),
        ("1000000", 24, 24),
        ("-1000000", -24, -24),
    ],
)
def test_differences_and_what_they_are_worth(difference: str, midpoint: int, floor: int) -> None:
    assert (imp(Fraction(difference), MIDPOINT), imp(Fraction(difference), FLOOR)) == (midpoint, floor)


@given(st.fractions(-500, 500))
def test_what_is_won_above_the_datum_is_lost_below_it(difference: Fraction) -> None:
    assert imp(-difference, MIDPOINT) == -imp(difference, MIDPOINT)


@given(st.fractions(-500, 500), st.fractions(0, 500))
def test_more_points_never_give_fewer_imps(difference: Fraction, more: Fraction) -> None:
    assert imp(difference, MIDPOINT) <= imp(difference + more, MIDPOINT)


@given(st.integers(-3000, 3000), st.integers(1, 40), st.integers(-999, 999), st.booleans())
def test_whole_numbers_say_the_same(total: int, plays: int, points: int, midpoint: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    scale = MIDPOINT if midpoint else FLOOR
    assert imp(points - Fraction(total, plays), scale) == imps(total, plays, points, midpoint=midpoint)
