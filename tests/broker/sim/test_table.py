"""Simulated players at a table play legally and as the referee judges."""

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

from broker.event.movement import NumberedPlay, sixteen_players
from broker.protocol import SEATS
from broker.rules import seat_points
from broker.rules.mcr import apply_action, open_play, replay_actions
from broker.sim.table import EventPlay, play_event, scored_play
from tests.broker.rules.mcr.playing import all_tiles, legal_actions
from tests.broker.rules.mcr.turning import awaited_seats
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import JUDGE, dealt, every, played

SEEDS = range(12)
HU = ("self_hu", "hu_on_discard")


@pytest.mark.parametrize("seed", SEEDS)
def test_every_play_is_legal_and_ends_as_the_referee_judges(seed: int) -> None:
    one = played(seed)
    again = replay_actions(dealt(seed), one.actions, OEDMC, JUDGE)
    assert again.turns.over == ("exhausted draw" if one.outcome.win == "draw" else "win")
    assert {win.hu.seat: win.hand_value for win in again.wins} == one.outcome.winners
    assert all_tiles(again) == sorted(tile for tray in dealt(seed).faces.values() for tile in tray)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_every_possible_hu_is_declared(seed: int) -> None:
    play = open_play(dealt(seed), OEDMC)
    for action in played(seed).actions:
        legal = {one.do for seat in awaited_seats(play.turns) for one in legal_actions(play, seat, JUDGE)}
        assert (action.do in HU) == (not legal.isdisjoint(HU))
        play = apply_action(play, action, JUDGE)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_outcome_can_be_scored_and_reaches_the_minimum(seed: int) -> None:
    one = played(seed)
    assert set(seat_points(one.outcome, OEDMC)) == set(SEATS)
    assert [value for value in one.outcome.winners.values() if value < 8] == []


def test_the_same_seed_gives_the_same_play() -> None:
    assert played.__wrapped__(3) == played(3)


def test_most_plays_are_won() -> None:
    endings = Counter(played(seed, (1.0,) * 4).outcome.win for seed in range(8))
    assert endings["draw"] <= 2


def test_stronger_players_score_more() -> None:
    """Check each deal with the strong players once at east and west and once at south and north."""
    strong = weak = 0
    for seed in SEEDS[:8]:
        for pair in (("east", "west"), ("south", "north")):
            scored = seat_points(played(seed, every(pair, 1.0)).outcome, OEDMC)
            strong += sum(scored[seat] for seat in pair)
            weak += sum(scored[seat] for seat in SEATS if seat not in pair)
    assert strong > weak + 100


FIRST = sixteen_players()[:3]
STRENGTHS = {number: number / 16 for number in range(1, 17)}


def play_bookings(bookings: Iterable[NumberedPlay], seed: int = 1) -> list[EventPlay]:
    def rng_for(words: str) -> Random:
        return Random(f"{seed} {words}")

    return list(play_event(bookings, lambda booking: dealt(booking.deal), STRENGTHS, OEDMC, rng_for))


def test_a_play_does_not_depend_on_earlier_or_simultaneous_plays() -> None:
    assert (
        play_bookings(reversed(FIRST))
        == play_bookings(FIRST)[::-1]
        == [*play_bookings(FIRST[2:]), *play_bookings(FIRST[1:2]), *play_bookings(FIRST[:1])]
    )


def test_another_seed_gives_other_plays() -> None:
    assert [one.played.actions for one in play_bookings(FIRST, 2)] != [
        one.played.actions for one in play_bookings(FIRST)
    ]


def test_a_play_is_scored_for_its_players() -> None:
    for one in play_bookings(FIRST):
        play = scored_play(one, OEDMC, "p{:02}".format)
        assert (play.deal, play.table) == (one.booking.deal, one.booking.table)
        assert play.players == {seat: f"p{one.booking.players[seat]:02}" for seat in SEATS}
        assert play.points == seat_points(one.played.outcome, OEDMC)
