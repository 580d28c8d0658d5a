"""Comparison of the plays of one deal, and the IMP scale."""

from collections.abc import Iterable
from fractions import Fraction
from random import Random
from typing import Final, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import SEATS
from broker.rules import Profile, RuleError, Setting, load_mcr, to_imp
from broker.scoring import Exact, ScoredPlay, awards_for_unplayed, compare_plays
from tests.broker.rules.variants import seats
from tests.broker.scoring.events import comparison_profile, individual_events, made, profiles, scored
from tests.broker.scoring.oracle import STEPS, Play, imps, imps_of


def test_the_default_awards_are_0_3_and_minus_3() -> None:
    given = awards_for_unplayed(
        {"east": "own", "south": "others", "west": "nobody", "north": "others"}, load_mcr().awards
    )
    assert given == seats(-3, 3, 0, 3)


def test_an_unplayed_play_needs_a_fault_for_every_seat() -> None:
    with pytest.raises(RuleError) as refused:
        awards_for_unplayed({"east": "own"}, load_mcr().awards)
    assert refused.value.code == "fault_missing"


OEDMC = load_mcr("oedmc-2020")
FLOOR_PROFILE = replace(OEDMC, imp=replace(OEDMC.imp, gap=Setting("floor", "assumption: changed for a test")))

# Ten plays with the means of OEDMC's example, of which the last is its table 12.
EXAMPLE = [
    *([seats(33, -20, 0, -12)] * 8),
    seats(32, -16, -7, -18),
    seats(42, -8, -8, -26),
]


@pytest.mark.parametrize("profile", [OEDMC, FLOOR_PROFILE], ids=["midpoint", "floor"])
def test_the_example_of_oedmc_is_reproduced(profile: Profile) -> None:
    (group,) = compare_plays(made(EXAMPLE), profile)
    assert group.datum == {
        "east": Fraction("33.8"),
        "south": Fraction("-18.4"),
        "west": Fraction("-1.5"),
        "north": Fraction(-14),
    }
    assert group.plays[-1].imp == seats(2, 3, -2, -3)


def test_a_datum_is_never_rounded() -> None:
    (group,) = compare_plays(made([seats(0, 1, 0, 0), seats(0, 1, 0, 0), seats(1, 0, 0, -10)]), OEDMC)
    assert group.datum == {
        "east": Fraction(1, 3),
        "south": Fraction(2, 3),
        "west": Fraction(0),
        "north": Fraction(-10, 3),
    }


def test_imps_are_those_of_the_unrounded_datum() -> None:
    (group,) = compare_plays(made([seats(9, 0, 0, 0), seats(0, 0, 0, 0), seats(1, 0, 0, 0)]), OEDMC)
    # The mean is 10/3. 9 is 17/3 above it, 0 is 10/3 below and 1 is 7/3 below.
    assert [one.imp["east"] for one in group.plays] == [2, -1, -1]


def test_the_datum_includes_the_own_score() -> None:
    (group,) = compare_plays(made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)]), OEDMC)
    assert [one.imp["east"] for one in group.plays] == [2, -2]


def test_plays_of_a_deal_in_different_forms_are_compared_separately() -> None:
    right = made([seats(40, 0, 0, 0), seats(20, 0, 0, 0)], form="a" * 64)
    fouled = [ScoredPlay(1, 3, right[0].players, seats(-8, 0, 0, 0), form="b" * 64)]
    first, second = compare_plays([*fouled, *right], OEDMC)
    assert (first.form, first.datum["east"]) == ("a" * 64, Fraction(30))
    assert (second.form, second.datum["east"]) == ("b" * 64, Fraction(-8))
    assert [one.play.table for one in first.plays] == [1, 2]


def test_plays_of_different_deals_are_compared_separately() -> None:
    found = compare_plays([*made([seats(40, 0, 0, 0)], deal=2), *made([seats(20, 0, 0, 0)], deal=1)], OEDMC)
    assert [(group.deal, group.datum["east"]) for group in found] == [(1, Fraction(20)), (2, Fraction(40))]


def test_a_group_of_one_play_scores_zero() -> None:
    (group,) = compare_plays(made([seats(999, -999, 32, -8)]), OEDMC)
    assert group.plays[0].imp == seats(0, 0, 0, 0)


def test_there_are_no_groups_without_plays() -> None:
    assert compare_plays([], OEDMC) == ()


