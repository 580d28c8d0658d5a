"""Replanning the rest of an event: nobody sits out twice before all have once, nor twice in a row."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event.movement import (
    MovementOrder,
    MovementPlay,
    NamedPlay,
    check_movement,
    make_movement,
    name_players,
    repair_movement,
)
from broker.event.movement.repair import Remainder, replan
from broker.protocol import SEATS
from broker.rules import RuleError
from tests.broker.event.movement.making import made, steps


def out_too_early(
    plays: Iterable[MovementPlay], players: Sequence[Hashable], came: int = 1
) -> list[tuple[int, Hashable]]:
    """Return each round with a player who sits it out although one who plays has sat out less.

    The last player joined in round `came` and does not count before.
    """
    played: dict[int, set[Hashable]] = {}
    for play in plays:
        played.setdefault(play.round, set()).update(play.players.values())
    times, found = Counter[Hashable](), list[tuple[int, Hashable]]()
    for round_, sitting in sorted(played.items()):
        out = [one for one in players if one not in sitting]
        here = [one for one in players if one in sitting]
        found += [
            (round_, one)
            for one in out
            if any(times[other] < times[one] for other in here) and (one != players[-1] or round_ >= came)
        ]
        times.update(out)
    return found


def out_in_a_row(
    plays: Iterable[MovementPlay], players: Iterable[Hashable], came: int = 1
) -> list[tuple[int, Hashable]]:
    """Return each round after `came` with a player who sits it out and also sat out the round before."""
    played: dict[int, set[Hashable]] = {}
    for play in plays:
        played.setdefault(play.round, set()).update(play.players.values())
    return [
        (round_, one)
        for round_, sitting in sorted(played.items())
        for one in players
        if round_ > came
        if one not in sitting | played[round_ - 1]
    ]


orders = st.builds(
    lambda tables, more, rounds: MovementOrder(4 * tables + more, tables, rounds, 1, tables),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(3, 9),
)


@given(orders, st.integers(0, 2**16))
def test_in_a_new_movement_nobody_sits_out_twice_before_all_have_once(order: MovementOrder, seed: int) -> None:
    plays = make_movement(order, Random(seed), steps(50))
    assert out_too_early(plays, range(1, order.players + 1)) == []
    assert out_in_a_row(plays, range(1, order.players + 1)) == []


@given(orders, st.integers(0, 2**16), st.data())
def test_byes_stay_fair_after_absences_and_late_entries(order: MovementOrder, seed: int, data: st.DataObject) -> None:
    chance = Random(seed)
    plays: Sequence[MovementPlay] = make_movement(order, chance, steps(50))
    layout = {(play.round, play.table): play.deal for play in plays}
    present: list[int | str] = [*range(1, order.players + 1)]
    come = 1
    for first in sorted(data.draw(st.sets(st.integers(1, order.rounds), max_size=2))):
        gone = data.draw(st.sets(st.sampled_from(present), max_size=max(0, min(3, len(present) - 4))))
        present = [one for one in present if one not in gone]
        if data.draw(st.booleans()):
            present.append(f"late {first}")
            come = first
        settled = [play for play in plays if play.round < first]
        rest = Remainder(layout, plays, settled, present, first_round=first)
        plays = [*settled, *replan(rest, chance, steps(100))]
        assert check_movement(plays, copies=order.tables) == []
        late = [one for one in present if isinstance(one, str)]
        if len(late) <= 1 and _is_whole(plays, layout, len(present), first):
            assert [at for at in out_too_early(plays, present, come) if at[0] >= first] == []


def _is_whole(plays: Sequence[MovementPlay], layout: Iterable[tuple[int, int]], present: int, first: int) -> bool:
    """Return whether every round from `first` on has all tables that its players can fill."""
    tables, left = Counter(round_ for round_, _ in layout), Counter(play.round for play in plays)
    return all(left[round_] == min(of, present // 4) for round_, of in tables.items() if round_ >= first)


@pytest.mark.parametrize(("gone", "seed"), [(1, 0), (2, 1)])
def test_no_table_that_can_be_filled_is_empty_if_everybody_plays_all_deals(gone: int, seed: int) -> None:
    chance = Random(seed)
    plays = make_movement(MovementOrder(32, 8, 8, 1, 2), chance, steps(20))
    layout = {(play.round, play.table): play.deal for play in plays}
    present = chance.sample(range(1, 33), 32 - gone)
    left = replan(Remainder(layout, plays, [], sorted(present)), chance, steps(210))
    assert len(left) == 7 * 8
    assert out_too_early(left, present) == []


@pytest.mark.parametrize("seed", range(2))
def test_nobody_sits_out_twice_in_a_row_even_among_few_players(seed: int) -> None:
    chance = Random(seed)
    plays: Sequence[MovementPlay] = make_movement(MovementOrder(8, 2, 8, 1, 2), chance, steps(50))
    layout = {(play.round, play.table): play.deal for play in plays}
    present: list[int | str] = [1, 2, 4, 6, 7]
    for first, gone in ((1, 0), (3, 0), (6, 6)):
        present = [one for one in present if one != gone] + ["late"] * (first == 3)
        settled = [play for play in plays if play.round < first]
        left = replan(Remainder(layout, plays, settled, present, first_round=first), chance, steps(100))
        plays = [*settled, *left]
    assert out_in_a_row(plays, [1, 2, 4, 7]) == out_in_a_row(plays, ["late"], 3) == []


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_sitting_out_several_deals_without_a_change_of_seats_counts_once(rounds: int) -> None:
    order = MovementOrder(5, 1, 5, 1, 1)
    plays = make_movement(order, Random(1), steps(50))
    long = [
        NamedPlay(deals * play.round - deals + 1 + at, play.table, deals * play.deal + at, play.players)
        for deals in (rounds,)
        for play in plays
        for at in range(deals)
    ]
    settled = [play for play in long if play.round <= rounds]
    layout = {(play.round, play.table): play.deal for play in long}
    left = replan(Remainder(layout, long, settled, [*range(1, 6)], first_round=rounds + 1), Random(2), steps(50))
    assert Counter(one for play in (*settled, *left) for one in play.players.values()) == dict.fromkeys(
        range(1, 6), 4 * rounds
    )


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


Accident = tuple[tuple[NamedPlay, ...], list[NamedPlay], dict[int | str, int | str | None]]
"""A plan, its finished plays, and the players who left with their substitutes."""


@st.composite
def accidents(draw: st.DrawFn) -> Accident:
    """Draw a plan of which some plays were not played as planned, and some players left."""
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
def test_finished_plays_are_unchanged_and_later_ones_break_no_rule(case: Accident) -> None:
    planned, played, instead = case
    over = max((play.round for play in played), default=0)
    new = repaired(planned, played, instead, 20)
    assert new[: len(played)] == list(played)
    assert [
        fault for fault in check_movement(new) if fault.at[-1] >= len(played)
    ] == []  # faults of finished plays remain
    assert not set(instead) & {who for play in new if play.round > over for who in play.players.values()}


def test_nothing_changes_if_all_went_as_planned() -> None:
    assert repaired(plan(TRAVELS), until(plan(TRAVELS), 2)) == list(plan(TRAVELS))


def test_players_who_swapped_seats_for_a_round_break_no_rule_later() -> None:
    planned = plan(TRAVELS)
    one, other = planned[0].players["east"], planned[1].players["east"]
    played = [exchanged(play, {one: other, other: one}) for play in until(planned, 1)]
    new = repaired(planned, played)
    assert new[: len(played)] == played
    assert (check_movement(new), len(new)) == ([], 16)


def test_tables_that_swapped_deals_get_other_deals_later() -> None:
    planned = plan(TRAVELS)
    deals = {planned[0].deal: planned[1].deal, planned[1].deal: planned[0].deal}
    played = [NamedPlay(p.round, p.table, deals.get(p.deal, p.deal), p.players) for p in until(planned, 1)]
    new = repaired(planned, played)
    assert new[: len(played)] == played
    assert (check_movement(new), len(new)) == ([], 16)


def test_a_substitute_takes_the_leavers_place_and_nobody_else_moves() -> None:
    planned = plan(TRAVELS)
    new = repaired(planned, until(planned, 1), {"p05": "late"})
    assert new == [play if play.round == 1 else exchanged(play, {"p05": "late"}) for play in planned]


def test_without_a_substitute_the_table_is_closed_and_its_players_sit_out() -> None:
    planned = plan(IN_TURN)
    new = repaired(planned, until(planned, 1), {"p05": None})
    closed = [(p.round, p.table) for p in planned if p.round > 1 and "p05" in p.players.values()]
    assert new == [play for play in planned if (play.round, play.table) not in closed]


def test_a_player_who_sits_out_replaces_one_who_left() -> None:
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
def test_an_impossible_repair_is_refused(over: int, instead: dict[int | str, int | str | None], code: str) -> None:
    with pytest.raises(RuleError) as refused:
        repaired(plan(TRAVELS), until(plan(TRAVELS), over), instead)
    assert refused.value.code == code


def test_every_seat_of_a_planned_table_has_a_player() -> None:
    new = repaired(plan(IN_TURN), until(plan(IN_TURN), 2), {"p01": None, "p02": None, "p03": None, "p04": None})
    assert {tuple(play.players) for play in new} == {SEATS}
