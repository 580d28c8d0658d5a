"""The laws of the movement for sixteen."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from broker.contract.words import SEATS
from broker.rules.movement import sixteen_players

PLAYS = sixteen_players()
PLAYERS = range(1, 17)
FOUR = range(1, 5)


def each_once(pairs: Iterable[tuple[object, object]]) -> set[tuple[object, object]]:
    """Give pairs, of which none may come twice."""
    listed = list(pairs)
    assert len(listed) == len(set(listed))
    return set(listed)


def test_there_are_sixteen_plays_by_round_and_table() -> None:
    assert [(play.round, play.table) for play in PLAYS] == [(round_, table) for round_ in FOUR for table in FOUR]


def test_each_play_has_a_player_on_each_of_four_chairs() -> None:
    assert {tuple(sorted(play.players)) for play in PLAYS} == {tuple(sorted(SEATS))}


def test_each_player_plays_each_deal_once() -> None:
    played = each_once((player, play.deal) for play in PLAYS for player in play.players.values())
    assert played == {(player, deal) for player in PLAYERS for deal in FOUR}


def test_each_player_sits_once_at_each_seat() -> None:
    sat = each_once((player, seat) for play in PLAYS for seat, player in play.players.items())
    assert sat == {(player, seat) for player in PLAYERS for seat in SEATS}


def test_each_player_plays_once_in_each_round() -> None:
    played = each_once((player, play.round) for play in PLAYS for player in play.players.values())
    assert played == {(player, round_) for player in PLAYERS for round_ in FOUR}


def test_each_table_plays_one_deal_in_a_round_and_each_deal_once() -> None:
    assert each_once((play.table, play.deal) for play in PLAYS) == {(table, deal) for table in FOUR for deal in FOUR}


def test_each_carrier_is_at_one_table_in_a_round() -> None:
    assert each_once((play.round, play.deal) for play in PLAYS) == {(round_, deal) for round_ in FOUR for deal in FOUR}


def test_a_carrier_goes_round_to_the_table_before() -> None:
    at = {(play.round, play.deal): play.table for play in PLAYS}
    moves = {(at[round_, deal] - at[round_ + 1, deal]) % 4 for round_ in FOUR[:-1] for deal in FOUR}
    assert moves == {1}


def met() -> Counter[tuple[int, int]]:
    """Give how often each two players sit at one table."""
    return Counter(pair for play in PLAYS for pair in combinations(sorted(play.players.values()), 2))


def test_nobody_meets_another_more_than_twice_and_24_pairs_do_so() -> None:
    assert Counter(met().values()) == {1: 48, 2: 24}


def test_the_first_twelve_meet_each_other_at_most_once() -> None:
    assert {times for (one, other), times in met().items() if one <= 12 and other <= 12} == {1}


def test_the_last_four_never_meet_each_other() -> None:
    assert [pair for pair in met() if min(pair) > 12] == []


def test_the_movement_is_the_same_every_time() -> None:
    assert sixteen_players() == PLAYS
