"""Rank, variance and correlation, on numbers that can be checked by hand."""

import numpy as np
import pytest

from broker.club.measure import longer, measured, places, share_of_columns


def test_equal_totals_share_the_mean_of_their_places() -> None:
    assert places(np.array([[5, 9, 5, 1]])).tolist() == [[2.5, 1.0, 2.5, 4.0]]


def test_totals_in_the_true_order_correlate_fully_and_never_vary() -> None:
    assert measured(np.array([[4, 3, 2, 1], [40, 30, 20, 10]])) == pytest.approx((0.0, 1.0))


def test_totals_in_the_opposite_order_correlate_fully_the_other_way() -> None:
    assert measured(np.array([[1, 2, 3], [1, 2, 3]])) == pytest.approx((0.0, -1.0))


def test_places_that_change_vary() -> None:
    found = measured(np.array([[2, 1], [1, 2]]))
    assert found == pytest.approx((0.5, 0.0))


def test_equal_totals_of_all_tell_nothing() -> None:
    assert measured(np.array([[7, 7, 7], [7, 7, 7]])) == pytest.approx((0.0, 0.0))


def test_longer_events_use_no_session_twice_and_leave_the_rest_out() -> None:
    assert longer(np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 9]]), 2).tolist() == [[4, 6], [12, 14]]
    assert longer(np.array([[1, 2]]), 2).shape == (0, 2)


@pytest.mark.parametrize(
    ("points", "share"),
    [
        ([[1, 5, 9], [1, 5, 9]], 1.0),
        ([[3, 3], [3, 3]], 0.0),
        # Means 0 and 4, their variance 8; within 2 each, of which 2 / 2 shows in the means: 7 of 7 + 2.
        ([[-1, 3], [1, 5]], 7 / 9),
    ],
)
def test_the_share_of_the_columns_is_what_chance_does_not_explain(points: list[list[int]], share: float) -> None:
    assert share_of_columns(np.array(points)) == pytest.approx(share)
