"""Generated movements break no rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event.movement import (
    MovementOrder,
    check_movement,
    check_teams,
    measure_movement,
)
from broker.event.movement.plays import sittings_of
from broker.rules import RuleError
from tests.broker.event.movement.making import made
from tests.broker.event.movement.oracle import is_sound


@st.composite
def orders(draw: st.DrawFn) -> MovementOrder:
    tables = draw(st.integers(1, 9))
    players = tables * 4 + draw(st.integers(0, 5))
    return MovementOrder(players, tables, draw(st.integers(1, 9)), draw(st.integers(1, 4)), draw(st.integers(1, 4)))


@given(orders(), st.integers(0, 20), st.integers(0, 5))
def test_a_movement_breaks_no_rule_however_short_the_search(order: MovementOrder, hundreds: int, seed: int) -> None:
    plays = made(order, hundreds, seed)
    assert check_movement(plays, order.copies) == []
    assert is_sound(plays, order.copies)


@given(orders(), st.integers(0, 5))
def test_every_round_has_all_tables_and_all_their_deals(order: MovementOrder, hundreds: int) -> None:
    plays = made(order, hundreds)
    ordered = {(r, t) for r in range(1, order.rounds + 1) for t in range(1, order.tables + 1)}
    assert {(play.round, play.table) for play in plays} == ordered
    assert len(plays) == order.rounds * order.tables * order.deals_per_round
    assert {player for play in plays for player in play.players.values()} <= set(range(1, order.players + 1))


@given(orders())
def test_each_deal_reaches_every_table_if_there_are_enough_rounds(order: MovementOrder) -> None:
    visits = {deal: set[int]() for sitting in sittings_of(order) for deal in sitting.deals}
    for sitting in sittings_of(order):
        for deal in sitting.deals:
            visits[deal].add(sitting.table)
    if order.rounds >= order.pods:
        assert {len(tables) for tables in visits.values()} == {order.tables}


@pytest.mark.parametrize(
    ("order", "pairs"),
    [
        (MovementOrder(20, 5, 5), 150),
        (MovementOrder(28, 7, 7), 294),
        (MovementOrder(32, 8, 8), 384),
        (MovementOrder(36, 9, 9), 486),
        (MovementOrder(64, 16, 8), 768),
        (MovementOrder(64, 16, 12, deals_per_round=4), 1152),
    ],
    ids=str,
)
def test_nobody_meets_twice_at_sizes_that_algebra_solves(order: MovementOrder, pairs: int) -> None:
    found = measure_movement(made(order, 0))
    assert (found.meetings.often[1], found.meetings.excess) == (pairs, 0)


def test_the_same_seed_and_steps_give_the_same_movement() -> None:
    order = MovementOrder(24, 6, 6)
    assert made.__wrapped__(order, 10, 3) == made.__wrapped__(order, 10, 3)
    assert made.__wrapped__(order, 10, 3) != made.__wrapped__(order, 10, 4)


def test_a_search_improves_a_difficult_size() -> None:
    order = MovementOrder(24, 6, 6)
    start, searched = (measure_movement(made(order, hundreds)) for hundreds in (0, 600))
    assert searched.meetings.excess < start.meetings.excess


def test_byes_are_even_without_a_search_if_all_tables_share_a_rounds_deals() -> None:
    assert measure_movement(made(MovementOrder(18, 4, 9, deals_per_round=4), 0), range(1, 19)).byes == {1: 18}


def test_the_search_evens_out_byes_if_deals_travel() -> None:
    assert measure_movement(made(MovementOrder(18, 4, 4), 100), range(1, 19)).byes == {0: 10, 1: 8}


def teams(count: int) -> dict[str, tuple[int, ...]]:
    return {f"team {y + 1}": tuple(range(4 * y + 1, 4 * y + 5)) for y in range(count)}


@pytest.mark.parametrize(
    "order",
    [
        MovementOrder(8, 2, 4),
        MovementOrder(8, 2, 3, deals_per_round=2),
        MovementOrder(12, 3, 3),
        MovementOrder(12, 3, 4, deals_per_round=4),
        MovementOrder(16, 4, 4),
        MovementOrder(16, 4, 4, deals_per_round=4),
        MovementOrder(16, 4, 5, copies=4),
        MovementOrder(20, 5, 5),
        MovementOrder(20, 5, 7),
        MovementOrder(24, 6, 4, deals_per_round=2),
        MovementOrder(32, 8, 8),
    ],
    ids=str,
)
@pytest.mark.parametrize("hundreds", [0, 10])
def test_each_team_sits_once_at_each_seat_of_each_deal_and_never_together(order: MovementOrder, hundreds: int) -> None:
    plays = made(order, hundreds, in_teams=True)
    assert check_movement(plays, order.copies) == []
    assert check_teams(plays, teams(order.tables)) == []


@pytest.mark.parametrize(
    ("order", "in_teams", "code"),
    [
        ((3, 1, 1), False, "impossible_size"),
        ((1001, 4, 4), False, "impossible_size"),
        ((16, 5, 4), False, "impossible_size"),
        ((16, 0, 4), False, "impossible_size"),
        ((16, 4, 0), False, "impossible_size"),
        ((16, 4, 1000), False, "impossible_size"),
        ((16, 4, 4, 0), False, "impossible_size"),
        ((16, 4, 4, 1, 0), False, "impossible_size"),
        ((16, 4, 999, 20), False, "impossible_size"),
        ((1000, 250, 999), False, "impossible_size"),
        ((4, 1, 4), True, "teams_do_not_fit"),
        ((18, 4, 4), True, "teams_do_not_fit"),
        ((16, 4, 3), True, "teams_do_not_fit"),
    ],
)
def test_an_impossible_order_is_refused(*, order: tuple[int, ...], in_teams: bool, code: str) -> None:
    with pytest.raises(RuleError) as refused:
        made(MovementOrder(*order), 0, in_teams=in_teams)
    assert refused.value.code == code
