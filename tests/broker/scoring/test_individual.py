"""Individual events: IMPs minus fines, whoever is added when."""

from hypothesis import given

from broker.rules.profile import load
from broker.scoring import individual
from broker.scoring.compare import groups
from broker.scoring.plays import ScoredPlay
from broker.scoring.ranking import Total
from tests.broker.contract.laws import LAW
from tests.broker.rules.variants import seats
from tests.broker.scoring import oracle
from tests.broker.scoring.events import individual_events, made, scored

OEDMC = load("oedmc-2020")


@given(individual_events())
@LAW
def test_totals_and_places_are_what_the_oracle_says(plays: list[oracle.Play]) -> None:
    sums = oracle.individual(plays)
    placed = oracle.places(sums)
    expected = {name: (placed[name], own.imp, own.fines, own.plays) for name, own in sums.items()}
    ranked = individual.standings(groups(map(scored, plays), OEDMC))
    assert {r.name: (r.place, r.total.imp, r.total.fines, r.total.plays) for r in ranked} == expected


@given(individual_events())
@LAW
def test_standings_after_each_play_are_those_of_the_plays_so_far(plays: list[oracle.Play]) -> None:
    so_far: list[ScoredPlay] = []
    for count, play in enumerate(plays, 1):
        so_far.append(scored(play))
        totals = individual.totals(groups(so_far, OEDMC))
        sums = oracle.individual(plays[:count])
        assert totals == {name: Total(own.imp, own.fines, own.plays) for name, own in sums.items()}


def test_a_fine_is_taken_off_after_conversion() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    fined = ScoredPlay(first.deal, first.table, first.players, first.points, {"east": 8})
    totals = individual.totals(groups([fined, second], OEDMC))
    assert totals["p1e"] == Total(imp=2 - 8, fines=8, plays=1)
    assert totals["p2e"] == Total(imp=-2, fines=0, plays=1)


def test_who_has_not_played_yet_is_listed_with_nothing() -> None:
    ranked = individual.standings((), ["b", "a"])
    assert [(r.place, r.name, r.total) for r in ranked] == [(1, "a", Total()), (1, "b", Total())]


def test_who_was_not_listed_but_played_counts() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    totals = individual.totals(groups(plays, OEDMC), ["p1e"])
    assert set(totals) == {"p1e", "p1s", "p1w", "p1n", "p2e", "p2s", "p2w", "p2n"}
