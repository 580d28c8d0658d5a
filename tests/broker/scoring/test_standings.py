"""Totals, places, tie-breaks, standings of players and carry-over.

Groups and totals do not depend on the order of plays, on corrections, or on adding plays one at a time.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from random import Random
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from broker.protocol import SEATS
from broker.rules import Profile, Setting, TieBreak
from broker.rules.profile import CarryOverRules
from broker.scoring import (
    Adjustment,
    Entries,
    Ledger,
    Ranked,
    Ranking,
    ScoredPlay,
    Totals,
    Whole,
    carry_over,
    entry_bounds,
    player_standings,
    standing_places,
    standings,
)
from broker.scoring.standings import TieBreaker, rank
from tests.broker.rules.variants import FOR_TEST, seats
from tests.broker.scoring import oracle
from tests.broker.scoring.events import FINES, OEDMC, comparison_profile, individual_events, made, profiles, scored
from tests.broker.scoring.oracle import Play


def ledger_contents(ledger: Ledger) -> tuple[object, ...]:
    """Return the groups, standings and bounds of a ledger."""
    groups = tuple((group.deal, group.section, group.form, group.datum, group.plays) for group in ledger.groups)
    return groups, list(player_standings(ledger)), entry_bounds(ledger, ())


def one_by_one(ledger: Ledger, plays: list[ScoredPlay]) -> Ledger:
    for play in plays:
        ledger = ledger.with_play(play)
    return ledger


@given(individual_events(), profiles(), st.randoms(use_true_random=False))
def test_adding_plays_one_by_one_equals_adding_them_at_once(
    oracle_plays: list[Play], profile: Profile, rng: Random
) -> None:
    plays = [scored(play) for play in oracle_plays]
    mixed = list(plays)
    rng.shuffle(mixed)
    assert ledger_contents(one_by_one(Ledger.of([], profile), mixed)) == ledger_contents(Ledger.of(plays, profile))


@given(individual_events(), profiles(), st.data())
def test_a_correction_replaces_the_earlier_play_completely(
    oracle_plays: list[Play], profile: Profile, data: st.DataObject
) -> None:
    wrong = [scored(play) for play in oracle_plays]
    right = [
        replace(
            play,
            points=data.draw(st.sampled_from([play.points, None, dict.fromkeys(SEATS, 7)])),
            form=data.draw(st.sampled_from([play.form, "c" * 64])),
            fines={"west": data.draw(FINES)},
            awards=data.draw(st.sampled_from([{}, {"east": 3}])),
        )
        for play in wrong
    ]
    names = {play.entry(seat): None for play in wrong for seat in SEATS}
    assert ledger_contents(one_by_one(Ledger.of(wrong, profile), right)) == ledger_contents(
        Ledger.of(right, profile, names)
    )


@given(individual_events(), profiles())
def test_adding_plays_does_not_change_the_earlier_ledger(oracle_plays: list[Play], profile: Profile) -> None:
    plays = [scored(play) for play in oracle_plays]
    before = Ledger.of(plays[:-1], profile)
    contents_before = ledger_contents(before)
    one_by_one(before, plays)
    assert ledger_contents(before) == contents_before


@given(st.lists(st.text(max_size=4), unique=True), st.lists(st.text(max_size=4), unique=True, max_size=8))
def test_names_are_sorted_alphabetically_whatever_their_order_of_arrival(first: list[str], more: list[str]) -> None:
    before = Entries().with_names(first)
    assert len(before.alphabetical) == len(first)
    after = before.with_names(more)
    assert [after.names[at] for at in after.alphabetical] == sorted({*first, *more})


def test_the_last_ruling_on_a_play_without_points_counts() -> None:
    (played,) = made([seats(5, 5, 5, 5)])
    first = replace(played, points=None, awards={"east": 3})
    ledger = one_by_one(Ledger.of([], OEDMC), [first, replace(first, awards={"south": -3}), first])
    assert {one.name: one.imp for one in player_standings(ledger)} == {"p1e": 3, "p1s": 0, "p1w": 0, "p1n": 0}


def test_tables_of_different_sections_may_have_the_same_number() -> None:
    (one,) = made([seats(5, 5, 5, 5)])
    other = replace(one, section="B", players={seat: f"b {seat}" for seat in SEATS})
    ledger = one_by_one(Ledger.of([], OEDMC), [one, other, replace(one, awards={"east": 1})])
    assert {one.name: (one.imp, one.plays) for one in player_standings(ledger)}["b east"] == (0, 1)
    assert len(list(player_standings(ledger))) == 8


def ranking_of(imps: Mapping[str, int], *chain: TieBreaker, without: tuple[str, ...] = ()) -> Ranking:
    entries = Entries().with_names(imps)
    zeros = np.zeros(len(imps), dtype=np.int64)
    totals = Totals(np.array([*imps.values()], dtype=np.int64), zeros, zeros, zeros)
    return rank(entries, totals, chain, without)


def placed(*chain: TieBreaker, without: tuple[str, ...] = (), **imps: int) -> list[tuple[int, str]]:
    return [(one.place, one.name) for one in ranking_of(imps, *chain, without=without)]


def by(*keys: int) -> TieBreaker:
    """Return a tie-break with these keys for the entries, in the order in which they were named."""

    def key(tied: Whole) -> Whole:
        return np.array(keys)[tied]

    return key


def test_equal_totals_share_a_place_and_the_next_place_is_skipped() -> None:
    assert placed(cho=3, ana=7, ben=7) == [(1, "ana"), (1, "ben"), (3, "cho")]


def test_all_are_first_if_all_are_equal() -> None:
    assert placed(cho=0, ana=0, ben=0) == [(1, "ana"), (1, "ben"), (1, "cho")]


def test_ties_further_down_are_shared_too() -> None:
    assert placed(a=5, b=1, c=1, d=-2, e=1) == [(1, "a"), (2, "b"), (2, "c"), (2, "e"), (5, "d")]


def test_an_empty_ranking_is_empty() -> None:
    assert placed() == []


def test_a_tie_break_orders_only_the_tied() -> None:
    assert placed(by(9, 1, 2, 3), a=5, b=7, c=7, d=7) == [(1, "d"), (2, "c"), (3, "b"), (4, "a")]


def test_the_second_tie_break_orders_ties_in_the_first() -> None:
    assert placed(by(1, 1, 0), by(0, 1, 9), a=7, b=7, c=7) == [(1, "b"), (2, "a"), (3, "c")]


def test_players_equal_in_all_tie_breaks_share_the_place() -> None:
    assert placed(by(1, 1, 2), a=7, b=7, c=7) == [(1, "c"), (2, "a"), (2, "b")]


def test_players_without_standing_take_no_place() -> None:
    assert placed(a=5, b=7, c=3, without=("b", "nobody")) == [(1, "a"), (2, "c")]


@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5), max_size=12))
def test_a_place_is_one_more_than_the_number_of_better_totals(imps: dict[str, int]) -> None:
    found = ranking_of(imps)
    assert {one.name: one.place for one in found} == {
        name: 1 + sum(other > imp for other in imps.values()) for name, imp in imps.items()
    }
    assert [one.imp for one in found] == sorted(imps.values(), reverse=True)


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_tie_breaks_are_applied_in_the_order_of_the_chain(keys: list[tuple[int, int, int]]) -> None:
    names = {f"{at:02}": key for at, key in enumerate(keys)}
    imps = {name: key[0] for name, key in names.items()}
    found = ranking_of(imps, by(*(key[1] for key in keys)), by(*(key[2] for key in keys)))
    assert {one.name: one.place for one in found} == {
        name: 1 + sum(other > key for other in keys) for name, key in names.items()
    }


def test_a_ranking_behaves_like_a_sequence() -> None:
    found = ranking_of({"a": 1, "b": 3, "c": 2})
    assert [found[at] for at in range(3)] == list(found)
    assert [found[-1], *found[1:2]] == [list(found)[2], list(found)[1]]
    with pytest.raises(IndexError):
        found[3]


def with_chain(*chain: TieBreak) -> Profile:
    return structs.replace(OEDMC, ties=structs.replace(OEDMC.ties, chain=Setting(chain, FOR_TEST)))


def places(plays: list[ScoredPlay], *chain: TieBreak, previous: dict[str, int] | None = None) -> dict[str, int]:
    ledger = Ledger.of(plays, with_chain(*chain))
    return {one.name: one.place for one in player_standings(ledger, previous=previous)}


def test_the_default_profile_shares_places() -> None:
    assert OEDMC.ties.chain.value == ()


def test_direct_comparison_compares_only_the_plays_of_the_tied() -> None:
    # The mean is 20, so everybody has 0 IMP and all are tied. A difference of 1 point is worth 0 IMP,
    plays = made([seats(21, 0, 0, 0), seats(20, 0, 0, 0), seats(19, 0, 0, 0)])
    found = places(plays, "direct_comparison")
    # but 21 is 2 above 19, which wins 1 IMP, and 19 loses it.
    assert (found["p1e"], found["p2e"], found["p3e"]) == (1, 2, 12)


def test_points_are_a_tie_break_over_all_tables() -> None:
    found = places(made([seats(1, 0, 0, 0), seats(0, 0, 0, 0)]), "points")
    assert (found["p1e"], found["p2e"], found["p1s"]) == (1, 2, 2)


def test_the_tied_player_with_fewer_fines_is_ahead() -> None:
    ledger = Ledger.of([], with_chain("fewest_fines"), ["a", "b"])
    ledger = ledger.with_adjustments([Adjustment("a", 4, fine=4)])
    assert [(one.place, one.name) for one in player_standings(ledger)] == [(1, "b"), (2, "a")]


def test_the_previous_standing_breaks_ties_and_new_players_come_last() -> None:
    found = places(made([seats(0, 0, 0, 0)]), "previous_standing", previous={"p1w": 1, "p1n": 2, "p1s": 2})
    assert found == {"p1w": 1, "p1n": 2, "p1s": 2, "p1e": 4}


@pytest.mark.parametrize("tie_break", get_args(TieBreak))
def test_no_tie_break_separates_real_equals(tie_break: TieBreak) -> None:
    assert set(places(made([seats(5, 5, 5, 5)] * 2), tie_break).values()) == {1}


def lines_by_name(
    plays: Iterable[ScoredPlay], names: Iterable[str] = (), profile: Profile = OEDMC
) -> dict[str, Ranked]:
    return {one.name: one for one in standings.player_standings(Ledger.of(plays, profile, names))}


@given(individual_events())
def test_totals_and_places_agree_with_the_oracle(plays: list[oracle.Play]) -> None:
    sums = oracle.individual(plays)
    placed = oracle.places(sums)
    assert lines_by_name(map(scored, plays)) == {
        name: Ranked(placed[name], name, own.imp, own.fines, own.plays) for name, own in sums.items()
    }


def test_fines_are_subtracted_after_the_conversion_to_imps() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    fined = ScoredPlay(first.deal, first.table, first.players, first.points, {"east": 8})
    found = lines_by_name([fined, second])
    assert found["p1e"] == Ranked(8, "p1e", imp=2 - 8, fines=8, plays=1)
    assert found["p2e"] == Ranked(7, "p2e", imp=-2, fines=0, plays=1)


def test_players_without_a_play_are_listed_with_zero() -> None:
    assert [*lines_by_name((), ["b", "a"]).values()] == [Ranked(1, "a", 0, 0, 0), Ranked(1, "b", 0, 0, 0)]


def test_players_who_were_not_listed_are_ranked_too() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    assert set(lines_by_name(plays, ["p1e"])) == {"p1e", "p1s", "p1w", "p1n", "p2e", "p2s", "p2w", "p2n"}


def test_an_award_is_added_and_is_in_no_datum() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    awarded = ScoredPlay(1, 1, first.players, first.points, awards={"east": 3})
    assert lines_by_name([awarded, second])["p1e"].imp == 2 + 3
    assert lines_by_name([awarded, second])["p2e"].imp == -2


def test_a_void_play_is_in_no_datum_and_gives_only_its_awards() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0), seats(99, 99, 99, 99)])
    void = ScoredPlay(1, 3, plays[2].players, None, awards={"east": 3, "south": -3})
    found = lines_by_name([*plays[:2], void])
    assert {name: found[name].imp for name in ("p1e", "p2e", "p3e", "p3s", "p3w")} == {
        "p1e": 2,
        "p2e": -2,
        "p3e": 3,
        "p3s": -3,
        "p3w": 0,
    }
    assert found["p3e"].plays == 0


def test_a_substitute_scores_for_the_replaced_player() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    with_substitute = ScoredPlay(1, 1, {**first.players, "east": "sub"}, first.points, stands_for={"east": "p1e"})
    assert lines_by_name([with_substitute, second]) == lines_by_name([first, second])


def test_players_without_standing_are_compared_but_not_ranked() -> None:
    ledger = Ledger.of(made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)]), OEDMC)
    found = standings.player_standings(ledger, without_standing={"p1e"})
    assert "p1e" not in {one.name for one in found}
    assert {one.name: one.imp for one in found}["p2e"] == -2


def test_carried_over_imps_count_and_are_no_fine_but_fines_of_no_play_are() -> None:
    ledger = Ledger.of([], OEDMC, ["a"]).with_adjustments([Adjustment("a", -5), Adjustment("b", 12, fine=4)])
    found = {one.name: (one.imp, one.fines) for one in standings.player_standings(ledger)}
    assert found == {"a": (-5, 0), "b": (8, 4)}


@pytest.mark.parametrize(
    ("imp", "percent", "expected"),
    [(7, 100, 7), (7, 50, 4), (-7, 50, -4), (7, 0, 0), (1, 49, 0), (-1, 49, 0), (Fraction(5, 2), 100, 3)],
)
def test_the_carried_percentage_is_rounded_half_away_from_zero(
    imp: int | Fraction, percent: int, expected: int
) -> None:
    profile = structs.replace(OEDMC, carry_over=CarryOverRules(Setting(percent, FOR_TEST)))
    assert carry_over([Ranked(1, "a", imp, 4, 3)], profile) == (Adjustment("a", expected),)


def test_fractional_imps_are_carried_exactly() -> None:
    profile = structs.replace(
        comparison_profile(method="cross", own_score="excluded"), carry_over=CarryOverRules(Setting(50, FOR_TEST))
    )
    assert carry_over([Ranked(1, "a", Fraction(7, 3), 0, 1)], profile) == (Adjustment("a", Fraction(7, 6)),)


def test_standing_places_map_names_to_their_places() -> None:
    assert standing_places([Ranked(1, "a", 5, 0, 1), Ranked(2, "b", 0, 0, 1)]) == {"a": 1, "b": 2}
