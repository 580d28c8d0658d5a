"""What is left of an event planned anew: nobody sits out twice before all have once, nor twice in a row."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event.movement import MovementOrder, MovementPlay, NamedPlay, check_movement, make_movement
from broker.event.movement.repair import Remainder, replan


def for_steps(hundreds: int) -> Callable[[], bool]:
    """Let a search try so many hundreds of exchanges."""
    left = iter(range(hundreds))
    return lambda: next(left, None) is not None


def out_too_early(
    plays: Iterable[MovementPlay], players: Sequence[Hashable], came: int = 1
) -> list[tuple[int, Hashable]]:
    """Return who sits out in a round though somebody who plays in it has sat out less; `came`: the last one's round."""
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
    """Return who sits out in a round from `came` on, and sat out in the one before."""
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
    plays = make_movement(order, Random(seed), for_steps(50))
    assert out_too_early(plays, range(1, order.players + 1)) == []
    assert out_in_a_row(plays, range(1, order.players + 1)) == []


@given(orders, st.integers(0, 2**16), st.data())
def test_after_no_shows_late_entries_and_leavers_too(order: MovementOrder, seed: int, data: st.DataObject) -> None:
    chance = Random(seed)
    plays: Sequence[MovementPlay] = make_movement(order, chance, for_steps(50))
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
        plays = [*settled, *replan(rest, chance, for_steps(100))]
        assert check_movement(plays, copies=order.tables) == []
        late = [one for one in present if isinstance(one, str)]
        if len(late) <= 1 and _is_whole(plays, layout, len(present), first):
            assert [at for at in out_too_early(plays, present, come) if at[0] >= first] == []


def _is_whole(plays: Sequence[MovementPlay], layout: Iterable[tuple[int, int]], present: int, first: int) -> bool:
    """Return whether every round has all tables that can be filled: none was left out for a deal known to its four."""
    tables, left = Counter(round_ for round_, _ in layout), Counter(play.round for play in plays)
    return all(left[round_] == min(of, present // 4) for round_, of in tables.items() if round_ >= first)


@pytest.mark.parametrize(("gone", "seed"), [(1, 0), (2, 1)])
def test_where_everybody_plays_all_deals_no_table_is_empty_that_could_be_filled(gone: int, seed: int) -> None:
    chance = Random(seed)
    plays = make_movement(MovementOrder(32, 8, 8, 1, 2), chance, for_steps(20))
    layout = {(play.round, play.table): play.deal for play in plays}
    present = chance.sample(range(1, 33), 32 - gone)
    left = replan(Remainder(layout, plays, [], sorted(present)), chance, for_steps(210))
    assert len(left) == 7 * 8
    assert out_too_early(left, present) == []


@pytest.mark.parametrize("seed", range(2))
def test_where_few_meet_often_nobody_sits_out_twice_in_a_row(seed: int) -> None:
    chance = Random(seed)
    plays: Sequence[MovementPlay] = make_movement(MovementOrder(8, 2, 8, 1, 2), chance, for_steps(50))
    layout = {(play.round, play.table): play.deal for play in plays}
    present: list[int | str] = [1, 2, 4, 6, 7]
    for first, gone in ((1, 0), (3, 0), (6, 6)):
        present = [one for one in present if one != gone] + ["late"] * (first == 3)
        settled = [play for play in plays if play.round < first]
        left = replan(Remainder(layout, plays, settled, present, first_round=first), chance, for_steps(100))
        plays = [*settled, *left]
    assert out_in_a_row(plays, [1, 2, 4, 7]) == out_in_a_row(plays, ["late"], 3) == []


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_who_sat_out_while_all_stayed_for_several_deals_has_sat_out_once(rounds: int) -> None:
    order = MovementOrder(5, 1, 5, 1, 1)
    plays = make_movement(order, Random(1), for_steps(50))
    long = [
        NamedPlay(deals * play.round - deals + 1 + at, play.table, deals * play.deal + at, play.players)
        for deals in (rounds,)
        for play in plays
        for at in range(deals)
    ]
    settled = [play for play in long if play.round <= rounds]
    layout = {(play.round, play.table): play.deal for play in long}
    left = replan(Remainder(layout, long, settled, [*range(1, 6)], first_round=rounds + 1), Random(2), for_steps(50))
    assert Counter(one for play in (*settled, *left) for one in play.players.values()) == dict.fromkeys(
        range(1, 6), 4 * rounds
    )
