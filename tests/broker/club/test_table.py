"""Whole plays: legal to the end, the same each time, and won more by who is stronger."""

from collections import Counter

import pytest

from broker.contract.words import SEATS
from broker.rules.points import points
from broker.rules.referee.replay import replay
from tests.broker.club.playing import JUDGE, dealt, every, played
from tests.broker.rules.referee.playing import all_tiles
from tests.broker.rules.variants import OEDMC

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_play_is_legal_by_the_referee_and_ends(seed: int) -> None:
    one = played(seed)
    again = replay(dealt(seed), one.actions, OEDMC, JUDGE)
    assert again == one.end
    assert again.turns.over is not None
    assert all_tiles(again) == sorted(tile for tray in dealt(seed).faces.values() for tile in tray)


@pytest.mark.parametrize("seed", SEEDS)
def test_how_a_play_ended_can_be_scored_and_no_winner_has_less_than_the_minimum(seed: int) -> None:
    one = played(seed)
    assert set(points(one.outcome, OEDMC)) == set(SEATS)
    assert (one.outcome.win == "draw") == (one.end.turns.over == "exhausted draw")
    assert [value for value in one.outcome.winners.values() if value < 8] == []


def test_the_same_seed_gives_the_same_play() -> None:
    assert played.__wrapped__(3) == played(3)


def test_most_plays_are_won() -> None:
    endings = Counter(played(seed, (1.0,) * 4).outcome.win for seed in range(8))
    assert endings["draw"] <= 2


def test_who_is_stronger_scores_more() -> None:
    """On each deal the strong sit once east and west, once south and north."""
    strong = weak = 0
    for seed in SEEDS[:8]:
        for pair in (("east", "west"), ("south", "north")):
            scored = points(played(seed, every(pair, 1.0)).outcome, OEDMC)
            strong += sum(scored[seat] for seat in pair)
            weak += sum(scored[seat] for seat in SEATS if seat not in pair)
    assert strong > weak + 100
