"""Rows to places: what is told, and what is left open."""

import numpy as np
import pytest

from vision.reading import CENTRED, LEFT, Indents, RowCol, tray_places
from vision.tray_grid import TrayAlignment, TrayRows, align_rows


def settled(held: list[RowCol], indents: Indents = LEFT, votes: float = 5.0) -> TrayAlignment | None:
    """Settle tiles that lie on these places; rows are counted from the topmost one that is held."""
    row, col = np.array(held).T
    return align_rows(TrayRows(row - row.min(), col + np.array(indents)[row]), votes)


def told(way: TrayAlignment | None) -> list[RowCol] | None:
    return None if way is None else list(zip(way.row.tolist(), way.col.tolist(), strict=True))


@pytest.mark.parametrize("indents", [LEFT, CENTRED])
@pytest.mark.parametrize("votes", [5.0, 0.0])
def test_a_full_tray_is_told_by_its_shape_alone(indents: Indents, votes: float) -> None:
    way = settled(list(tray_places()), indents, votes)
    assert way is not None
    assert (told(way), way.indents, way.half_turned) == (list(tray_places()), indents, False)


def test_marks_upside_down_turn_the_tray() -> None:
    way = settled([(row, col) for row in range(3) for col in range(10)], votes=-30.0)
    assert way is None or way.half_turned


def test_three_even_rows_without_a_mark_are_left_open() -> None:
    assert settled([(row, col) for row in range(3) for col in range(10)], votes=0.0) is None


def test_a_full_far_row_needs_no_other() -> None:
    far = [(0, col) for col in range(13)]
    assert told(settled(far)) == far


def test_two_rows_that_could_be_any_two_are_left_open() -> None:
    assert settled([(row, col) for row in (1, 2) for col in range(9)]) is None


def test_a_row_with_nothing_in_it_is_still_counted() -> None:
    held = [(0, col) for col in range(13)] + [(2, col) for col in range(10)]
    row, col = np.array(held).T
    assert told(align_rows(TrayRows(row, col.astype(float)), 5.0)) == held


def test_false_tiles_on_one_spot_beyond_a_row_do_not_outweigh_those_that_were_read() -> None:
    held = [*tray_places(), (0, 13), (0, 13), (0, 13), (1, 11), (2, 10)]
    row, col = np.array(held).T
    weights = np.array([1.0] * 34 + [0.45] * 5)
    way = align_rows(TrayRows(row, col.astype(float)), 5.0, weights)
    assert told(way) == [*tray_places(), *[(-1, -1)] * 5]


def test_tiles_that_lie_on_no_row_are_on_no_place() -> None:
    row, col = (np.array(axis) for axis in zip(*tray_places(), strict=True))
    way = align_rows(TrayRows(np.append(row, -1), np.append(col, 4.0)), 5.0)
    assert told(way) == [*tray_places(), (-1, -1)]
