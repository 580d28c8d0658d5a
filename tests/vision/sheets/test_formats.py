"""Formats of label sheets: sizes and positions."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.errors import LabelsOffPageError
from vision.sheets.formats import USUAL_FORMAT, place_groups, sheet_formats, with_margins
from vision.sheets.label import lay_out_label
from vision.sheets.sheet import format_list


@pytest.mark.parametrize("name", sheet_formats())
def test_every_label_lies_on_the_page_and_overlaps_no_other(name: str) -> None:
    sheet = sheet_formats()[name]
    assert with_margins(sheet, None, None, 1.0) == sheet
    assert sheet.across >= sheet.width
    assert sheet.down >= sheet.height


@pytest.mark.parametrize("name", sheet_formats())
def test_every_format_fits_the_usual_code_and_a_tile(name: str) -> None:
    sheet = sheet_formats()[name]
    assert lay_out_label(*sheet.upright, 14, "none").module >= 0.5
    assert sheet.upright[0] <= 20
    assert sheet.upright[1] <= 26


@pytest.mark.parametrize(
    ("left", "top", "scale"),
    [(10.0, None, 1.0), (None, 28.0, 1.0), (None, None, 1.05), (-0.1, None, 1.0), (math.nan, None, 1.0),
     (None, math.nan, 1.0), (None, None, math.nan)],
)  # fmt: skip
def test_margins_that_put_labels_off_the_page_are_refused(left: float | None, top: float | None, scale: float) -> None:
    with pytest.raises(LabelsOffPageError):
        with_margins(sheet_formats()[USUAL_FORMAT], left, top, scale)


def test_the_list_has_a_line_for_each_format() -> None:
    assert [line.split()[0] for line in format_list().splitlines()] == ["format", *sheet_formats()]


SIZES = st.lists(st.integers(2, 5), min_size=1, max_size=40)
GRIDS = st.tuples(st.integers(5, 14), st.integers(5, 30))


@given(SIZES, GRIDS, st.data())
def test_groups_keep_their_order_and_share_no_sticker(
    sizes: list[int], grid: tuple[int, int], choice: st.DataObject
) -> None:
    columns, rows = grid
    start = choice.draw(st.integers(1, columns * rows))
    placed = place_groups(sizes, columns, rows, start)
    used = [(one.sheet, cell) for one in placed for cell in one.cells]
    assert [len(one.cells) for one in placed] == sizes
    assert len(set(used)) == len(used)
    assert [one.sheet for one in placed] == sorted(one.sheet for one in placed)
    assert all(0 <= column < columns and 0 <= row < rows for _, (column, row) in used)
    assert all(sheet > 0 or row * columns + column + 1 >= start for sheet, (column, row) in used)


@given(SIZES, GRIDS)
def test_a_group_is_never_split_between_lines(sizes: list[int], grid: tuple[int, int]) -> None:
    steps = {
        (after[0] - before[0], after[1] - before[1])
        for one in place_groups(sizes, *grid)
        for before, after in pairwise(one.cells)
    }
    assert steps in ({(1, 0)}, {(0, 1)})


def test_groups_are_placed_in_columns_if_that_needs_fewer_sheets() -> None:
    assert place_groups([5] * 34, 7, 27)[1].cells == ((0, 5), (0, 6), (0, 7), (0, 8), (0, 9))
    assert place_groups([5] * 34, 7, 27)[-1].sheet == 0


def test_every_format_fits_a_face_and_its_four_labels_in_a_line_either_way() -> None:
    assert [sheet.name for sheet in sheet_formats().values() if min(sheet.columns, sheet.rows) < 5] == []
