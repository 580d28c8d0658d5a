"""From groups of tiles to rows and places of trays, in small exact cases: what is decided, and what is left open."""

from dataclasses import replace

import numpy as np
import pytest

from tests.vision.tray_scenes import Pose, see, tray_scene, turned
from vision.finder import DetectedTile, Detections
from vision.geometry import HEIGHT, Points, TablePlane, rectangle, tile_frames
from vision.marks import TileMark
from vision.reading import CENTRED, LEFT, Indents, RowCol, tray_places
from vision.trays import (
    QUARTER_TURNS,
    Lattice,
    TrayAlignment,
    TrayRows,
    _basis,
    _fill,
    _turned,
    _usual_turn,
    _weight,
    align_rows,
    directions,
    find_rows,
    find_trays,
    fit_lattice,
    level_group,
    name_seats,
    tray_groups,
)


def settled(held: list[RowCol], indents: Indents = LEFT, votes: float = 5.0) -> TrayAlignment | None:
    """Align tiles that lie on these places; rows are counted from the topmost occupied one."""
    row, col = np.array(held).T
    return align_rows(TrayRows(row - row.min(), col + np.array(indents)[row]), votes)


def told(way: TrayAlignment | None) -> list[RowCol] | None:
    return None if way is None else list(zip(way.row.tolist(), way.col.tolist(), strict=True))


@pytest.mark.parametrize("indents", [LEFT, CENTRED])
@pytest.mark.parametrize("votes", [5.0, 0.0])
def test_a_full_tray_is_aligned_by_its_shape_alone(indents: Indents, votes: float) -> None:
    way = settled(list(tray_places()), indents, votes)
    assert way is not None
    assert (told(way), way.indents, way.half_turned) == (list(tray_places()), indents, False)


def test_marks_upside_down_turn_the_tray() -> None:
    way = settled([(row, col) for row in range(3) for col in range(10)], votes=-30.0)
    assert way is None or way.half_turned


def test_three_equal_rows_without_marks_are_left_open() -> None:
    assert settled([(row, col) for row in range(3) for col in range(10)], votes=0.0) is None


def test_a_full_far_row_is_enough() -> None:
    far = [(0, col) for col in range(13)]
    assert told(settled(far)) == far


def test_two_rows_that_could_be_any_are_left_open() -> None:
    assert settled([(row, col) for row in (1, 2) for col in range(9)]) is None


def test_two_short_centred_rows_are_the_near_ones() -> None:
    held = [(1, col) for col in range(11)] + [(2, col) for col in range(10)]
    assert told(settled(held, CENTRED)) == held


def test_an_empty_row_is_counted() -> None:
    held = [(0, col) for col in range(13)] + [(2, col) for col in range(10)]
    row, col = np.array(held).T
    assert told(align_rows(TrayRows(row, col.astype(float)), 5.0)) == held


def test_false_tiles_beyond_a_row_do_not_outweigh_read_ones() -> None:
    held = [*tray_places(), (0, 13), (0, 13), (0, 13), (1, 11), (2, 10)]
    row, col = np.array(held).T
    weights = np.array([1.0] * 34 + [0.45] * 5)
    way = align_rows(TrayRows(row, col.astype(float)), 5.0, weights)
    assert told(way) == [*tray_places(), *[(-1, -1)] * 5]


def test_tiles_in_no_row_are_on_no_place() -> None:
    row, col = (np.array(axis) for axis in zip(*tray_places(), strict=True))
    way = align_rows(TrayRows(np.append(row, -1), np.append(col, 4.0)), 5.0)
    assert told(way) == [*tray_places(), (-1, -1)]


def tray_spots(pitch: float = 1.05, row_pitch: float = 1.17 * HEIGHT) -> Points:
    row, col = np.array(list(tray_places())).T
    return np.column_stack([(col - 5.0) * pitch, (row - 1.0) * row_pitch])


def test_leaning_and_bent_rows_are_levelled_and_evenly_spaced() -> None:
    straight = tray_spots()
    x, y = straight.T
    bent = np.column_stack([x + 0.01 * x * x + 0.005 * x * y, y + 0.08 * x + 0.006 * x * x])
    level = level_group(bent)
    row, col = np.array(list(tray_places())).T
    for number in range(3):
        steps = np.diff(level[row == number], axis=0)
        assert steps[:, 0] == pytest.approx(np.full(len(steps), steps[:, 0].mean()), abs=0.02)
        assert np.abs(steps[:, 1]).max() < 0.012  # pulled slightly towards zero
    assert col[-1] == 9


