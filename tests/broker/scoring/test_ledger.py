"""One play at a time or all at once, in whatever order, corrected or not: the same groups and totals."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import SEATS
from broker.rules import Profile
from broker.scoring import Entries, Ledger, ScoredPlay, entry_bounds, player_standings
from tests.broker.rules.variants import seats
from tests.broker.scoring.events import FINES, OEDMC, individual_events, made, profiles, scored
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
