"""Points, homographies and neighbours in small exact cases; tiles become equal rectangles at right angles."""

import numpy as np
import pytest
from hypothesis import given

from tests.vision.test_trays import POSES
from tests.vision.tray_scenes import HEIGHT, WIDTH, Pose, carrier_scene, see, tray_scene
from vision.geometry import (
    ASPECT,
    Points,
    TablePlane,
    _in_front,
    _jacobian,
    _side_errors,
    _tile_errors,
    _view,
    diagonal_crossing,
    fit_plane,
    inverse_homography,
    linked_groups,
    project,
    rectangle,
    tile_frames,
)

VIEW = np.array([[2.0, 0.5, 3.0], [-0.25, 1.5, 1.0], [0.01, 0.02, 1.0]])


def test_a_homography_divides_by_the_depth_and_has_an_inverse() -> None:
    points = np.array([[0.0, 0.0], [10.0, 20.0]])
    there = project(VIEW, points)
    assert there == pytest.approx(np.array([[3.0, 1.0], [33.0 / 1.5, 28.5 / 1.5]]))
    assert project(inverse_homography(VIEW), there) == pytest.approx(points)


def test_a_rectangle_begins_at_its_top_left_and_goes_clockwise() -> None:
    assert rectangle(np.array([10.0, 20.0]), 4.0, 6.0).tolist() == [[8, 17], [12, 17], [12, 23], [8, 23]]


def test_the_diagonals_cross_at_the_image_of_the_middle() -> None:
    quad = rectangle(np.array([4.0, 9.0]), 4.0, 6.0)
    assert diagonal_crossing(project(VIEW, quad)) == pytest.approx(project(VIEW, np.array([[4.0, 9.0]]))[0])
    flat = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0], [3.0, 3.0]])  # no crossing: the mean
    assert diagonal_crossing(flat) == pytest.approx([2.0, 2.0])


def plane_of(pose: Pose) -> tuple[TablePlane, Points]:
    """Return the plane of a tray and its tiles' quads, shape (34, 4, 2)."""
    quads = np.array(see(tray_scene(pose)).quads)
    plane = fit_plane(tile_frames(quads), np.arange(len(quads)), (HEIGHT, WIDTH))
    assert plane is not None
    return plane, quads


@given(POSES)
def test_mapping_to_the_plane_and_back_gives_the_same_pixel(pose: Pose) -> None:
    plane, quads = plane_of(pose)
    points = quads.reshape(-1, 2)
    assert np.allclose(plane.pixels(plane.flat(points)), points, atol=0.05)


@given(POSES)
def test_all_tiles_are_equal_rectangles_in_the_plane(pose: Pose) -> None:
    plane, quads = plane_of(pose)
    flat = plane.flat(quads.reshape(-1, 2)).reshape(-1, 4, 2)
    widths = np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1)
    heights = np.linalg.norm(flat[:, 3] - flat[:, 0], axis=1)
    apart = 0.02 + 5 * pose.noise  # 28 by 38 mm is not quite the assumed shape; corners are off by `noise` widths
    assert np.abs(widths - 1).max() < apart
    assert np.abs(heights - 1 / ASPECT).max() < apart


def test_tiles_of_two_trays_at_right_angles_share_one_plane() -> None:
    quads = np.array(see(carrier_scene(Pose(tilt=12, azimuth=5)), scale=1.1).quads)
    plane = fit_plane(tile_frames(quads), np.arange(len(quads)), (HEIGHT, WIDTH))
    assert plane is not None
    flat = plane.flat(quads.reshape(-1, 2)).reshape(-1, 4, 2)
    assert np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1) == pytest.approx(np.ones(136), abs=0.03)


def test_five_tiles_define_no_plane() -> None:
    quads = np.array(see(tray_scene(Pose())).quads[:5])
    assert fit_plane(tile_frames(quads), np.arange(5), (HEIGHT, WIDTH)) is None


