"""Groups of stickers: each in one line, none over another, none on a sticker that is gone."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vision.sheets.formats import formats
from vision.sheets.placing import place

SIZES = st.lists(st.integers(2, 5), min_size=1, max_size=40)
GRIDS = st.tuples(st.integers(5, 14), st.integers(5, 30))


@given(SIZES, GRIDS, st.data())
def test_groups_keep_their_order_and_share_no_sticker(
    sizes: list[int], grid: tuple[int, int], choice: st.DataObject
) -> None:
    columns, rows = grid
    start = choice.draw(st.integers(1, columns * rows))
    placed = place(sizes, columns, rows, start)
    used = [(one.sheet, cell) for one in placed for cell in one.cells]
    assert [len(one.cells) for one in placed] == sizes
    assert len(set(used)) == len(used)
    assert [one.sheet for one in placed] == sorted(one.sheet for one in placed)
    assert all(0 <= column < columns and 0 <= row < rows for _, (column, row) in used)
    assert all(sheet > 0 or row * columns + column + 1 >= start for sheet, (column, row) in used)


@given(SIZES, GRIDS)
def test_a_group_is_never_broken_over_two_lines(sizes: list[int], grid: tuple[int, int]) -> None:
    steps = {
        (after[0] - before[0], after[1] - before[1])
        for one in place(sizes, *grid)
        for before, after in pairwise(one.cells)
    }
    assert steps in ({(1, 0)}, {(0, 1)})


def test_groups_lie_in_columns_where_a_sheet_takes_more_of_them_so() -> None:
    assert place([5] * 34, 7, 27)[1].cells == ((0, 5), (0, 6), (0, 7), (0, 8), (0, 9))
    assert place([5] * 34, 7, 27)[-1].sheet == 0


def test_every_format_takes_a_face_and_its_four_labels_in_a_line_either_way() -> None:
    assert [sheet.name for sheet in formats().values() if min(sheet.columns, sheet.rows) < 5] == []
