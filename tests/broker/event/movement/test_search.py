"""The counts that the search keeps up to date equal those computed from scratch."""

from itertools import chain
from random import Random

import pytest

from broker.event.movement import MovementOrder
from broker.event.movement.plays import table_rounds
from broker.event.movement.search import SearchFrame, Seating, propose
from tests.broker.event.movement.making import made

ORDERS = [
    MovementOrder(18, 4, 4),
    MovementOrder(16, 4, 4),
    MovementOrder(20, 5, 5, copies=2),
    MovementOrder(13, 3, 5, deals_per_round=2),
]


def drafted(order: MovementOrder, *, in_teams: bool = False) -> Seating:
    seated = table_rounds(made(order, 0, in_teams=in_teams))
    who = [int(player) - 1 for four in seated.values() for player in four.values()]
    out = order.players - 4 * order.tables
    rounds = range(1, order.rounds + 1)
    for round_ in rounds:
        here = set(chain.from_iterable(four.values() for sitting, four in seated.items() if sitting.round == round_))
        who += [player - 1 for player in range(1, order.players + 1) if player not in here]
    teams = tuple(player // 4 for player in range(order.players)) if in_teams else ()
    return Seating(
        SearchFrame(tuple(seated), order.players, dict.fromkeys(rounds, out) if out else {}, team_of=teams), who
    )


def tallies(draft: Seating) -> tuple[object, ...]:
    return (draft.hard, draft.soft, draft.meetings, draft.comparisons, draft.seats, draft.byes, draft.occupants)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_after_many_steps_the_counts_equal_those_of_a_new_seating(order: MovementOrder) -> None:
    draft, chance = drafted(order), Random(5)
    for _ in range(500):
        for pair in propose(draft, draft.frame.free_rounds(), chance):
            draft.exchange(*pair)
    assert tallies(draft) == tallies(Seating(draft.frame, draft.occupants))


def test_the_counts_of_a_team_event_equal_those_of_a_new_seating() -> None:
    draft, chance = drafted(MovementOrder(20, 5, 5), in_teams=True), Random(5)
    for _ in range(500):
        for pair in propose(draft, draft.frame.free_rounds(), chance):
            draft.exchange(*pair)
    assert tallies(draft) == tallies(Seating(draft.frame, draft.occupants))


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_undoing_a_step_restores_the_seating(order: MovementOrder) -> None:
    draft, chance = drafted(order), Random(7)
    before = [list(x) if isinstance(x, list) else x for x in tallies(draft)]
    for _ in range(200):
        exchanges = propose(draft, draft.frame.free_rounds(), chance)
        for pair in [*exchanges, *reversed(exchanges)]:
            draft.exchange(*pair)
    assert list(tallies(draft)) == before


def test_steps_and_turns_keep_the_players_of_each_round() -> None:
    draft, chance = drafted(MovementOrder(16, 4, 4)), Random(3)
    rounds = draft.frame.free_rounds()
    for _ in range(500):
        for pair in propose(draft, rounds, chance):
            draft.exchange(*pair)
    assert [sorted(draft.occupants[slot] for slot in slots) for slots in rounds] == [list(range(16))] * 4