def two(x: float, y: float, degrees: float = 0.0) -> bool:
    """Return whether two tiles are neighbours, by their distance in widths and heights and their rotation."""
    angle = np.radians(degrees)
    spin = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    one = rectangle(np.zeros(2), 20.0, 30.0)
    return len(linked_groups(tile_frames(np.stack([one, one @ spin + [20.0 * x, 30.0 * y]])))) == 1


@pytest.mark.parametrize(
    ("x", "y", "linked"),
    [
        (0.79, 0.0, False), (0.81, 0.0, True), (1.39, 0.0, True), (1.41, 0.0, False), (-1.0, 0.0, True),
        (1.0, 0.29, True), (1.0, 0.31, False), (1.0, -0.29, True),
        (0.0, 0.84, False), (0.0, 0.86, True), (0.0, 1.49, True), (0.0, 1.51, False),
        (0.79, 1.2, True), (0.81, 1.2, False), (-0.79, -1.2, True),
    ],
)  # fmt: skip
def test_neighbours_are_beside_or_below_one_another(x: float, y: float, *, linked: bool) -> None:
    assert two(x, y) == linked


@pytest.mark.parametrize(
    ("degrees", "linked"), [(26.0, True), (27.5, False), (-26.0, True), (-27.5, False), (180.0, True), (90.0, False)]
)
def test_neighbours_have_the_same_orientation_except_for_half_turns(degrees: float, *, linked: bool) -> None:
    """One's short side ends 0.3 heights of the other aside: 20 sin(a) is 9 pixels at 26.7 degrees."""
    assert two(1.0, 0.0, degrees) == linked


def test_groups_are_chains_of_neighbours_largest_first() -> None:
    middles = [(0, 0), (200, 200), (22, 0), (222, 200), (44, 0)]
    quads = np.stack([rectangle(np.array(middle, dtype=float), 20.0, 30.0) for middle in middles])
    assert [group.tolist() for group in linked_groups(tile_frames(quads))] == [[0, 2, 4], [1, 3]]


def test_a_tiles_own_units_are_its_sides() -> None:
    tiles = tile_frames(np.array([[[0.0, 1.0], [20.0, 3.0], [18.0, 33.0], [-2.0, 31.0]]]))
    assert (tiles.centres[0], tiles.across[0], tiles.along[0]) == (
        pytest.approx([9.0, 17.0]), pytest.approx([20.0, 2.0]), pytest.approx([-2.0, 30.0]),
    )  # fmt: skip
    ruler = tiles.to_own_units()[0]
    assert ruler @ tiles.across[0] == pytest.approx([1.0, 0.0], abs=1e-6)
    assert ruler @ tiles.along[0] == pytest.approx([0.0, 1.0], abs=1e-6)


NUMBERS = np.array([20.0, 1.0, -0.5, 19.0, 0.06, -0.09, 0.03])
LENS = TablePlane(_view(NUMBERS), np.array([480.0, 300.0]), float(np.hypot(480, 300)), NUMBERS[6])


def test_distortion_grows_with_the_square_of_the_distance_from_the_middle() -> None:
    plain = TablePlane(np.eye(3), np.array([30.0, 40.0]), 50.0, 0.1)
    assert plain.flat(np.array([[60.0, 80.0], [30.0, 40.0], [30.0, 65.0]])) == pytest.approx(
        np.array([[0.66, 0.88], [0.0, 0.0], [0.0, 0.5125]])
    )


def exact_tiles(plane: TablePlane) -> Points:
    """Return 34 upright tiles of the exact shape and three that lie across, as this camera sees them."""
    upright = [rectangle(np.array([x, y]) * [1.05, 1.16 * HEIGHT_OF_TILE], 1.0, HEIGHT_OF_TILE) for x, y in GRID]
    lying = [rectangle(np.array([x, 4.2]), HEIGHT_OF_TILE, 1.0)[[1, 2, 3, 0]] for x in (-4.0, 0.0, 4.0)]
    return plane.pixels(np.concatenate([*upright, *lying])).reshape(-1, 4, 2)


