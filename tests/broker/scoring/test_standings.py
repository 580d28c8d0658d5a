"""Totals, places, tie-breaks, the standings of players, and what a session leaves to the next.

One play at a time or all at once, in whatever order, corrected or not: the same groups and totals.
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
from tests.broker.rules.variants import TURNED, seats
from tests.broker.scoring import oracle
from tests.broker.scoring.events import FINES, OEDMC, individual_events, made, profiles, scored, turned
from tests.broker.scoring.oracle import Play


def said(ledger: Ledger) -> tuple[object, ...]:
    """Return all that a ledger says."""
    groups = tuple((group.deal, group.section, group.form, group.datum, group.plays) for group in ledger.groups)
    return groups, list(player_standings(ledger)), entry_bounds(ledger, ())


def one_by_one(ledger: Ledger, plays: list[ScoredPlay]) -> Ledger:
    for play in plays:
        ledger = ledger.with_play(play)
    return ledger


@given(individual_events(), profiles(), st.randoms(use_true_random=False))
def test_one_by_one_is_all_at_once(told: list[Play], profile: Profile, chance: Random) -> None:
    plays = [scored(play) for play in told]
    mixed = list(plays)
    chance.shuffle(mixed)
    assert said(one_by_one(Ledger.of([], profile), mixed)) == said(Ledger.of(plays, profile))


@given(individual_events(), profiles(), st.data())
def test_a_correction_leaves_nothing_of_what_it_replaces(
    told: list[Play], profile: Profile, data: st.DataObject
) -> None:
    wrong = [scored(play) for play in told]
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
    assert said(one_by_one(Ledger.of(wrong, profile), right)) == said(Ledger.of(right, profile, names))


@given(individual_events(), profiles())
def test_adding_changes_nothing_in_what_was_before(told: list[Play], profile: Profile) -> None:
    plays = [scored(play) for play in told]
    before = Ledger.of(plays[:-1], profile)
    told_before = said(before)
    one_by_one(before, plays)
    assert said(before) == told_before


@given(st.lists(st.text(max_size=4), unique=True), st.lists(st.text(max_size=4), unique=True, max_size=8))
def test_names_are_in_alphabetical_order_however_they_came(first: list[str], more: list[str]) -> None:
    before = Entries().with_names(first)
    assert len(before.alphabetical) == len(first)
    after = before.with_names(more)
    assert [after.names[at] for at in after.alphabetical] == sorted({*first, *more})


def test_of_a_play_without_points_the_last_ruling_stands() -> None:
    (played,) = made([seats(5, 5, 5, 5)])
    first = replace(played, points=None, awards={"east": 3})
    ledger = one_by_one(Ledger.of([], OEDMC), [first, replace(first, awards={"south": -3}), first])
    assert {one.name: one.imp for one in player_standings(ledger)} == {"p1e": 3, "p1s": 0, "p1w": 0, "p1n": 0}


def test_sections_number_their_tables_each_for_itself() -> None:
    (one,) = made([seats(5, 5, 5, 5)])
    other = replace(one, section="B", players={seat: f"b {seat}" for seat in SEATS})
    ledger = one_by_one(Ledger.of([], OEDMC), [one, other, replace(one, awards={"east": 1})])
    assert {one.name: (one.imp, one.plays) for one in player_standings(ledger)}["b east"] == (0, 1)
    assert len(list(player_standings(ledger))) == 8


def ranking_of(imps: Mapping[str, int], *chain: TieBreaker, without: tuple[str, ...] = ()) -> Ranking:
    entries = Entries().with_names(imps)
    nothing = np.zeros(len(imps), dtype=np.int64)
    totals = Totals(np.array([*imps.values()], dtype=np.int64), nothing, nothing, nothing)
    return rank(entries, totals, chain, without)


def placed(*chain: TieBreaker, without: tuple[str, ...] = (), **imps: int) -> list[tuple[int, str]]:
    return [(one.place, one.name) for one in ranking_of(imps, *chain, without=without)]


def by(*keys: int) -> TieBreaker:
    """Return a tie-break that has these keys for the entries, in the order in which they were named."""

    def key(tied: Whole) -> Whole:
        return np.array(keys)[tied]

    return key


def test_equal_totals_share_a_place_and_the_next_stays_free() -> None:
    assert placed(cho=3, ana=7, ben=7) == [(1, "ana"), (1, "ben"), (3, "cho")]


def test_all_equal_are_all_first() -> None:
    assert placed(cho=0, ana=0, ben=0) == [(1, "ana"), (1, "ben"), (1, "cho")]


def test_a_tie_further_down_is_shared_too() -> None:
    assert placed(a=5, b=1, c=1, d=-2, e=1) == [(1, "a"), (2, "b"), (2, "c"), (2, "e"), (5, "d")]


def test_nobody_is_nobody() -> None:
    assert placed() == []


def test_a_tie_break_parts_the_tied_and_nobody_else() -> None:
    assert placed(by(9, 1, 2, 3), a=5, b=7, c=7, d=7) == [(1, "d"), (2, "c"), (3, "b"), (4, "a")]


def test_who_is_equal_in_the_first_tie_break_is_parted_by_the_second() -> None:
    assert placed(by(1, 1, 0), by(0, 1, 9), a=7, b=7, c=7) == [(1, "b"), (2, "a"), (3, "c")]


def test_who_is_equal_in_all_tie_breaks_shares_the_place() -> None:
    assert placed(by(1, 1, 2), a=7, b=7, c=7) == [(1, "c"), (2, "a"), (2, "b")]


def test_who_has_no_standing_takes_nobodys_place() -> None:
    assert placed(a=5, b=7, c=3, without=("b", "nobody")) == [(1, "a"), (2, "c")]


@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5), max_size=12))
def test_a_place_is_one_more_than_there_are_better_ones(imps: dict[str, int]) -> None:
    found = ranking_of(imps)
    assert {one.name: one.place for one in found} == {
        name: 1 + sum(other > imp for other in imps.values()) for name, imp in imps.items()
    }
    assert [one.imp for one in found] == sorted(imps.values(), reverse=True)


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_a_chain_is_the_order_of_the_keys_one_after_the_other(keys: list[tuple[int, int, int]]) -> None:
    names = {f"{at:02}": key for at, key in enumerate(keys)}
    imps = {name: key[0] for name, key in names.items()}
    found = ranking_of(imps, by(*(key[1] for key in keys)), by(*(key[2] for key in keys)))
    assert {one.name: one.place for one in found} == {
        name: 1 + sum(other > key for other in keys) for name, key in names.items()
    }


def test_lines_are_made_when_they_are_read_and_are_the_same_by_place_and_in_turn() -> None:
    found = ranking_of({"a": 1, "b": 3, "c": 2})
    assert [found[at] for at in range(3)] == list(found)
    assert [found[-1], *found[1:2]] == [list(found)[2], list(found)[1]]
    with pytest.raises(IndexError):
        found[3]


def with_chain(*chain: TieBreak) -> Profile:
    return structs.replace(OEDMC, ties=structs.replace(OEDMC.ties, chain=Setting(chain, TURNED)))


def places(plays: list[ScoredPlay], *chain: TieBreak, previous: dict[str, int] | None = None) -> dict[str, int]:
    ledger = Ledger.of(plays, with_chain(*chain))
    return {one.name: one.place for one in player_standings(ledger, previous=previous)}


def test_the_default_shares_places() -> None:
    assert OEDMC.ties.chain.value == ()


def test_direct_comparison_counts_play_against_play_among_the_tied_alone() -> None:
    # The mean is 20, so nobody has an IMP, and all are tied; against each other 1 point is nothing,
    plays = made([seats(21, 0, 0, 0), seats(20, 0, 0, 0), seats(19, 0, 0, 0)])
    found = places(plays, "direct_comparison")
    # but 21 is 2 above 19, which is worth 1 IMP, and 19 loses it.
    assert (found["p1e"], found["p2e"], found["p3e"]) == (1, 2, 12)


def test_points_are_those_of_all_tables() -> None:
    found = places(made([seats(1, 0, 0, 0), seats(0, 0, 0, 0)]), "points")
    assert (found["p1e"], found["p2e"], found["p1s"]) == (1, 2, 2)


def test_who_was_fined_less_is_ahead() -> None:
    ledger = Ledger.of([], with_chain("fewest_fines"), ["a", "b"])
    ledger = ledger.with_adjustments([Adjustment("a", 4, fine=4)])
    assert [(one.place, one.name) for one in player_standings(ledger)] == [(1, "b"), (2, "a")]


def test_the_session_before_decides_and_who_is_new_comes_last() -> None:
    found = places(made([seats(0, 0, 0, 0)]), "previous_standing", previous={"p1w": 1, "p1n": 2, "p1s": 2})
    assert found == {"p1w": 1, "p1n": 2, "p1s": 2, "p1e": 4}


@pytest.mark.parametrize("name", get_args(TieBreak))
def test_every_tie_break_leaves_real_equals_together(name: TieBreak) -> None:
    assert set(places(made([seats(5, 5, 5, 5)] * 2), name).values()) == {1}


def lines_by_name(
    plays: Iterable[ScoredPlay], names: Iterable[str] = (), profile: Profile = OEDMC
) -> dict[str, Ranked]:
    return {one.name: one for one in standings.player_standings(Ledger.of(plays, profile, names))}


@given(individual_events())
def test_totals_and_places_are_what_the_oracle_says(plays: list[oracle.Play]) -> None:
    sums = oracle.individual(plays)
    placed = oracle.places(sums)
    assert lines_by_name(map(scored, plays)) == {
        name: Ranked(placed[name], name, own.imp, own.fines, own.plays) for name, own in sums.items()
    }


def test_a_fine_is_taken_off_after_conversion() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    fined = ScoredPlay(first.deal, first.table, first.players, first.points, {"east": 8})
    found = lines_by_name([fined, second])
    assert found["p1e"] == Ranked(8, "p1e", imp=2 - 8, fines=8, plays=1)
    assert found["p2e"] == Ranked(7, "p2e", imp=-2, fines=0, plays=1)


def test_who_has_not_played_yet_is_listed_with_nothing() -> None:
    assert [*lines_by_name((), ["b", "a"]).values()] == [Ranked(1, "a", 0, 0, 0), Ranked(1, "b", 0, 0, 0)]


def test_who_was_not_listed_but_played_counts() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    assert set(lines_by_name(plays, ["p1e"])) == {"p1e", "p1s", "p1w", "p1n", "p2e", "p2s", "p2w", "p2n"}


def test_an_award_is_added_and_enters_no_datum() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    awarded = ScoredPlay(1, 1, first.players, first.points, awards={"east": 3})
    assert lines_by_name([awarded, second])["p1e"].imp == 2 + 3
    assert lines_by_name([awarded, second])["p2e"].imp == -2


def test_a_void_play_is_in_no_datum_and_gives_what_was_awarded() -> None:
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


def test_a_substitute_scores_for_whom_they_play() -> None:
    (first, second) = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    with_substitute = ScoredPlay(1, 1, {**first.players, "east": "sub"}, first.points, stands_for={"east": "p1e"})
    assert lines_by_name([with_substitute, second]) == lines_by_name([first, second])


def test_who_has_no_standing_is_compared_and_not_ranked() -> None:
    ledger = Ledger.of(made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)]), OEDMC)
    found = standings.player_standings(ledger, without_standing={"p1e"})
    assert "p1e" not in {one.name for one in found}
    assert {one.name: one.imp for one in found}["p2e"] == -2


def test_what_is_carried_over_counts_and_is_no_fine_and_a_fine_of_no_play_is_one() -> None:
    ledger = Ledger.of([], OEDMC, ["a"]).with_adjustments([Adjustment("a", -5), Adjustment("b", 12, fine=4)])
    found = {one.name: (one.imp, one.fines) for one in standings.player_standings(ledger)}
    assert found == {"a": (-5, 0), "b": (8, 4)}


@pytest.mark.parametrize(
    ("imp", "percent", "expected"),
    [(7, 100, 7), (7, 50, 4), (-7, 50, -4), (7, 0, 0), (1, 49, 0), (-1, 49, 0), (Fraction(5, 2), 100, 3)],
)
def test_a_part_of_the_total_is_carried_and_halves_go_away_from_zero(
    imp: int | Fraction, percent: int, expected: int
) -> None:
    profile = structs.replace(OEDMC, carry_over=CarryOverRules(Setting(percent, TURNED)))
    assert carry_over([Ranked(1, "a", imp, 4, 3)], profile) == (Adjustment("a", expected),)


def test_means_of_imps_are_carried_exactly() -> None:
    profile = structs.replace(
        turned(method="cross", own_score="excluded"), carry_over=CarryOverRules(Setting(50, TURNED))
    )
    assert carry_over([Ranked(1, "a", Fraction(7, 3), 0, 1)], profile) == (Adjustment("a", Fraction(7, 6)),)


def test_the_standing_is_that_of_the_session_before() -> None:
    assert standing_places([Ranked(1, "a", 5, 0, 1), Ranked(2, "b", 0, 0, 1)]) == {"a": 1, "b": 2}
