"""The experiment behind docs/why-duplicate.md, and its measures."""

from functools import cache

import numpy as np
import pytest

from broker.protocol import SEATS
from broker.scoring import ScoredPlay
from tests.benchmarks import duplicate
from tests.benchmarks.duplicate import (
    PLAYERS,
    SECTIONS,
    EventBothWays,
    add_up_sessions,
    measure_ranking,
    report_lines,
    share_of_columns,
    shared_places,
    strength_ladder,
)


@cache
def section(*, shared: bool) -> list[ScoredPlay]:
    return duplicate._section("1 event 0", 1, strength_ladder(0.5), shared=shared)


def test_strengths_are_in_equal_steps_down_from_1() -> None:
    assert strength_ladder(0.25)[:2] == [1.0, 0.95]
    assert strength_ladder(0.25)[-1] == 0.25


def test_each_section_has_its_own_tables_and_players() -> None:
    plays = section(shared=True)
    assert {play.table for play in plays} == {5, 6, 7, 8}
    assert sorted(play.players[seat] for play in plays for seat in SEATS) == sorted(
        str(number) for number in range(PLAYERS, 2 * PLAYERS) for _ in range(4)
    )


def test_points_are_added_up_by_strength() -> None:
    totals = duplicate._points([section(shared=True)])
    assert [sum(of_section) for of_section in totals] == [
        0,
        sum(sum((play.points or {}).values()) for play in section(shared=True)),
        0,
        0,
    ]
    assert sum(map(sum, duplicate._by_seat([section(shared=True)]))) == sum(totals[1])


def test_imps_are_those_of_the_compared_tables() -> None:
    """If a second section scores exactly the same, the datum is the same, and so are all IMPs."""
    again = [
        ScoredPlay(play.deal, play.table + 4, {s: str(int(p) + PLAYERS) for s, p in play.players.items()}, play.points)
        for play in section(shared=True)
    ]
    alone = duplicate._imps([[], section(shared=True), again, []], 1)
    both = duplicate._imps([section(shared=True), again, [], []], 2)
    assert alone == both
    assert alone[1] == alone[2] != [0] * PLAYERS


def test_a_player_who_always_wins_is_ranked_perfectly() -> None:
    falling = [[PLAYERS - at for at in range(PLAYERS)]] * SECTIONS
    rising = [totals[::-1] for totals in falling]
    one = EventBothWays(rising, falling, [falling, falling, rising], [list(range(16)) for _ in range(16)])
    assert list(report_lines([one, one]))[2:] == [
        "| 4 | own deals, points | 8 | 0.0 | -1.000 | 100.0 % |",
        "| 4 | same deals, points | 8 | 0.0 | 1.000 | 100.0 % |",
        "| 4 | same deals, IMP, 4 tables | 8 | 0.0 | 1.000 | 100.0 % |",
        "| 4 | same deals, IMP, 8 tables | 8 | 0.0 | 1.000 | 100.0 % |",
        "| 4 | same deals, IMP, 16 tables | 8 | 0.0 | -1.000 | 100.0 % |",
        "\nPoints in one play: spread 4.6; 100 % of their variance lies in deal and seat.",
        "Mean points a play: the four strongest +2.1, the four weakest +2.1.",
    ]


def test_equal_totals_share_the_mean_of_their_places() -> None:
    assert shared_places(np.array([[5, 9, 5, 1]])).tolist() == [[2.5, 1.0, 2.5, 4.0]]


def test_totals_in_the_true_order_have_correlation_1_and_no_variance() -> None:
    assert measure_ranking(np.array([[4, 3, 2, 1], [40, 30, 20, 10]])) == pytest.approx((0.0, 1.0))


def test_totals_in_the_opposite_order_have_correlation_minus_1() -> None:
    assert measure_ranking(np.array([[1, 2, 3], [1, 2, 3]])) == pytest.approx((0.0, -1.0))


def test_changing_places_have_a_variance() -> None:
    found = measure_ranking(np.array([[2, 1], [1, 2]]))
    assert found == pytest.approx((0.5, 0.0))


def test_equal_totals_have_no_correlation() -> None:
    assert measure_ranking(np.array([[7, 7, 7], [7, 7, 7]])) == pytest.approx((0.0, 0.0))


def test_longer_events_use_no_session_twice_and_drop_the_rest() -> None:
    assert add_up_sessions(np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 9]]), 2).tolist() == [[4, 6], [12, 14]]
    assert add_up_sessions(np.array([[1, 2]]), 2).shape == (0, 2)


@pytest.mark.parametrize(
    ("points", "share"),
    [
        ([[1, 5, 9], [1, 5, 9]], 1.0),
        ([[3, 3], [3, 3]], 0.0),
        # Means 0 and 4 have the variance 8; within each it is 2, of which 2 / 2 shows in the means: 7 out of 7 + 2.
        ([[-1, 3], [1, 5]], 7 / 9),
    ],
)
def test_the_share_of_the_columns_excludes_chance(points: list[list[int]], share: float) -> None:
    assert share_of_columns(np.array(points)) == pytest.approx(share)
