"""Rows to places: what is told, and what is left open."""

import numpy as np
import pytest

from vision.geometry import HEIGHT, Points, TablePlane, rectangle
from vision.reading import CENTRED, LEFT, Indents, RowCol, tray_places
from vision.trays import (
    QUARTER_TURNS,
    Lattice,
    TrayAlignment,
    TrayRows,
    _basis,
    align_rows,
    find_rows,
    fit_lattice,
    level_group,
)


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


def tray_spots(pitch: float = 1.05, row_pitch: float = 1.17 * HEIGHT) -> Points:
    row, col = np.array(list(tray_places())).T
    return np.column_stack([(col - 5.0) * pitch, (row - 1.0) * row_pitch])


def test_rows_that_lean_and_bend_are_levelled_and_made_even() -> None:
    straight = tray_spots()
    x, y = straight.T
    bent = np.column_stack([x + 0.01 * x * x + 0.005 * x * y, y + 0.08 * x + 0.006 * x * x])
    level = level_group(bent)
    row, col = np.array(list(tray_places())).T
    for number in range(3):
        steps = np.diff(level[row == number], axis=0)
        assert steps[:, 0] == pytest.approx(np.full(len(steps), steps[:, 0].mean()), abs=0.02)
        assert np.abs(steps[:, 1]).max() < 0.012  # held a little to nothing
    assert col[-1] == 9


def test_tiles_that_have_no_neighbour_in_a_row_stay_where_they_are() -> None:
    heap = np.array([[0.0, 0.0], [0.6, 0.1], [3.0, 2.0], [1.0, 0.5]])
    assert np.array_equal(level_group(heap), heap)


@pytest.mark.parametrize(("apart", "levelled"), [(0.72, True), (0.68, False), (1.33, True), (1.37, False)])
def test_what_lies_beside_is_seven_tenths_to_a_width_and_a_third_away(apart: float, *, levelled: bool) -> None:
    leaning = np.array([[apart * col, 0.1 * apart * col] for col in range(8)])
    rise = np.ptp(level_group(leaning)[:, 1])
    assert (rise < 0.2 * np.ptp(leaning[:, 1])) == levelled


def test_rows_and_their_pitch_are_found() -> None:
    row, col = np.array(list(tray_places())).T
    rows = find_rows(tray_spots(pitch=1.1))
    assert rows.row.tolist() == row.tolist()
    assert np.diff(rows.along[row == 0]) == pytest.approx(np.ones(12), abs=5e-3)
    assert np.abs(rows.along - np.round(rows.along)).max() < 0.02
    assert col[0] == 0


@pytest.mark.parametrize(("pitch", "found"), [(0.83, True), (1.24, True), (1.32, False)])
def test_pitches_are_those_of_trays(pitch: float, *, found: bool) -> None:
    along = find_rows(tray_spots(pitch)).along[:13]
    assert (np.abs(np.diff(along) - 1).max() < 0.01) == found


def test_short_rows_that_stand_in_the_middle_beat_half_a_pitch_aside() -> None:
    row, col = np.array(list(tray_places())).T
    spots = tray_spots() + np.column_stack([np.array(CENTRED)[row] * 1.05, np.zeros(len(row))])
    along = find_rows(spots).along
    assert along - along[0] == pytest.approx(col + np.array(CENTRED)[row], abs=0.03)


@pytest.mark.parametrize(
    ("heights", "rows"),
    [
        ([0.0, 0.44, 1.17, 2.34], [0, 0, 1, 2]),  # within 0.45 heights: one row
        ([0.0, 0.0, 0.5, 1.17], [0, 0, -1, 1]),  # nearer than 0.75 to a fuller row: a false tile
        ([0.0, 0.0, 0.76, 1.93], [0, 0, 1, 2]),
        ([0.0, 2.34], [0, 2]),  # an empty row between
        ([0.0, 1.74], [0, 1]),
        ([0.0, 1.77], [0, 2]),
        ([0.0, 0.0, 1.17, 1.17, 2.34, 2.34, 3.51], [0, 0, 1, 1, 2, 2, -1]),  # three rows hold most
        ([0.0, 1.17, 1.17, 2.34, 2.34, 3.51, 3.51], [-1, 0, 0, 1, 1, 2, 2]),
    ],
)
def test_heights_make_rows(heights: list[float], rows: list[int]) -> None:
    spots = np.column_stack([1.05 * np.arange(len(heights)), HEIGHT * np.array(heights)])
    assert find_rows(spots).row.tolist() == rows


def test_false_tiles_between_rows_do_not_link_them() -> None:
    """As a table's pattern was taken for tiles: two rows were one, and all places below the first were off."""
    row, _ = np.array(list(tray_places())).T
    spots = tray_spots()
    second, third = (float(np.median(spots[row == number, 1])) for number in (1, 2))
    false = [
        [5.6, second + 0.25 * (third - second)],
        [0.6, (second + third) / 2],
        [6.2, second + 0.7 * (third - second)],
    ]
    assert find_rows(np.vstack([spots, false])).row[:34].tolist() == row.tolist()


@pytest.mark.parametrize(("off", "col"), [(0.37, 6), (0.39, -1), (-0.37, 6), (-0.39, -1)])
def test_a_tile_lies_on_a_place_within_play(off: float, col: int) -> None:
    row, places = np.array(list(tray_places())).T
    along = places.astype(float)
    along[6] += off
    way = align_rows(TrayRows(row, along), 5.0)
    assert way is not None
    assert (way.row[6], way.col[6]) == (0 if col >= 0 else -1, col)