GRID = [(col - 6.0, row - 1.0) for row in range(3) for col in range(13)]
HEIGHT_OF_TILE = 1 / ASPECT


def test_exact_rectangles_seen_through_a_lens_are_recovered_exactly() -> None:
    quads = exact_tiles(LENS)
    quads[5] += 9.0 * np.array([[0, 0], [1, 0], [0, 1], [0, 0]])  # a false tile, which counts less
    plane = fit_plane(tile_frames(quads), np.arange(len(quads)), (600, 960))
    assert plane is not None
    assert plane.middle.tolist() == [480.0, 300.0]
    assert plane.reach == pytest.approx(np.hypot(480, 300))
    assert plane.bend == pytest.approx(LENS.bend, abs=5e-3)
    good = np.delete(quads, 5, axis=0)
    flat = plane.flat(good.reshape(-1, 2)).reshape(-1, 4, 2)
    sides = np.linalg.norm(np.roll(flat, -1, axis=1) - flat, axis=2)
    assert sides[:, 0::2] == pytest.approx(np.ones((len(good), 2)), abs=2e-3)
    assert sides[:, 1::2] == pytest.approx(np.full((len(good), 2), HEIGHT_OF_TILE), abs=2e-3)


def test_six_tiles_define_a_plane_and_five_with_a_false_one_do_not() -> None:
    quads = exact_tiles(LENS)[:6]
    assert fit_plane(tile_frames(quads), np.arange(6), (600, 960)) is not None
    quads[3] = quads[3].mean(axis=0) + 1.5 * (quads[3] - quads[3].mean(axis=0))
    assert fit_plane(tile_frames(quads), np.arange(6), (600, 960)) is None


def test_the_jacobian_is_the_derivative_of_sides_by_parameters() -> None:
    local = (exact_tiles(LENS)[:9] - LENS.middle) / LENS.reach

    def sides(numbers: Points) -> Points:
        keep, miss = _tile_errors(numbers, local)
        assert keep.all()
        return miss

    for number, step in enumerate(1e-6 * np.eye(7)):
        change = (sides(NUMBERS + step) - sides(NUMBERS - step)) / 2e-6
        assert _jacobian(NUMBERS, local)[..., number] == pytest.approx(change, abs=1e-5)


def test_errors_of_sides_are_their_differences_from_a_tiles() -> None:
    local = (exact_tiles(LENS) - LENS.middle) / LENS.reach
    assert np.abs(_tile_errors(NUMBERS, local)[1]).max() < 1e-4
    bigger = NUMBERS.copy()
    bigger[:4] *= 1.2
    keep, miss = _tile_errors(bigger, local)
    assert np.abs(miss).max() == pytest.approx(0.2 * HEIGHT_OF_TILE, abs=0.06)
    bigger[:4] *= 1.3
    assert keep.all()
    assert not _tile_errors(bigger, local)[0].any()


@pytest.mark.parametrize(("tilt", "seen"), [(0.88, True), (0.92, False)])
def test_no_tile_lies_beyond_the_horizon(tilt: float, *, seen: bool) -> None:
    view = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -tilt, 1.0]])
    assert _in_front(view, np.array([[0.0, -1.0], [0.0, 1.0]]), 0.0) == seen
    assert _in_front(view, np.array([[0.0, -1.0]]), 0.0)
    assert not _in_front(view, np.array([[0.0, 1.0]]), 0.1)


def test_sides_may_have_either_sign() -> None:
    sides = np.array([[[1.0, 0.0], [-1.0, 0.1], [0.7, -0.4], [0.0, 1.0]]])
    assert _side_errors(sides, 1.0, 0.0)[0] == pytest.approx([0.0, 0.1, 0.4, 1.0])