def test_tiles_without_neighbours_in_a_row_are_not_moved() -> None:
    heap = np.array([[0.0, 0.0], [0.6, 0.1], [3.0, 2.0], [1.0, 0.5]])
    assert np.array_equal(level_group(heap), heap)


@pytest.mark.parametrize(("apart", "levelled"), [(0.72, True), (0.68, False), (1.33, True), (1.37, False)])
def test_neighbours_in_a_row_are_0_7_to_1_35_widths_apart(apart: float, *, levelled: bool) -> None:
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
def test_only_pitches_of_trays_are_tried(pitch: float, *, found: bool) -> None:
    along = find_rows(tray_spots(pitch)).along[:13]
    assert (np.abs(np.diff(along) - 1).max() < 0.01) == found


def test_short_rows_may_be_shifted_by_half_a_pitch() -> None:
    row, col = np.array(list(tray_places())).T
    spots = tray_spots() + np.column_stack([np.array(CENTRED)[row] * 1.05, np.zeros(len(row))])
    along = find_rows(spots).along
    assert along - along[0] == pytest.approx(col + np.array(CENTRED)[row], abs=0.03)


@pytest.mark.parametrize(
    ("heights", "rows"),
    [
        ([0.0, 0.44, 1.17, 2.34], [0, 0, 1, 2]),  # within 0.45 heights: one row
        ([0.0, 0.0, 0.5, 1.17], [0, 0, -1, 1]),  # closer than 0.75 to a fuller row: a false tile
        ([0.0, 0.0, 0.76, 1.93], [0, 0, 1, 2]),
        ([0.0, 2.34], [0, 2]),  # an empty row between
        ([0.0, 1.74], [0, 1]),
        ([0.0, 1.77], [0, 2]),
        ([0.0, 0.0, 1.17, 1.17, 2.34, 2.34, 3.51], [0, 0, 1, 1, 2, 2, -1]),  # the three rows with most tiles
        ([0.0, 1.17, 1.17, 2.34, 2.34, 3.51, 3.51], [-1, 0, 0, 1, 1, 2, 2]),
    ],
)
def test_tiles_are_sorted_into_rows_by_height(heights: list[float], rows: list[int]) -> None:
    spots = np.column_stack([1.05 * np.arange(len(heights)), HEIGHT * np.array(heights)])
    assert find_rows(spots).row.tolist() == rows


def test_false_tiles_between_rows_do_not_join_them() -> None:
    """A table's pattern was once detected as tiles: two rows became one, and all places below the first were wrong."""
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
def test_a_tile_lies_on_a_place_within_the_play(off: float, col: int) -> None:
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
def test_seven_tenths_of_a_group_must_lie_on_places(stray: int, *, found: bool) -> None:
    row, col = np.array(list(tray_places())).T
    rows = TrayRows(np.append(row, [-1] * stray), np.append(col.astype(float), np.arange(stray) * 1.0))
    assert (align_rows(rows, 5.0) is not None) == found


@pytest.mark.parametrize(("votes", "half_turned"), [(0.2, False), (-0.2, True), (0.1, None), (-0.1, None)])
def test_marks_decide_an_even_grid_with_a_lead_of_three_tenths(votes: float, *, half_turned: bool | None) -> None:
    """Votes count for one way up and against the other, so 0.15 votes are a lead of 0.3."""
    way = settled([(row, col) for row in range(3) for col in range(10)], votes=votes)
    assert (None if way is None else way.half_turned) == half_turned


def lattice_of(indents: Indents = LEFT, quarter: int = 0, off: int | None = None) -> tuple[Lattice, Points]:
    """Fit a lattice to a leaning and bent tray of pitch 1.1; also return its spots in the plane."""
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
def test_a_lattice_fits_its_tiles_and_ignores_a_stray(indents: Indents, quarter: int) -> None:
    lattice, own = lattice_of(indents, quarter, off=16)
    spots = lattice.spots(*np.array(list(tray_places()), dtype=float).T)
    assert spots == pytest.approx(own, abs=0.03)
    assert lattice.pitch == pytest.approx(1.1, abs=5e-3)
    assert lattice.row_pitch == pytest.approx(1.6, abs=0.02)
    assert lattice.to_tray_axes(own @ QUARTER_TURNS[quarter].T) == pytest.approx(own)
    assert lattice.rotation == pytest.approx((90.0 * quarter + np.degrees(np.arctan(0.03 / 1.1))) % 360, abs=0.5)


def test_a_place_has_the_size_of_a_tile() -> None:
    lattice, own = lattice_of()
    quad = lattice.quads(own[:1])[0]
    scale = 566.0 / 0.05  # pixels per tile width
    assert quad == pytest.approx(rectangle(own[0] * scale + [480.0, 300.0], scale, scale * HEIGHT))


