"""Individual events: IMPs minus fines, whoever is added when."""

from collections.abc import Iterable

from hypothesis import given

from broker.rules.profile import Profile
from broker.rules.profile_files import load
from broker.scoring import individual
from broker.scoring.ledger import Ledger
from broker.scoring.plays import Adjustment, ScoredPlay
from broker.scoring.ranking import Ranked
from tests.broker.rules.variants import seats
from tests.broker.scoring import oracle
from tests.broker.scoring.events import individual_events, made, scored

OEDMC = load("oedmc-2020")


def ranked(plays: Iterable[ScoredPlay], names: Iterable[str] = (), profile: Profile = OEDMC) -> dict[str, Ranked]:
    return {one.name: one for one in individual.standings(Ledger.of(plays, profile, names))}


@given(individual_events())
def test_totals_and_places_are_what_the_oracle_says(plays: list[oracle.Play]) -> None:
    sums = oracle.individual(plays)
    placed = oracle.places(sums)
    assert ranked(map(scored, plays)) == {
        name: Ranked(placed[name], name, own.imp, own.fines, own.plays) for name, own in sums.items()
    }


def test_a_fine_is_taken_off_after_conversion() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    fined = ScoredPlay(first.deal, first.table, first.players, first.points, {"east": 8})
    found = ranked([fined, second])
    assert found["p1e"] == Ranked(8, "p1e", imp=2 - 8, fines=8, plays=1)
    assert found["p2e"] == Ranked(7, "p2e", imp=-2, fines=0, plays=1)


def test_who_has_not_played_yet_is_listed_with_nothing() -> None:
    assert [*ranked((), ["b", "a"]).values()] == [Ranked(1, "a", 0, 0, 0), Ranked(1, "b", 0, 0, 0)]


def test_who_was_not_listed_but_played_counts() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    assert set(ranked(plays, ["p1e"])) == {"p1e", "p1s", "p1w", "p1n", "p2e", "p2s", "p2w", "p2n"}


def test_an_award_is_added_and_enters_no_datum() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    awarded = ScoredPlay(1, 1, first.players, first.points, awards={"east": 3})
    assert ranked([awarded, second])["p1e"].imp == 2 + 3
    assert ranked([awarded, second])["p2e"].imp == -2


def test_a_void_play_is_in_no_datum_and_gives_what_was_awarded() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0), seats(99, 99, 99, 99)])
    void = ScoredPlay(1, 3, plays[2].players, None, awards={"east": 3, "south": -3})
    found = ranked([*plays[:2], void])
    assert {name: found[name].imp for name in ("p1e", "p2e", "p3e", "p3s", "p3w")} == {
        "p1e": 2,
        "p2e": -2,
        "p3e": 3,
        "p3s": -3,
        "p3w": 0,
    }
    assert found["p3e"].plays == 0


def test_a_substitute_scores_for_whom_they_play() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    with_substitute = ScoredPlay(1, 1, {**first.players, "east": "sub"}, first.points, stands_for={"east": "p1e"})
    assert ranked([with_substitute, second]) == ranked([first, second])


def test_who_has_no_standing_is_compared_and_not_ranked() -> None:
    ledger = Ledger.of(made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)]), OEDMC)
    found = individual.standings(ledger, without_standing={"p1e"})
    assert "p1e" not in {one.name for one in found}
    assert {one.name: one.imp for one in found}["p2e"] == -2


def test_what_is_carried_over_counts_and_is_no_fine_and_a_fine_of_no_play_is_one() -> None:
    ledger = Ledger.of([], OEDMC, ["a"]).with_adjustments([Adjustment("a", -5), Adjustment("b", 12, fine=4)])
    found = {one.name: (one.imp, one.fines) for one in individual.standings(ledger)}
    assert found == {"a": (-5, 0), "b": (8, 4)}
