"""Movements that are made, and what is left of one planned anew: no rule is broken."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event.movement import (
    MovementOrder,
    NamedPlay,
    check_movement,
    check_teams,
    measure_movement,
    name_players,
    repair_movement,
)
from broker.event.movement.plays import lay_out
from broker.protocol import SEATS
from broker.rules import RuleError
from tests.broker.event.movement.making import made, steps
from tests.broker.event.movement.oracle import is_sound


@st.composite
def orders(draw: st.DrawFn) -> MovementOrder:
    tables = draw(st.integers(1, 9))
    players = tables * 4 + draw(st.integers(0, 5))
    return MovementOrder(players, tables, draw(st.integers(1, 9)), draw(st.integers(1, 4)), draw(st.integers(1, 4)))


@given(orders(), st.integers(0, 20), st.integers(0, 5))
def test_no_order_and_no_time_gives_a_movement_that_breaks_a_rule(
    order: MovementOrder, hundreds: int, seed: int
) -> None:
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
def test_a_deal_comes_to_every_table_where_there_are_rounds_enough(order: MovementOrder) -> None:
    visits = {deal: set[int]() for sitting in lay_out(order) for deal in sitting.deals}
    for sitting in lay_out(order):
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
def test_where_algebra_knows_the_way_nobody_meets_twice(order: MovementOrder, pairs: int) -> None:
    found = measure_movement(made(order, 0))
    assert (found.meetings.often[1], found.meetings.excess) == (pairs, 0)


def test_the_same_seed_and_steps_give_the_same_movement() -> None:
    order = MovementOrder(24, 6, 6)
    assert made.__wrapped__(order, 10, 3) == made.__wrapped__(order, 10, 3)
    assert made.__wrapped__(order, 10, 3) != made.__wrapped__(order, 10, 4)


def test_a_search_makes_a_hard_size_better() -> None:
    order = MovementOrder(24, 6, 6)
    start, searched = (measure_movement(made(order, hundreds)) for hundreds in (0, 600))
    assert searched.meetings.excess < start.meetings.excess


def test_where_all_share_the_deals_of_a_round_everybody_sits_out_as_often_from_the_start() -> None:
    assert measure_movement(made(MovementOrder(18, 4, 9, deals_per_round=4), 0), range(1, 19)).byes == {1: 18}


def test_where_deals_travel_the_search_sees_to_it_that_everybody_sits_out_as_often() -> None:
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
def test_a_team_sits_once_at_each_seat_of_each_deal_and_not_together(order: MovementOrder, hundreds: int) -> None:
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
def test_an_order_that_cannot_be_met_is_refused(order: tuple[int, ...], in_teams: bool, code: str) -> None:  # noqa: FBT001 - a case
    with pytest.raises(RuleError) as refused:
        made(MovementOrder(*order), 0, in_teams=in_teams)
    assert refused.value.code == code


NAMES = [f"p{number:02}" for number in range(1, 31)]
IN_TURN = MovementOrder(16, 4, 5, deals_per_round=4)
TRAVELS = MovementOrder(16, 4, 4)


def plan(order: MovementOrder) -> tuple[NamedPlay, ...]:
    return name_players(made(order, 5), NAMES)


def repaired(
    plan_: Sequence[NamedPlay],
    played: Sequence[NamedPlay],
    instead: dict[int | str, int | str | None] | None = None,
    hundreds: int = 300,
) -> list[NamedPlay]:
    new = repair_movement(plan_, played, instead or {}, Random(1), steps(hundreds))
    return [NamedPlay(p.round, p.table, p.deal, dict(p.players)) for p in new]


def until(plays: Sequence[NamedPlay], round_: int) -> list[NamedPlay]:
    return [play for play in plays if play.round <= round_]


def exchanged(play: NamedPlay, new: dict[int | str, int | str]) -> NamedPlay:
    players = {seat: new.get(who, who) for seat, who in play.players.items()}
    return NamedPlay(play.round, play.table, play.deal, players)


@st.composite
def accidents(draw: st.DrawFn) -> tuple[tuple[NamedPlay, ...], list[NamedPlay], dict[int | str, int | str | None]]:
    """Return a plan, what was played of it, and who has gone: some sat elsewhere, some deals were not played."""
    order = draw(
        st.sampled_from(
            [IN_TURN, MovementOrder(20, 4, 6, deals_per_round=4), MovementOrder(24, 6, 4, deals_per_round=2)]
        )
    )
    planned = plan(order)
    over = draw(st.integers(0, order.rounds - 1))
    one, other = draw(st.permutations(NAMES[: order.players]))[:2]
    wrong = draw(st.integers(1, order.rounds))
    played = [exchanged(p, {one: other, other: one}) if p.round == wrong else p for p in until(planned, over)]
    skipped = draw(st.integers(0, len(played)))
    gone = draw(st.sampled_from(NAMES[: order.players]))
    changes: list[dict[int | str, int | str | None]] = [{}, {gone: None}, {gone: "late"}]
    instead = draw(st.sampled_from(changes))
    return planned, [p for at, p in enumerate(played) if at != skipped], instead


@given(accidents())
def test_what_was_played_is_not_altered_and_no_rule_is_broken_after_it(case) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - drawn by hypothesis
    planned, played, instead = case
    over = max((play.round for play in played), default=0)
    new = repaired(planned, played, instead, 20)
    assert new[: len(played)] == list(played)
    assert [
        fault for fault in check_movement(new) if fault.at[-1] >= len(played)
    ] == []  # what was played stays wrong if it was
    assert not set(instead) & {who for play in new if play.round > over for who in play.players.values()}


def test_where_all_went_as_planned_nothing_changes() -> None:
    assert repaired(plan(TRAVELS), until(plan(TRAVELS), 2)) == list(plan(TRAVELS))


def test_two_who_took_each_others_places_throughout_a_round_need_not_break_a_rule_later() -> None:
    planned = plan(TRAVELS)
    one, other = planned[0].players["east"], planned[1].players["east"]
    played = [exchanged(play, {one: other, other: one}) for play in until(planned, 1)]
    new = repaired(planned, played)
    assert new[: len(played)] == played
    assert (check_movement(new), len(new)) == ([], 16)


def test_tables_that_played_each_others_deals_get_others_later() -> None:
    planned = plan(TRAVELS)
    deals = {planned[0].deal: planned[1].deal, planned[1].deal: planned[0].deal}
    played = [NamedPlay(p.round, p.table, deals.get(p.deal, p.deal), p.players) for p in until(planned, 1)]
    new = repaired(planned, played)
    assert new[: len(played)] == played
    assert (check_movement(new), len(new)) == ([], 16)


def test_a_substitute_takes_the_place_of_who_has_gone_and_nobody_else_moves() -> None:
    planned = plan(TRAVELS)
    new = repaired(planned, until(planned, 1), {"p05": "late"})
    assert new == [play if play.round == 1 else exchanged(play, {"p05": "late"}) for play in planned]


def test_without_a_substitute_the_table_is_closed_and_its_players_sit_out() -> None:
    planned = plan(IN_TURN)
    new = repaired(planned, until(planned, 1), {"p05": None})
    closed = [(p.round, p.table) for p in planned if p.round > 1 and "p05" in p.players.values()]
    assert new == [play for play in planned if (play.round, play.table) not in closed]


def test_who_sits_out_comes_in_for_who_has_gone() -> None:
    planned = plan(MovementOrder(17, 4, 4, deals_per_round=4))
    new = repaired(planned, until(planned, 1), {"p05": None})
    assert {play.table for play in new if play.round > 1} == {1, 2, 3, 4}
    assert check_movement(new) == []


@pytest.mark.parametrize(
    ("over", "instead", "code"),
    [
        (4, {}, "nothing_left"),
        (1, {"p99": None}, "unknown_player"),
        (1, {"p05": "p06"}, "substitute_plays"),
        (1, {"p05": "new", "p06": "new"}, "substitute_plays"),
        (1, dict.fromkeys(NAMES[:13]), "too_few_players"),
    ],
)
def test_what_cannot_be_repaired_is_refused(over: int, instead: dict[int | str, int | str | None], code: str) -> None:
    with pytest.raises(RuleError) as refused:
        repaired(plan(TRAVELS), until(plan(TRAVELS), over), instead)
    assert refused.value.code == code


def test_every_chair_of_a_planned_table_has_a_player() -> None:
    new = repaired(plan(IN_TURN), until(plan(IN_TURN), 2), {"p01": None, "p02": None, "p03": None, "p04": None})
    assert {tuple(play.players) for play in new} == {SEATS}
