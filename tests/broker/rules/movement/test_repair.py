"""What was played stays as it was, and what is left is planned as well as it can be."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.movement import NamedPlay, Order, check, named, repair
from tests.broker.rules.movement.making import made, steps

NAMES = [f"p{number:02}" for number in range(1, 31)]
IN_TURN = Order(16, 4, 5, deals_per_round=4)
TRAVELS = Order(16, 4, 4)


def plan(order: Order) -> tuple[NamedPlay, ...]:
    return named(made(order, 5), NAMES)


def repaired(
    plan_: Sequence[NamedPlay],
    played: Sequence[NamedPlay],
    instead: dict[int | str, int | str | None] | None = None,
    hundreds: int = 300,
) -> list[NamedPlay]:
    new = repair(plan_, played, instead or {}, Random(1), steps(hundreds))
    return [NamedPlay(p.round, p.table, p.deal, dict(p.players)) for p in new]


def until(plays: Sequence[NamedPlay], round_: int) -> list[NamedPlay]:
    return [play for play in plays if play.round <= round_]


def exchanged(play: NamedPlay, new: dict[int | str, int | str]) -> NamedPlay:
    players = {seat: new.get(who, who) for seat, who in play.players.items()}
    return NamedPlay(play.round, play.table, play.deal, players)


@st.composite
def accidents(draw: st.DrawFn) -> tuple[tuple[NamedPlay, ...], list[NamedPlay], dict[int | str, int | str | None]]:
    """Give a plan, what was played of it, and who has gone: some sat elsewhere, some deals were not played."""
    order = draw(st.sampled_from([IN_TURN, Order(20, 4, 6, deals_per_round=4), Order(24, 6, 4, deals_per_round=2)]))
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
    assert [fault for fault in check(new) if fault.at[-1] >= len(played)] == []  # what was played stays wrong if it was
    assert not set(instead) & {who for play in new if play.round > over for who in play.players.values()}


def test_where_all_went_as_planned_nothing_changes() -> None:
    assert repaired(plan(TRAVELS), until(plan(TRAVELS), 2)) == list(plan(TRAVELS))


def test_two_who_took_each_others_places_throughout_a_round_need_not_break_a_rule_later() -> None:
    planned = plan(TRAVELS)
    one, other = planned[0].players["east"], planned[1].players["east"]
    played = [exchanged(play, {one: other, other: one}) for play in until(planned, 1)]
    new = repaired(planned, played)
    assert new[: len(played)] == played
    assert (check(new), len(new)) == ([], 16)


def test_tables_that_played_each_others_deals_get_others_later() -> None:
    planned = plan(TRAVELS)
    deals = {planned[0].deal: planned[1].deal, planned[1].deal: planned[0].deal}
    played = [NamedPlay(p.round, p.table, deals.get(p.deal, p.deal), p.players) for p in until(planned, 1)]
    new = repaired(planned, played)
    assert new[: len(played)] == played
    assert (check(new), len(new)) == ([], 16)


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
    planned = plan(Order(17, 4, 4, deals_per_round=4))
    new = repaired(planned, until(planned, 1), {"p05": None})
    assert {play.table for play in new if play.round > 1} == {1, 2, 3, 4}
    assert check(new) == []


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