@pytest.mark.parametrize(("tiles", "found"), [(6, True), (5, False)])
def test_six_tiles_on_places_make_a_tray(tiles: int, *, found: bool) -> None:
    held = [*[(0, col) for col in (0, 1, 12)], (1, 0), (2, 0), (2, 9)][:tiles]
    assert (settled(held) is not None) == found


@pytest.mark.parametrize(("stray", "found"), [(14, True), (15, False)])
def test_seven_tenths_of_a_group_lie_on_places(stray: int, *, found: bool) -> None:
    row, col = np.array(list(tray_places())).T
    rows = TrayRows(np.append(row, [-1] * stray), np.append(col.astype(float), np.arange(stray) * 1.0))
    assert (align_rows(rows, 5.0) is not None) == found


@pytest.mark.parametrize(("votes", "half_turned"), [(0.2, False), (-0.2, True), (0.1, None), (-0.1, None)])
def test_marks_decide_an_even_grid_where_they_are_three_tenths_ahead(votes: float, *, half_turned: bool | None) -> None:
    """Votes count for one way and against the other: 0.15 of them are a lead of 0.3."""
    way = settled([(row, col) for row in range(3) for col in range(10)], votes=votes)
    assert (None if way is None else way.half_turned) == half_turned


def lattice_of(indents: Indents = LEFT, quarter: int = 0, off: int | None = None) -> tuple[Lattice, Points]:
    """Fit a lattice to a tray of pitch 1.1 that leans and is bent; also its spots in the plane."""
    row, col = np.array(list(tray_places())).T
    x = col + np.array(indents)[row]
    own = np.column_stack([0.5 + 1.1 * x + 0.02 * row, 0.3 + 0.03 * x + 1.6 * row + 0.01 * (x / 6 - 1) ** 2])
    flat = own @ QUARTER_TURNS[quarter].T
    seen = flat.copy()
    if off is not None:
        seen[off] += 0.6
    plane = TablePlane(np.diag([0.05, 0.05, 1.0]), np.array([480.0, 300.0]), 566.0, 0.0)
    settled_way = TrayAlignment(half_turned=False, row=row, col=col, indents=indents, inside=34.0)
    return fit_lattice(plane, quarter, seen, settled_way), own


@pytest.mark.parametrize("indents", [LEFT, CENTRED])
@pytest.mark.parametrize("quarter", range(4))
def test_a_lattice_goes_through_its_tiles_and_not_through_a_stray(indents: Indents, quarter: int) -> None:
    lattice, own = lattice_of(indents, quarter, off=16)
    spots = lattice.spots(*np.array(list(tray_places()), dtype=float).T)
    assert spots == pytest.approx(own, abs=0.03)
    assert lattice.pitch == pytest.approx(1.1, abs=5e-3)
    assert lattice.row_pitch == pytest.approx(1.6, abs=0.02)
    assert lattice.own(own @ QUARTER_TURNS[quarter].T) == pytest.approx(own)
    assert lattice.rotation == pytest.approx((90.0 * quarter + np.degrees(np.arctan(0.03 / 1.1))) % 360, abs=0.5)


def test_a_place_is_as_large_as_a_tile_about_its_spot() -> None:
    lattice, own = lattice_of()
    quad = lattice.quads(own[:1])[0]
    scale = 566.0 / 0.05  # pixels a tile width
    assert quad == pytest.approx(rectangle(own[0] * scale + [480.0, 300.0], scale, scale * HEIGHT))


def test_few_tiles_are_held_to_the_usual_tray() -> None:
    plane = TablePlane(np.eye(3), np.zeros(2), 1.0, 0.0)
    one_row = TrayAlignment(half_turned=False, row=np.zeros(7, int), col=np.arange(7), indents=LEFT, inside=7.0)
    lattice = fit_lattice(plane, 0, np.column_stack([1.2 * np.arange(7.0), np.zeros(7)]), one_row)
    assert lattice.pitch == pytest.approx(1.2, abs=0.01)
    assert lattice.row_pitch == pytest.approx(1.16 * HEIGHT)


def test_a_row_alone_in_its_place_is_where_it_lies() -> None:
    plane = TablePlane(np.eye(3), np.zeros(2), 1.0, 0.0)
    seven = TrayAlignment(half_turned=False, row=np.zeros(7, int), col=np.arange(7), indents=LEFT, inside=7.0)
    far = np.column_stack([30 + 1.05 * np.arange(7.0), np.full(7, 50.0)])
    assert fit_lattice(plane, 0, far, seven).spots(np.zeros(7), np.arange(7.0)) == pytest.approx(far, abs=0.02)


def test_a_place_counts_by_its_column_its_row_and_how_both_bend() -> None:
    """The short rows of this tray stand one and one and a half pitches in."""
    terms = _basis(np.array([0.0, 1.0, 2.0]), np.array([0.0, 6.0, 9.0]), CENTRED)
    assert terms == pytest.approx(
        np.array([[1, 0, 0, 0, 1], [1, 7, 1, 0.35, 1 / 36], [1, 10.5, 2, 1.05, 0.5625]]), abs=1e-9
    )
