"""Movements from algebra: fields, the perfect movements of 16 and 64 players, four rounds of 16."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import pytest

from broker.event.movement import MovementOrder, check_movement, measure_movement, sixteen_players
from broker.event.movement.algebra import MODULI, finite_field, has_field, is_perfect
from broker.protocol import SEATS
from tests.broker.event.movement.making import made
from tests.broker.event.movement.oracle import compared, is_sound, times_met

SIZES = [size for size in range(2, 33) if has_field(size)]


def test_exactly_the_prime_powers_have_a_field() -> None:
    assert SIZES == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]


@pytest.mark.parametrize("size", [*SIZES, 49, 64])
def test_sums_and_products_except_by_zero_take_each_value_once(size: int) -> None:
    numbers = finite_field(size)
    everything = list(range(size))
    assert all(sorted(row) == everything for row in numbers.plus)
    assert all(sorted(row) == everything for row in numbers.times[1:])
    assert (list(numbers.times[0]), list(numbers.times[1])) == ([0] * size, everything)


@pytest.mark.parametrize("size", [5, *(size for size in MODULI if size < 17)])
def test_products_distribute_over_sums(size: int) -> None:
    f = finite_field(size)
    triples = [(a, b, c) for a in range(size) for b in range(size) for c in range(size)]
    assert [
        t for t in triples if f.times[t[0]][f.plus[t[1]][t[2]]] != f.plus[f.times[t[0]][t[1]]][f.times[t[0]][t[2]]]
    ] == []


AT_ONCE = MovementOrder(16, 4, 5, copies=4)
IN_TURN = MovementOrder(16, 4, 5, deals_per_round=4)
BOTH = pytest.mark.parametrize("order", [AT_ONCE, IN_TURN], ids=["four carriers", "four deals a round"])
PAIRS = list(combinations(range(1, 17), 2))


@BOTH
def test_the_order_is_recognised_as_perfect(order: MovementOrder) -> None:
    assert is_perfect(order)


@BOTH
def test_the_perfect_movement_breaks_no_rule(order: MovementOrder) -> None:
    assert check_movement(made(order), order.copies) == []
    assert is_sound(made(order), order.copies)


@BOTH
def test_each_pair_meets_exactly_once(order: MovementOrder) -> None:
    assert {times_met(made(order), *pair) for pair in PAIRS} == {1}


@BOTH
def test_each_pair_is_compared_exactly_once(order: MovementOrder) -> None:
    assert {compared(made(order), *pair) for pair in PAIRS} == {1}


@BOTH
def test_each_player_plays_each_deal_once(order: MovementOrder) -> None:
    plays = made(order)
    deals = range(1, 5 * order.deals_per_round + 1)
    played = Counter((player, play.deal) for play in plays for player in play.players.values())
    assert played == {(player, deal): 1 for player in range(1, 17) for deal in deals}


def test_with_four_deals_a_round_each_carrier_is_at_one_table_at_a_time() -> None:
    assert measure_movement(made(IN_TURN)).copies == 1


def test_four_players_have_a_seat_three_times_and_nobody_has_one_four_times() -> None:
    often = Counter((player, seat) for play in made(AT_ONCE) for seat, player in play.players.items())
    of_players = Counter(
        tuple(sorted((often[player, seat] for seat in SEATS), reverse=True)) for player in range(1, 17)
    )
    assert of_players == {(2, 2, 1, 0): 12, (3, 2, 0, 0): 4}


def test_in_any_two_rounds_exactly_four_players_have_the_same_seat() -> None:
    seats = {(play.round, player): seat for play in made(AT_ONCE) for seat, player in play.players.items()}
    same = [sum(seats[r, p] == seats[s, p] for p in range(1, 17)) for r, s in combinations(range(1, 6), 2)]
    assert same == [4] * 10  # 40 repetitions; 16 players with seats 2-1-1-1 would have 16


def test_tables_of_different_rounds_always_share_a_player() -> None:
    tables = {(play.round, frozenset(play.players.values())) for play in made(AT_ONCE)}
    shared = {len(a & b) for (r, a), (s, b) in combinations(tables, 2) if r != s}
    assert shared == {1}


@pytest.mark.parametrize(("rounds", "meetings"), [(1, 24), (3, 72), (4, 96)])
def test_with_fewer_rounds_nobody_meets_twice(rounds: int, meetings: int) -> None:
    order = MovementOrder(16, 4, rounds, deals_per_round=4)
    assert measure_movement(made(order)).meetings.often == {0: 120 - meetings, 1: meetings}


def test_sixty_four_players_meet_once_in_21_rounds_and_are_compared_five_times() -> None:
    found = measure_movement(made(MovementOrder(64, 16, 21, copies=16), 0))
    assert (found.meetings.often, found.comparisons.often) == ({1: 2016}, {5: 2016})


PLAYS = sixteen_players()
PLAYERS = range(1, 17)
FOUR = range(1, 5)


def each_once(pairs: Iterable[tuple[object, object]]) -> set[tuple[object, object]]:
    """Return pairs as a set; none may occur twice."""
    listed = list(pairs)
    assert len(listed) == len(set(listed))
    return set(listed)


def test_the_movement_has_sixteen_plays_by_round_and_table() -> None:
    assert [(play.round, play.table) for play in PLAYS] == [(round_, table) for round_ in FOUR for table in FOUR]


def test_each_play_has_a_player_at_each_seat() -> None:
    assert {tuple(sorted(play.players)) for play in PLAYS} == {tuple(sorted(SEATS))}


def test_each_of_the_sixteen_players_plays_each_deal_once() -> None:
    played = each_once((player, play.deal) for play in PLAYS for player in play.players.values())
    assert played == {(player, deal) for player in PLAYERS for deal in FOUR}


def test_each_player_sits_once_at_each_seat() -> None:
    sat = each_once((player, seat) for play in PLAYS for seat, player in play.players.items())
    assert sat == {(player, seat) for player in PLAYERS for seat in SEATS}


def test_each_player_plays_once_in_each_round() -> None:
    played = each_once((player, play.round) for play in PLAYS for player in play.players.values())
    assert played == {(player, round_) for player in PLAYERS for round_ in FOUR}


def test_each_table_plays_each_deal_once() -> None:
    assert each_once((play.table, play.deal) for play in PLAYS) == {(table, deal) for table in FOUR for deal in FOUR}


def test_each_carrier_is_at_one_table_in_a_round() -> None:
    assert each_once((play.round, play.deal) for play in PLAYS) == {(round_, deal) for round_ in FOUR for deal in FOUR}


def test_each_carrier_moves_to_the_previous_table() -> None:
    at = {(play.round, play.deal): play.table for play in PLAYS}
    moves = {(at[round_, deal] - at[round_ + 1, deal]) % 4 for round_ in FOUR[:-1] for deal in FOUR}
    assert moves == {1}


def met() -> Counter[tuple[int, int]]:
    """Return how often each pair of players sits at one table."""
    return Counter(pair for play in PLAYS for pair in combinations(sorted(play.players.values()), 2))


def test_24_pairs_meet_twice_and_none_more_often() -> None:
    assert Counter(met().values()) == {1: 48, 2: 24}


def test_the_first_twelve_meet_each_other_at_most_once() -> None:
    assert {times for (one, other), times in met().items() if one <= 12 and other <= 12} == {1}


def test_the_last_four_never_meet_each_other() -> None:
    assert [pair for pair in met() if min(pair) > 12] == []


def test_the_movement_is_the_same_every_time() -> None:
    assert sixteen_players() == PLAYS