def test_a_fine_is_never_in_a_datum() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    fined = [ScoredPlay(p.deal, p.table, p.players, p.points, {"east": 8}) for p in plays]
    assert [g.datum for g in compare_plays(fined, OEDMC)] == [g.datum for g in compare_plays(plays, OEDMC)]
    assert [c.imp for g in compare_plays(fined, OEDMC) for c in g.plays] == [
        c.imp for g in compare_plays(plays, OEDMC) for c in g.plays
    ]


@given(individual_events(), st.randoms(use_true_random=False))
def test_the_order_in_which_plays_arrive_does_not_matter(plays: list[Play], rng: Random) -> None:
    ours = [scored(play) for play in plays]
    mixed = list(ours)
    rng.shuffle(mixed)
    assert [group.plays for group in compare_plays(mixed, OEDMC)] == [
        group.plays for group in compare_plays(ours, OEDMC)
    ]


@given(individual_events())
def test_the_differences_of_a_group_sum_to_zero(plays: list[Play]) -> None:
    for group in compare_plays(map(scored, plays), OEDMC):
        sums = {seat: sum((one.play.points or {})[seat] - group.datum[seat] for one in group.plays) for seat in SEATS}
        assert sums == dict.fromkeys(SEATS, 0)


@given(individual_events())
def test_every_imp_agrees_with_the_oracle(plays: list[Play]) -> None:
    by_deal_and_table = {(play.deal, play.table): play for play in plays}
    for profile, midpoint in ((OEDMC, True), (FLOOR_PROFILE, False)):
        for group in compare_plays(map(scored, plays), profile):
            for one in group.plays:
                play = by_deal_and_table[one.play.deal, one.play.table]
                assert one.imp == {seat: imps_of(plays, play, seat, midpoint=midpoint) for seat in SEATS}


MIDPOINT: Final = load_mcr("oedmc-2020").imp
FLOOR: Final = replace(MIDPOINT, gap=Setting("floor", "assumption: changed for a test"))

EPSILON: Final = Fraction(1, 10**9)


def test_the_scale_is_that_of_the_rule_book() -> None:
    assert MIDPOINT.scale.value == STEPS


