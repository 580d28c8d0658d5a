import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.live.mount.drawn import TILE, Shot, quads
from vision.live.mount.pose import FEWEST_TILES, fit_pose, pixels_per_mm

SHOTS = st.builds(
    Shot,
    tilt=st.floats(0, 40), towards=st.floats(0, 360), roll=st.floats(-20, 20), distance=st.floats(300, 900),
    view=st.floats(40, 75),
)  # fmt: skip


@given(SHOTS)
def test_tilt_is_found_within_two_degrees_and_distance_within_a_fiftieth_where_the_lens_is_known(shot: Shot) -> None:
    pose = fit_pose(quads(shot), TILE, shot.size, shot.view)
    assert pose is not None
    assert abs(pose.tilt - shot.tilt) <= 2
    assert abs(pose.distance_mm / shot.distance - 1) <= 0.02


@given(SHOTS, st.integers(0, 100))
def test_tilt_is_found_within_three_degrees_where_the_lens_is_not_known_and_corners_are_half_a_pixel_off(
    shot: Shot, seed: int
) -> None:
    off = np.random.default_rng(seed).normal(0, 0.5, (34, 4, 2))
    pose = fit_pose([*(np.array(quads(shot)) + off)], TILE, shot.size)
    assert pose is not None
    assert abs(pose.tilt - shot.tilt) <= 3


@pytest.mark.parametrize("distance", [300.0, 500.0, 800.0])
def test_from_straight_above_the_scale_is_focal_length_over_distance(distance: float) -> None:
    shot = Shot(distance=distance)
    pose = fit_pose(quads(shot), TILE, shot.size)
    assert pose is not None
    scale = shot.focal / distance
    assert (pose.pixels_per_mm, *pose.field_mm) == pytest.approx((scale, 1920 / scale, 1080 / scale))


def test_few_strays_do_not_tilt_the_table() -> None:
    shot = Shot(tilt=10)
    seen = quads(shot)
    seen[3], seen[20] = seen[3] * 1.2, seen[20] * 0.8
    pose = fit_pose(seen, TILE, shot.size, shot.view)
    assert pose is not None
    assert abs(pose.tilt - 10) <= 2


def test_less_than_three_tiles_tell_no_pose() -> None:
    shot = Shot()
    poses = [fit_pose(quads(shot)[:count], TILE, shot.size) for count in range(FEWEST_TILES + 1)]
    assert [pose is None for pose in poses] == [True, True, True, False]


def test_the_scale_does_not_depend_on_which_corner_comes_first() -> None:
    seen = quads(Shot(tilt=5, roll=30))
    turned = [np.roll(quad, 2, axis=0) for quad in seen]
    assert pixels_per_mm(turned, TILE) == pytest.approx(pixels_per_mm(seen, TILE))


@pytest.mark.parametrize("quad", [np.zeros((4, 2)), np.full((4, 2), 7.0)])
def test_quads_of_no_size_break_nothing(quad: np.ndarray) -> None:
    pose = fit_pose([*quads(Shot())[:5], quad], TILE, (1920, 1080))
    assert pose is not None
    assert np.isfinite([pose.tilt, pose.distance_mm, pose.pixels_per_mm]).all()
