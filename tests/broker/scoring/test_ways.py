"""Every way of comparing that a profile can ask for, against the same in plain fractions."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given

from broker.contract.words import SEATS
from broker.rules.profile import Profile
from broker.scoring.compare import Exact, groups
from broker.scoring.imp import imp
from tests.broker.rules.variants import seats
from tests.broker.scoring.events import individual_events, made, profiles, scored, turned
from tests.broker.scoring.oracle import Play


def rounded(mean: Fraction, parts: int) -> Fraction:
    """Round to whole parts, halves away from zero."""
    size = int(abs(mean) * parts + Fraction(1, 2))
    return Fraction(size if mean > 0 else -size, parts)


def expected(own: int, others: list[int], profile: Profile) -> Exact:
    """Compare one score with those of the others."""
    if len(others) + 1 < profile.small_group.smallest.value:
        return profile.small_group.imp.value
    if profile.imp.method.value == "cross":
        return Fraction(sum(imp(Fraction(own - other), profile.imp) for other in others), len(others))
    scores = others if profile.datum.own_score.value == "excluded" else [own, *others]
    mean = Fraction(sum(scores), len(scores))
    parts = {"none": 0, "tenth": 10, "whole": 1}[profile.datum.rounding.value]
    return imp(own - (rounded(mean, parts) if parts else mean), profile.imp)


@given(individual_events(), profiles())
def test_every_imp_is_what_plain_fractions_say(plays: list[Play], profile: Profile) -> None:
    for group in groups(map(scored, plays), profile):
        for one in group.plays:
            for seat in SEATS:
                scores = [(play.points or {})[seat] for play in group.members if play is not one.play]
                assert one.imp[seat] == expected((one.play.points or {})[seat], scores, profile)


def east(points: Iterable[int], profile: Profile) -> list[Exact]:
    (group,) = groups(made(seats(one, 0, 0, 0) for one in points), profile)
    return [one.imp["east"] for one in group.plays]


def test_without_the_own_score_the_others_are_the_datum() -> None:
    assert east([10, 0], turned(own_score="excluded")) == [3, -3]


@pytest.mark.parametrize(
    ("rounding", "imps"), [("none", [1, 0, 0, 0]), ("tenth", [1, 0, 0, 0]), ("whole", [1, -1, -1, -1])]
)
def test_a_datum_that_is_rounded_goes_away_from_zero(
    rounding: Literal["none", "tenth", "whole"], imps: list[int]
) -> None:
    # The mean is 3/2, which makes 2 when it is rounded to whole points: from there 0 is two points away, worth 1 IMP.
    profile = turned(rounding=rounding, gap="floor")
    assert east([6, 0, 0, 0], profile) == imps


def test_cross_imps_are_the_mean_over_the_other_plays() -> None:
    # 20 is 20 above 0 (5 IMP) and 11 above 9 (3 IMP); 9 is 9 above 0 (3).
    assert east([20, 9, 0], turned(method="cross")) == [4, 0, -4]
    assert east([20, 9, 0, 0], turned(method="cross")) == [
        Fraction(13, 3),
        Fraction(3, 3),
        Fraction(-8, 3),
        Fraction(-8, 3),
    ]


def test_a_group_smaller_than_the_profile_asks_for_is_not_compared() -> None:
    assert east([20, 0], turned(smallest=3)) == [0, 0]
    assert east([20, 0, 0], turned(smallest=3)) != [0, 0, 0]


def data(profile: Profile) -> Fraction:
    (group,) = groups(made(seats(one, 0, 0, 0) for one in (10, 0, 0)), profile)
    return group.datum["east"]


def test_the_datum_that_is_told_is_rounded_as_the_one_that_is_used() -> None:
    assert data(turned()) == Fraction(10, 3)
    assert data(turned(rounding="tenth")) == Fraction(33, 10)
    assert data(turned(rounding="whole")) == Fraction(3)


def test_without_the_own_score_each_play_has_its_own_datum() -> None:
    (group,) = groups(made(seats(one, 0, 0, 0) for one in (10, 1, 0)), turned(own_score="excluded"))
    assert [own["east"] for own in group.own_data()] == [Fraction(1, 2), Fraction(5), Fraction(11, 2)]
    assert (group.apart, groups(made([seats(1, 0, 0, 0)]), turned(own_score="excluded"))[0].apart) == (True, False)