def test_with_few_tiles_the_lattice_stays_close_to_the_usual_tray() -> None:
    plane = TablePlane(np.eye(3), np.zeros(2), 1.0, 0.0)
    one_row = TrayAlignment(half_turned=False, row=np.zeros(7, int), col=np.arange(7), indents=LEFT, inside=7.0)
    lattice = fit_lattice(plane, 0, np.column_stack([1.2 * np.arange(7.0), np.zeros(7)]), one_row)
    assert lattice.pitch == pytest.approx(1.2, abs=0.01)
    assert lattice.row_pitch == pytest.approx(1.16 * HEIGHT)


def test_a_lattice_of_one_row_passes_through_it() -> None:
    plane = TablePlane(np.eye(3), np.zeros(2), 1.0, 0.0)
    seven = TrayAlignment(half_turned=False, row=np.zeros(7, int), col=np.arange(7), indents=LEFT, inside=7.0)
    far = np.column_stack([30 + 1.05 * np.arange(7.0), np.full(7, 50.0)])
    assert fit_lattice(plane, 0, far, seven).spots(np.zeros(7), np.arange(7.0)) == pytest.approx(far, abs=0.02)


def test_a_place_is_a_function_of_column_row_and_their_bending() -> None:
    """The short rows of this tray begin one and one and a half pitches in."""
    terms = _basis(np.array([0.0, 1.0, 2.0]), np.array([0.0, 6.0, 9.0]), CENTRED)
    assert terms == pytest.approx(
        np.array([[1, 0, 0, 0, 1], [1, 7, 1, 0.35, 1 / 36], [1, 10.5, 2, 1.05, 0.5625]]), abs=1e-9
    )


@pytest.mark.parametrize(("neighbours", "told"), [(2, 4), (3, 7)])
def test_three_aligned_neighbours_define_the_plane_and_two_do_not(
    monkeypatch: pytest.MonkeyPatch, neighbours: int, told: int
) -> None:
    told_by: list[int] = []
    monkeypatch.setattr("vision.trays.fit_plane", lambda _, members, __: told_by.append(len(members)))
    there = {(0, col) for col in range(4)} | {(2, col) for col in range(7, 7 + neighbours)}
    scene = tray_scene(Pose())
    seen = see(replace(scene, tiles=tuple(one for one in scene.tiles if one.where in there)))
    assert find_trays(seen.found, seen.marks, (960, 960)) == ()
    assert told_by == [told]


SQUARE = rectangle(np.array([50.0, 50.0]), 40.0, 40.0)
PLANE = TablePlane(np.diag([1.0, 1.0, 1.0]), np.zeros(2), 1.0, 0.0)


@pytest.mark.parametrize("degrees", [0.0, 40.0, -70.0, 179.0])
def test_a_tiles_direction_is_that_of_its_short_ends(degrees: float) -> None:
    quad = turned(rectangle(np.array([5.0, 7.0]), 1.0, 1.36), degrees)
    assert np.degrees(directions(tile_frames(quad[None]), PLANE)) == pytest.approx([degrees])


def grouped(*spots: tuple[float, float], cut: int, ways: float = 0.0) -> list[list[int]]:
    """Group spots of which the first `cut` are linked, and the others too."""
    pieces = [piece for piece in (np.arange(cut), np.arange(cut, len(spots))) if len(piece)]
    found = tray_groups(pieces, np.array(spots), np.full(len(spots), np.radians(ways)))
    return [sorted(group.members.tolist()) for group in found]


FIRST = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]


@pytest.mark.parametrize(
    ("x", "y", "joined"),
    [(14.3, 0.0, True), (14.4, 0.0, False), (0.0, 3.79, True), (0.0, 3.8, False), (-11.3, 0.0, True)],
)
def test_a_group_is_no_larger_than_a_tray(x: float, y: float, *, joined: bool) -> None:
    """Twelve pitches of 1.17 widths plus 0.3; two rows of 1.32 heights plus 0.2."""
    assert grouped(*FIRST, (x, y), cut=4)[0] == [0, 1, 2, 3, *([4] if joined else [])]


@pytest.mark.parametrize(("ways", "found"), [(11.9, True), (12.1, False), (-11.9, True), (90.0, True), (101.0, True)])
def test_a_groups_tiles_lie_along_the_planes_axes(ways: float, *, found: bool) -> None:
    assert bool(grouped(*FIRST, cut=4, ways=ways)) == found


def test_four_tiles_start_a_tray_and_three_do_not() -> None:
    assert grouped(*FIRST, cut=4) == [[0, 1, 2, 3]]
    assert grouped(*FIRST[:3], cut=3) == []


