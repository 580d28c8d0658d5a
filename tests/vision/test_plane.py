"""The plane: tiles become equal rectangles at right angles."""

import numpy as np
import pytest
from hypothesis import given

from tests.vision.test_trays import POSES
from tests.vision.tray_scenes import HEIGHT, WIDTH, Pose, carrier_scene, see, tray_scene
from vision.geometry import Points
from vision.plane import ASPECT, TablePlane, fit_plane, tile_frames


def plane_of(pose: Pose) -> tuple[TablePlane, Points]:
    """Return the plane of a tray and its tiles' quads, shape (34, 4, 2)."""
    quads = np.array(see(tray_scene(pose)).quads)
    plane = fit_plane(tile_frames(quads), np.arange(len(quads)), (HEIGHT, WIDTH))
    assert plane is not None
    return plane, quads


@given(POSES)
def test_there_and_back_is_the_same_pixel(pose: Pose) -> None:
    plane, quads = plane_of(pose)
    points = quads.reshape(-1, 2)
    assert np.allclose(plane.pixels(plane.flat(points)), points, atol=0.05)


@given(POSES)
def test_all_tiles_are_equal_rectangles_in_the_plane(pose: Pose) -> None:
    plane, quads = plane_of(pose)
    flat = plane.flat(quads.reshape(-1, 2)).reshape(-1, 4, 2)
    widths = np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1)
    heights = np.linalg.norm(flat[:, 3] - flat[:, 0], axis=1)
    apart = 0.02 + 5 * pose.noise  # 28 by 38 mm are not quite the usual shape; corners are off by `noise` widths
    assert np.abs(widths - 1).max() < apart
    assert np.abs(heights - 1 / ASPECT).max() < apart


def test_tiles_of_two_trays_at_right_angles_share_one_plane() -> None:
    quads = np.array(see(carrier_scene(Pose(tilt=12, azimuth=5)), scale=1.1).quads)
    plane = fit_plane(tile_frames(quads), np.arange(len(quads)), (HEIGHT, WIDTH))
    assert plane is not None
    flat = plane.flat(quads.reshape(-1, 2)).reshape(-1, 4, 2)
    assert np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1) == pytest.approx(np.ones(136), abs=0.03)


def test_five_tiles_make_no_plane() -> None:
    quads = np.array(see(tray_scene(Pose())).quads[:5])
    assert fit_plane(tile_frames(quads), np.arange(5), (HEIGHT, WIDTH)) is None
