"""From session to session: the profile's part of a total, in whole IMPs, and the standing for tie-breaks."""

from fractions import Fraction

import pytest
from msgspec import structs

from broker.rules.profile import CarryOver, Stated
from broker.rules.profile_files import load
from broker.scoring.carry import carried, places
from broker.scoring.plays import Adjustment
from broker.scoring.ranking import Ranked
from tests.broker.rules.variants import TURNED
from tests.broker.scoring.events import turned

OEDMC = load("oedmc-2020")


@pytest.mark.parametrize(
    ("imp", "percent", "expected"),
    [(7, 100, 7), (7, 50, 4), (-7, 50, -4), (7, 0, 0), (1, 49, 0), (-1, 49, 0), (Fraction(5, 2), 100, 3)],
)
def test_a_part_of_the_total_is_carried_and_halves_go_away_from_zero(
    imp: int | Fraction, percent: int, expected: int
) -> None:
    profile = structs.replace(OEDMC, carry_over=CarryOver(Stated(percent, TURNED)))
    assert carried([Ranked(1, "a", imp, 4, 3)], profile) == (Adjustment("a", expected),)


def test_means_of_imps_are_carried_exactly() -> None:
    profile = structs.replace(turned(method="cross", own_score="excluded"), carry_over=CarryOver(Stated(50, TURNED)))
    assert carried([Ranked(1, "a", Fraction(7, 3), 0, 1)], profile) == (Adjustment("a", Fraction(7, 6)),)


def test_the_standing_is_that_of_the_session_before() -> None:
    assert places([Ranked(1, "a", 5, 0, 1), Ranked(2, "b", 0, 0, 1)]) == {"a": 1, "b": 2}