def test_tiles_across_the_plane_are_in_a_group_of_the_other_quarter() -> None:
    turns = [tray_groups([np.arange(4)], np.array(FIRST), np.full(4, way))[0] for way in (0.0, np.pi / 2, np.pi)]
    assert [group.quarter for group in turns] == [0, 1, 0]


@pytest.mark.parametrize(
    ("rotations", "seats"),
    [
        ([0.0, 270.0, 180.0, 90.0], ["E", "S", "W", "N"]),
        ([39.0, 309.0, 219.0, 129.0], ["E", "S", "W", "N"]),
        ([-39.0, 231.0], ["E", "S"]),
        ([41.0], None),
        ([90.0], ["N"]),
    ],
)
def test_seats_are_named_by_their_trays_rotations(rotations: list[float], seats: list[str] | None) -> None:
    expected = None if seats is None else {seat: at for at, seat in enumerate(seats)}
    assert name_seats(rotations, [34] * len(rotations)) == expected


def test_of_two_trays_with_one_rotation_the_fuller_gets_the_seat() -> None:
    assert name_seats([0.0, 1.0, 180.0], [20, 30, 5]) == {"E": 1, "W": 2}


def test_the_usual_turn_is_small_whichever_end_comes_first() -> None:
    assert _usual_turn(np.array([0.1, 0.1 + np.pi, 0.1 - np.pi, 2.0, 0.12])) == pytest.approx(0.1)
    assert _usual_turn(np.zeros(0)) == 0.0


def test_a_read_tile_has_full_weight_and_another_half_its_likelihood() -> None:
    tile = DetectedTile(SQUARE, face_up=False, likelihood=0.8)
    mark = TileMark(5, None, turned=True, confidence=1.0, spot=np.zeros(2))
    unread = replace(mark, serial=None, turned=None)
    assert [_weight(tile, one) for one in (mark, unread, None)] == [1.0, 0.4, 0.4]
    assert [_turned(one) for one in (mark, replace(mark, turned=False), unread, None)] == [-1.0, 1.0, 0.0, 0.0]


LATTICE = Lattice(PLANE, 0, np.array([[0.0, 0.0], [1.1, 0.0], [0.0, 1.6], [0.0, 0.0], [0.0, 0.0]]), LEFT)


def filled(*tiles: tuple[float, float, float, float]) -> dict[tuple[int, int], int]:
    """Fill a tray of pitches 1.1 and 1.6 with tiles, given by position, rotation in degrees and likelihood."""
    spots = np.array([tile[:2] for tile in tiles])
    found = Detections(
        tuple(DetectedTile(SQUARE, face_up=False, likelihood=tile[3]) for tile in tiles),
        np.zeros((0, 0), np.uint8),
        1.0,
    )
    return _fill([LATTICE], spots, np.radians([tile[2] for tile in tiles]), found)[0].tiles_by_place


@pytest.mark.parametrize(
    ("x", "y", "held"),
    [
        (0.54, 0.0, True),
        (-0.54, 0.0, True),
        (-0.56, 0.0, False),
        (0.0, 0.79, True),
        (0.0, -0.79, True),
        (0.0, -0.81, False),
    ],
)
def test_a_tile_lies_on_a_place_within_half_a_pitch(x: float, y: float, *, held: bool) -> None:
    assert filled((x, y, 0.0, 0.9)) == ({(0, 0): 0} if held else {})


@pytest.mark.parametrize(
    ("degrees", "likelihood", "held"),
    [(11.0, 0.5, True), (13.0, 0.5, False), (169.0, 0.5, True), (45.0, 0.81, True), (45.0, 0.8, False)],
)
def test_a_tile_askew_counts_only_if_the_finder_is_sure(degrees: float, likelihood: float, *, held: bool) -> None:
    assert bool(filled((0.0, 0.0, degrees, likelihood))) == held


def test_of_two_tiles_on_a_place_the_likelier_one_stays() -> None:
    assert filled((0.1, 0.0, 0.0, 0.8), (0.0, 0.1, 0.0, 0.9), (1.1, 1.6, 0.0, 0.7)) == {(0, 0): 1, (1, 1): 2}


@pytest.mark.parametrize("count", [5, 6])
def test_six_tiles_are_needed_to_search_for_a_tray(count: int) -> None:
    quads = [rectangle(np.array([100.0 + 42 * col, 200.0]), 40.0, 54.4) for col in range(count)]
    tiles = tuple(DetectedTile(quad, face_up=False, likelihood=0.9) for quad in quads)
    found = Detections(tiles, np.zeros((0, 0), np.uint8), 1.0)
    assert find_trays(found, (None,) * count, (600, 960)) == ()
