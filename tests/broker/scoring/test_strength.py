"""Luck and strength: properties of the estimate, its intervals and small exact cases."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from broker.protocol import SEATS
from broker.scoring import EventStrength, Ledger, ScoredPlay, event_strength, joint_strength, length_factor
from tests.benchmarks.strength import World, played
from tests.broker.scoring.events import OEDMC

WORLD = World(4, 12, 0.1)
STRENGTHS = WORLD.spread * np.random.default_rng(3).standard_normal(16)


def plays(seed: int, world: World = WORLD) -> list[ScoredPlay]:
    """Return the plays of an event."""
    ledger = played(world, STRENGTHS, np.random.default_rng(seed))
    return [play for group in ledger.groups for play in group.members]


def strength_of(listed: Sequence[ScoredPlay]) -> EventStrength:
    found = event_strength(Ledger.of(listed, OEDMC))
    assert found is not None
    return found


def numbers(found: EventStrength) -> list[float | None]:
    """Return the estimates and intervals that do not depend on names."""
    return [number for interval in (found.reliability, *found.shares) for number in interval]


@given(st.integers(0, 1000), st.lists(st.integers(-50, 50), min_size=4, max_size=4), st.integers(1, 12))
def test_points_that_a_deal_gives_a_seat_at_every_table_do_not_affect_strength(
    seed: int, gift: list[int], deal: int
) -> None:
    before = plays(seed)
    given_to = dict(zip(SEATS, gift, strict=True))
    after = [
        structs.replace(play, points={seat: points + given_to[seat] for seat, points in (play.points or {}).items()})
        if play.deal == deal
        else play
        for play in before
    ]
    one, other = strength_of(before), strength_of(after)
    assert one.reliability == other.reliability
    np.testing.assert_array_equal(one.drawn, other.drawn)


@given(st.integers(0, 1000), st.permutations(range(16)))
def test_strength_does_not_depend_on_the_names_of_players(seed: int, order: list[int]) -> None:
    new = {f"p{old:04}": f"q{number:02}" for old, number in enumerate(order)}
    before = plays(seed)
    after = [structs.replace(play, players={seat: new[one] for seat, one in play.players.items()}) for play in before]
    one, other = strength_of(before), strength_of(after)
    assert numbers(other) == pytest.approx(numbers(one), abs=1e-6)
    # Draws depend on the order of the eigenvectors, so estimates from 2,000 draws differ a little.
    for old, name in new.items():
        assert other.strengths[name].estimate == pytest.approx(one.strengths[old].estimate, abs=0.4)


@given(st.integers(0, 1000))
def test_the_order_in_which_plays_arrive_does_not_matter(seed: int) -> None:
    listed = plays(seed)
    mixed = Random(seed).sample(listed, len(listed))
    assert numbers(strength_of(mixed)) == pytest.approx(numbers(strength_of(listed)), abs=1e-6)


@given(st.integers(0, 1000))
def test_shares_add_up_to_1_and_intervals_are_within_0_and_1(seed: int) -> None:
    found = strength_of(plays(seed))
    assert sum(share.estimate or 0 for share in found.shares) == pytest.approx(1)
    for interval in (found.reliability, *found.shares):
        low, high = interval.low or 0, interval.high or 0
        assert 0 <= low <= high <= 1


def test_equal_scores_everywhere_show_no_strength() -> None:
    level = [structs.replace(play, points=dict.fromkeys(SEATS, 0)) for play in plays(1)]
    found = strength_of(level)
    assert numbers(found) == [0.0] * 15
    assert not found.drawn.any()
    assert found.stronger("p0000", "p0001") == 0.5
    assert found.plays_for(0.8) == (None, None, None)


def test_a_player_who_always_scores_more_is_stronger_with_high_reliability() -> None:
    sure = [
        structs.replace(play, points={seat: 16 if name == "p0003" else 0 for seat, name in play.players.items()})
        for play in plays(1)
    ]
    found = strength_of(sure)
    assert all(found.stronger("p0003", other) > 0.99 for other in found.names if other != "p0003")
    assert (found.reliability.estimate or 0) > 0.9


def test_too_few_plays_give_no_estimate() -> None:
    assert event_strength(Ledger.of([], OEDMC)) is None
    one_deal = [play for play in plays(1) if play.deal == 1]
    assert event_strength(Ledger.of(one_deal, OEDMC)) is None
    alone = [play for play in plays(1) if play.table == 1]
    assert event_strength(Ledger.of(alone, OEDMC)) is None


def test_probabilities_of_a_pair_add_up_and_compare_with_the_next_or_a_given_player() -> None:
    found = strength_of(plays(2))
    names = list(found.names[:3])
    first, second, third = names
    assert found.stronger(first, second) + found.stronger(second, first) == pytest.approx(1)
    assert found.ahead(names) == [found.stronger(first, second), found.stronger(second, third), None]
    assert found.ahead(names, second) == [found.stronger(first, second), None, found.stronger(third, second)]


@pytest.mark.parametrize(("now", "goal", "times"), [(0.5, 0.5, 1), (0.5, 0.8, 4), (0.2, 0.8, 16), (0.8, 0.5, 0.25)])
def test_the_length_factor_follows_spearman_and_brown(now: float, goal: float, times: float) -> None:
    assert length_factor(now, goal) == pytest.approx(times)
    assert times * now / (1 + (times - 1) * now) == pytest.approx(goal)


def test_lower_reliability_needs_more_plays() -> None:
    found = strength_of(plays(4))
    half, most = found.plays_for(0.5), found.plays_for(0.8)
    for interval in (half, most):
        known = [number for number in (interval.low, interval.estimate, interval.high) if number is not None]
        assert known == sorted(known)
    assert most.estimate == pytest.approx(4 * (half.estimate or 0))


def test_joint_events_equal_one_event_with_all_their_deals() -> None:
    """Deals of different events are different, and a player of both has the plays of both."""
    first, second = plays(1), plays(2)
    together = joint_strength([(Ledger.of(listed, OEDMC), str) for listed in (first, second)])
    one = strength_of([*first, *(structs.replace(play, deal=play.deal + WORLD.rounds) for play in second)])
    assert together is not None
    assert (together.plays, together.deals, together.plays_each) == (one.plays, one.deals, one.plays_each)
    assert dict(zip(together.names, together.played, strict=True)) == dict.fromkeys(one.names, 2 * WORLD.rounds)
    assert together.reliability.estimate == pytest.approx(one.reliability.estimate)


def test_players_of_joint_events_are_matched_by_name() -> None:
    ledger = Ledger.of(plays(1), OEDMC)
    found = joint_strength([(ledger, str.upper), (ledger, str)])
    assert found is not None
    assert {*found.names} == {*map(str.upper, ledger.entries.names), *ledger.entries.names}
