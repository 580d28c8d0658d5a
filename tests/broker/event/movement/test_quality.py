"""Measures equal those of a simple count, and never fall below their bounds."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event.movement import MovementOrder, NumberedPlay, measure_movement, meetings, sixteen_players, usual_copies
from broker.event.movement.make import least_possible_cost
from broker.event.movement.plays import table_rounds
from broker.event.movement.quality import comparisons, least_excess
from broker.event.movement.search import SearchFrame, Seating
from broker.protocol import SEATS
from tests.broker.event.movement.making import made
from tests.broker.event.movement.oracle import compared, times_met

SOME = [
    MovementOrder(8, 2, 4),
    MovementOrder(16, 4, 5),
    MovementOrder(18, 4, 4),
    MovementOrder(12, 3, 4, deals_per_round=2),
    MovementOrder(20, 5, 5, copies=5),
]


@pytest.mark.parametrize("order", SOME, ids=str)
def test_meetings_and_comparisons_equal_a_simple_count(order: MovementOrder) -> None:
    plays = made(order)
    pairs = list(combinations(sorted(range(1, order.players + 1), key=str), 2))
    assert {pair: meetings(plays)[pair] for pair in pairs} == {pair: times_met(plays, *pair) for pair in pairs}
    assert {pair: comparisons(plays)[pair] for pair in pairs} == {pair: compared(plays, *pair) for pair in pairs}


@pytest.mark.parametrize("order", SOME, ids=str)
def test_excess_is_at_least_its_bound_and_histograms_cover_all_pairs_and_players(order: MovementOrder) -> None:
    found = measure_movement(made(order), range(1, order.players + 1))
    pairs = order.players * (order.players - 1) // 2
    assert found.meetings.excess >= found.meetings.bound
    assert found.comparisons.excess >= found.comparisons.bound
    assert sum(found.meetings.often.values()) == sum(found.comparisons.often.values()) == pairs
    assert sum(found.seat_spread.values()) == sum(found.byes.values()) == order.players


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_no_distribution_has_fewer_pairs_than_the_bound(holes: list[int]) -> None:
    assert sum(count * (count - 1) // 2 for count in holes) >= least_excess(sum(holes), len(holes))


def test_the_movement_of_sixteen_has_the_measures_of_the_rule_book() -> None:
    found = measure_movement(sixteen_players())
    assert (found.players, found.tables, found.rounds, found.deals) == (16, 4, 4, 4)
    assert found.meetings.often == {0: 48, 1: 48, 2: 24}
    assert found.seat_spread == {0: 16}
    assert (found.tables_a_deal, found.complete) == ({4: 4}, True)
    assert (found.copies, found.extra_copies, found.handovers) == (1, 0, 12)
    assert found.byes == {0: 16}


FOUR = dict(zip(SEATS, (1, 2, 3, 4), strict=True))
OTHERS = dict(zip(SEATS, (5, 6, 7, 8), strict=True))


def test_a_deal_at_two_tables_at_once_needs_a_second_carrier_but_no_handover() -> None:
    found = measure_movement([NumberedPlay(1, 1, 1, FOUR), NumberedPlay(1, 2, 1, OTHERS)])
    assert (found.copies, found.extra_copies, found.handovers) == (2, 1, 0)


def test_a_carrier_needed_at_another_table_next_counts_as_a_handover() -> None:
    found = measure_movement(
        [
            NumberedPlay(1, 1, 1, FOUR),
            NumberedPlay(1, 2, 2, OTHERS),
            NumberedPlay(2, 2, 1, OTHERS),
            NumberedPlay(3, 1, 2, FOUR),
        ]
    )
    assert (found.handovers, found.complete) == (1, True)


def test_deals_of_one_round_count_as_one_comparison_and_of_two_rounds_as_two() -> None:
    plays = [
        NumberedPlay(1, 1, 1, FOUR),
        NumberedPlay(1, 1, 2, FOUR),
        NumberedPlay(1, 2, 2, OTHERS),
        NumberedPlay(1, 2, 1, OTHERS),
    ]
    assert comparisons(plays) == {(1, 5): 1, (2, 6): 1, (3, 7): 1, (4, 8): 1}
    again = [*plays[:2], NumberedPlay(2, 2, 1, OTHERS), NumberedPlay(3, 2, 2, OTHERS)]
    assert comparisons(again) == {(1, 5): 2, (2, 6): 2, (3, 7): 2, (4, 8): 2}


@pytest.mark.parametrize(
    ("order", "copies"),
    [
        (MovementOrder(16, 4, 5, copies=4), 4),
        (MovementOrder(16, 4, 5, deals_per_round=4), 1),
        (MovementOrder(20, 5, 5), 1),
    ],
)
def test_the_usual_number_of_carriers_follows_from_the_movement(order: MovementOrder, copies: int) -> None:
    assert usual_copies(made(order)) == copies


def test_no_movement_costs_less_than_the_bound_at_which_a_search_ends() -> None:
    plays = made(MovementOrder(16, 4, 4, deals_per_round=4), 50)
    listed = {play.round * 10 + play.table: play for play in plays}
    frame = SearchFrame(tuple(table_rounds(plays)), 16, {})
    who = [player - 1 for play in listed.values() for player in play.players.values()]
    assert Seating(frame, who).hard == 0
    assert Seating(frame, who).soft >= least_possible_cost(frame, who) >= 0
