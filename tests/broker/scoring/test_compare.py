"""Comparison groups: the example of the source, exact means, one group a form."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.words import SEATS
from broker.rules.profile import Profile, Stated
from broker.rules.profile_files import load
from broker.scoring.compare import groups
from broker.scoring.plays import ScoredPlay
from tests.broker.rules.variants import seats
from tests.broker.scoring.events import individual_events, made, scored
from tests.broker.scoring.oracle import Play, imps_of

OEDMC = load("oedmc-2020")
FLOOR = replace(OEDMC, imp=replace(OEDMC.imp, gap=Stated("floor", "assumption: turned for a test")))

# Ten plays, made up so that their means are those of OEDMC's example; the last one is its table 12.
EXAMPLE = [
    *([seats(33, -20, 0, -12)] * 8),
    seats(32, -16, -7, -18),
    seats(42, -8, -8, -26),
]


@pytest.mark.parametrize("profile", [OEDMC, FLOOR], ids=["midpoint", "floor"])
def test_the_example_of_oedmc(profile: Profile) -> None:
    (group,) = groups(made(EXAMPLE), profile)
    assert group.datum == {
        "east": Fraction("33.8"),
        "south": Fraction("-18.4"),
        "west": Fraction("-1.5"),
        "north": Fraction(-14),
    }
    assert group.plays[-1].imp == seats(2, 3, -2, -3)


def test_a_datum_is_never_rounded() -> None:
    (group,) = groups(made([seats(0, 1, 0, 0), seats(0, 1, 0, 0), seats(1, 0, 0, -10)]), OEDMC)
    assert group.datum == {
        "east": Fraction(1, 3),
        "south": Fraction(2, 3),
        "west": Fraction(0),
        "north": Fraction(-10, 3),
    }


def test_a_rounded_datum_would_give_another_imp() -> None:
    (group,) = groups(made([seats(9, 0, 0, 0), seats(0, 0, 0, 0), seats(1, 0, 0, 0)]), OEDMC)
    # The mean is 10/3: 9 is 17/3 above it, 0 is 10/3 below and 1 is 7/3 below.
    assert [one.imp["east"] for one in group.plays] == [2, -1, -1]


def test_the_own_score_is_in_the_datum() -> None:
    (group,) = groups(made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)]), OEDMC)
    assert [one.imp["east"] for one in group.plays] == [2, -2]


def test_plays_of_one_deal_in_two_forms_are_compared_apart() -> None:
    right = made([seats(40, 0, 0, 0), seats(20, 0, 0, 0)], form="a" * 64)
    fouled = [ScoredPlay(1, 3, right[0].players, seats(-8, 0, 0, 0), form="b" * 64)]
    first, second = groups([*fouled, *right], OEDMC)
    assert (first.form, first.datum["east"]) == ("a" * 64, Fraction(30))
    assert (second.form, second.datum["east"]) == ("b" * 64, Fraction(-8))
    assert [one.play.table for one in first.plays] == [1, 2]


def test_plays_of_different_deals_are_compared_apart() -> None:
    found = groups([*made([seats(40, 0, 0, 0)], deal=2), *made([seats(20, 0, 0, 0)], deal=1)], OEDMC)
    assert [(group.deal, group.datum["east"]) for group in found] == [(1, Fraction(20)), (2, Fraction(40))]


def test_a_group_of_one_scores_nothing() -> None:
    (group,) = groups(made([seats(999, -999, 32, -8)]), OEDMC)
    assert group.plays[0].imp == seats(0, 0, 0, 0)


def test_no_plays_make_no_groups() -> None:
    assert groups([], OEDMC) == ()


def test_a_fine_is_never_in_a_datum() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    fined = [ScoredPlay(p.deal, p.table, p.players, p.points, {"east": 8}) for p in plays]
    assert [g.datum for g in groups(fined, OEDMC)] == [g.datum for g in groups(plays, OEDMC)]
    assert [c.imp for g in groups(fined, OEDMC) for c in g.plays] == [
        c.imp for g in groups(plays, OEDMC) for c in g.plays
    ]


@given(individual_events(), st.randoms(use_true_random=False))
def test_the_order_in_which_plays_arrive_does_not_matter(plays: list[Play], chance: Random) -> None:
    ours = [scored(play) for play in plays]
    mixed = list(ours)
    chance.shuffle(mixed)
    assert [group.plays for group in groups(mixed, OEDMC)] == [group.plays for group in groups(ours, OEDMC)]


@given(individual_events())
def test_the_differences_of_a_group_sum_to_nothing(plays: list[Play]) -> None:
    for group in groups(map(scored, plays), OEDMC):
        sums = {seat: sum((one.play.points or {})[seat] - group.datum[seat] for one in group.plays) for seat in SEATS}
        assert sums == dict.fromkeys(SEATS, 0)


@given(individual_events())
def test_every_imp_is_what_the_oracle_says(plays: list[Play]) -> None:
    told = {(play.deal, play.table): play for play in plays}
    for profile, midpoint in ((OEDMC, True), (FLOOR, False)):
        for group in groups(map(scored, plays), profile):
            for one in group.plays:
                play = told[one.play.deal, one.play.table]
                assert one.imp == {seat: imps_of(plays, play, seat, midpoint=midpoint) for seat in SEATS}
