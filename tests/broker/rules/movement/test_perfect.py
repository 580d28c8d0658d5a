"""16 players, 5 rounds: each pair meets once and is compared once; and what cannot be had as well."""

from collections import Counter
from itertools import combinations

import pytest

from broker.contract.words import SEATS
from broker.rules.movement import Order, check, is_perfect, quality
from tests.broker.rules.movement.making import made
from tests.broker.rules.movement.oracle import compared, is_sound, met

AT_ONCE = Order(16, 4, 5, copies=4)
IN_TURN = Order(16, 4, 5, deals_per_round=4)
BOTH = pytest.mark.parametrize("order", [AT_ONCE, IN_TURN], ids=["four carriers", "four deals a round"])
PAIRS = list(combinations(range(1, 17), 2))


@BOTH
def test_it_is_known_to_be_perfect(order: Order) -> None:
    assert is_perfect(order)


@BOTH
def test_no_rule_is_broken(order: Order) -> None:
    assert check(made(order), order.copies) == []
    assert is_sound(made(order), order.copies)


@BOTH
def test_each_pair_meets_exactly_once(order: Order) -> None:
    assert {met(made(order), *pair) for pair in PAIRS} == {1}


@BOTH
def test_each_pair_is_compared_exactly_once(order: Order) -> None:
    assert {compared(made(order), *pair) for pair in PAIRS} == {1}


@BOTH
def test_each_player_plays_each_deal_once(order: Order) -> None:
    plays = made(order)
    deals = range(1, 5 * order.deals_per_round + 1)
    played = Counter((player, play.deal) for play in plays for player in play.players.values())
    assert played == {(player, deal): 1 for player in range(1, 17) for deal in deals}


def test_with_four_deals_a_round_each_carrier_is_at_one_table_at_a_time() -> None:
    assert quality(made(IN_TURN)).copies == 1


def test_four_players_have_a_seat_three_times_and_nobody_has_one_four_times() -> None:
    often = Counter((player, seat) for play in made(AT_ONCE) for seat, player in play.players.items())
    of_players = Counter(
        tuple(sorted((often[player, seat] for seat in SEATS), reverse=True)) for player in range(1, 17)
    )
    assert of_players == {(2, 2, 1, 0): 12, (3, 2, 0, 0): 4}


def test_in_any_two_rounds_four_players_have_the_same_seat_so_not_everybody_can_have_all_four() -> None:
    seats = {(play.round, player): seat for play in made(AT_ONCE) for seat, player in play.players.items()}
    same = [sum(seats[r, p] == seats[s, p] for p in range(1, 17)) for r, s in combinations(range(1, 6), 2)]
    assert same == [4] * 10  # 40 repetitions; 16 players with seats 2-1-1-1 would have 16


def test_tables_of_different_rounds_always_share_a_player_so_no_deal_can_travel() -> None:
    tables = {(play.round, frozenset(play.players.values())) for play in made(AT_ONCE)}
    shared = {len(a & b) for (r, a), (s, b) in combinations(tables, 2) if r != s}
    assert shared == {1}


@pytest.mark.parametrize(("rounds", "meetings"), [(1, 24), (3, 72), (4, 96)])
def test_fewer_rounds_are_the_first_ones_of_a_plane_nobody_meets_twice(rounds: int, meetings: int) -> None:
    order = Order(16, 4, rounds, deals_per_round=4)
    assert quality(made(order)).meetings.often == {0: 120 - meetings, 1: meetings}


def test_sixty_four_players_meet_once_each_in_21_rounds_and_are_compared_five_times_each() -> None:
    found = quality(made(Order(64, 16, 21, copies=16), 0))
    assert (found.meetings.often, found.comparisons.often) == ({1: 2016}, {5: 2016})
