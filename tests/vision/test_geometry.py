"""Points, quads and homographies, by small exact cases."""

import numpy as np
import pytest

from vision.geometry import diagonal_crossing, inverse_homography, project, rectangle

VIEW = np.array([[2.0, 0.5, 3.0], [-0.25, 1.5, 1.0], [0.01, 0.02, 1.0]])


def test_a_homography_divides_by_the_depth_and_its_inverse_leads_back() -> None:
    points = np.array([[0.0, 0.0], [10.0, 20.0]])
    there = project(VIEW, points)
    assert there == pytest.approx(np.array([[3.0, 1.0], [33.0 / 1.5, 28.5 / 1.5]]))
    assert project(inverse_homography(VIEW), there) == pytest.approx(points)


def test_a_rectangle_begins_at_its_top_left_and_goes_clockwise() -> None:
    assert rectangle(np.array([10.0, 20.0]), 4.0, 6.0).tolist() == [[8, 17], [12, 17], [12, 23], [8, 23]]


def test_the_diagonals_cross_at_the_picture_of_the_middle() -> None:
    quad = rectangle(np.array([4.0, 9.0]), 4.0, 6.0)
    assert diagonal_crossing(project(VIEW, quad)) == pytest.approx(project(VIEW, np.array([[4.0, 9.0]]))[0])
    flat = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0], [3.0, 3.0]])  # no crossing: the mean
    assert diagonal_crossing(flat) == pytest.approx([2.0, 2.0])