@pytest.mark.parametrize("sign", [1, -1])
def test_a_step_starts_half_a_point_below_its_bound(sign: int) -> None:
    for size, step in enumerate(STEPS, 1):
        start = Fraction(2 * step - 1, 2)
        assert to_imp(sign * start, MIDPOINT) == sign * size
        assert to_imp(sign * (start + EPSILON), MIDPOINT) == sign * size
        assert to_imp(sign * (start - EPSILON), MIDPOINT) == sign * (size - 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_with_floor_a_step_starts_at_its_bound(sign: int) -> None:
    for size, step in enumerate(STEPS, 1):
        assert to_imp(Fraction(sign * step), FLOOR) == sign * size
        assert to_imp(sign * (step + EPSILON), FLOOR) == sign * size
        assert to_imp(sign * (step - EPSILON), FLOOR) == sign * (size - 1)


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
def test_these_differences_are_worth_these_imps(difference: str, midpoint: int, floor: int) -> None:
    assert (to_imp(Fraction(difference), MIDPOINT), to_imp(Fraction(difference), FLOOR)) == (midpoint, floor)


@given(st.fractions(-500, 500))
def test_imps_are_symmetric_about_the_datum(difference: Fraction) -> None:
    assert to_imp(-difference, MIDPOINT) == -to_imp(difference, MIDPOINT)


@given(st.fractions(-500, 500), st.fractions(0, 500))
def test_more_points_never_give_fewer_imps(difference: Fraction, more: Fraction) -> None:
    assert to_imp(difference, MIDPOINT) <= to_imp(difference + more, MIDPOINT)


@given(st.integers(-3000, 3000), st.integers(1, 40), st.integers(-999, 999), st.booleans())
def test_imps_agree_with_integer_arithmetic(total: int, plays: int, points: int, midpoint: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    scale = MIDPOINT if midpoint else FLOOR
    assert to_imp(points - Fraction(total, plays), scale) == imps(total, plays, points, midpoint=midpoint)


def rounded(mean: Fraction, parts: int) -> Fraction:
    """Round to whole parts, halves away from zero."""
    size = int(abs(mean) * parts + Fraction(1, 2))
    return Fraction(size if mean > 0 else -size, parts)


def expected(own: int, others: list[int], profile: Profile) -> Exact:
    """Return the IMPs of a score against those of the others."""
    if len(others) + 1 < profile.small_group.smallest.value:
        return profile.small_group.imp.value
    if profile.imp.method.value == "cross":
        return Fraction(sum(to_imp(Fraction(own - other), profile.imp) for other in others), len(others))
    scores = others if profile.datum.own_score.value == "excluded" else [own, *others]
    mean = Fraction(sum(scores), len(scores))
    parts = {"none": 0, "tenth": 10, "whole": 1}[profile.datum.rounding.value]
    return to_imp(own - (rounded(mean, parts) if parts else mean), profile.imp)


@given(individual_events(), profiles())
def test_every_imp_agrees_with_plain_fractions(plays: list[Play], profile: Profile) -> None:
    for group in compare_plays(map(scored, plays), profile):
        for one in group.plays:
            for seat in SEATS:
                scores = [(play.points or {})[seat] for play in group.members if play is not one.play]
                assert one.imp[seat] == expected((one.play.points or {})[seat], scores, profile)


def east(points: Iterable[int], profile: Profile) -> list[Exact]:
    (group,) = compare_plays(made(seats(one, 0, 0, 0) for one in points), profile)
    return [one.imp["east"] for one in group.plays]


def test_without_the_own_score_the_datum_is_that_of_the_others() -> None:
    assert east([10, 0], comparison_profile(own_score="excluded")) == [3, -3]


@pytest.mark.parametrize(
    ("rounding", "imps"), [("none", [1, 0, 0, 0]), ("tenth", [1, 0, 0, 0]), ("whole", [1, -1, -1, -1])]
)
def test_a_datum_is_rounded_half_away_from_zero(rounding: Literal["none", "tenth", "whole"], imps: list[int]) -> None:
    # The mean 3/2 is rounded to 2 whole points, from which 0 is two points away, worth 1 IMP.
    profile = comparison_profile(rounding=rounding, gap="floor")
    assert east([6, 0, 0, 0], profile) == imps


def test_cross_imps_are_the_mean_over_the_other_plays() -> None:
    # 20 is 20 above 0 (5 IMP) and 11 above 9 (3 IMP); 9 is 9 above 0 (3).
    assert east([20, 9, 0], comparison_profile(method="cross")) == [4, 0, -4]
    assert east([20, 9, 0, 0], comparison_profile(method="cross")) == [
        Fraction(13, 3),
        Fraction(3, 3),
        Fraction(-8, 3),
        Fraction(-8, 3),
    ]


def test_a_group_below_the_profile_s_minimum_is_not_compared() -> None:
    assert east([20, 0], comparison_profile(smallest=3)) == [0, 0]
    assert east([20, 0, 0], comparison_profile(smallest=3)) != [0, 0, 0]


def data(profile: Profile) -> Fraction:
    (group,) = compare_plays(made(seats(one, 0, 0, 0) for one in (10, 0, 0)), profile)
    return group.datum["east"]


def test_the_reported_datum_is_rounded_as_the_profile_says() -> None:
    assert data(comparison_profile()) == Fraction(10, 3)
    assert data(comparison_profile(rounding="tenth")) == Fraction(33, 10)
    assert data(comparison_profile(rounding="whole")) == Fraction(3)


def test_without_the_own_score_each_play_has_its_own_datum() -> None:
    (group,) = compare_plays(made(seats(one, 0, 0, 0) for one in (10, 1, 0)), comparison_profile(own_score="excluded"))
    assert [own["east"] for own in group.own_datums()] == [Fraction(1, 2), Fraction(5), Fraction(11, 2)]
    (alone,) = compare_plays(made([seats(1, 0, 0, 0)]), comparison_profile(own_score="excluded"))
    assert (group.has_own_datums, alone.has_own_datums) == (True, False)


def test_plays_of_different_sections_are_not_compared() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0), seats(30, 0, 0, 0), seats(40, 0, 0, 0)])
    of_two = [*plays[:2], *(replace(play, section="B") for play in plays[2:])]
    assert [(group.section, group.datum["east"]) for group in compare_plays(of_two, OEDMC)] == [
        (None, Fraction(5)),
        ("B", Fraction(35)),
    ]
