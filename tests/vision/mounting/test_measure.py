"""Measurements of a mounting: light, glare, sharpness, pose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.mounting.drawn_pictures import TILE, Shot, draw, quads
from vision.mounting.measure import (
    FEWEST_TILES,
    edge_width,
    fit_camera_pose,
    measure_glare,
    measure_light,
    pixels_per_mm,
)

BASE = Shot(distance=400, noise=1.0)
REACH = 5


@pytest.mark.parametrize("blur", [1.5, 3.0])
def test_an_edge_is_as_wide_as_its_blur(blur: float) -> None:
    shot = Shot(distance=200, blur=blur)  # so close that a cell is wider than the blur
    width = edge_width(draw(shot), quads(shot)[12:22], reach=12)
    assert width == pytest.approx(np.sqrt(2 * np.pi) * blur, rel=0.2)


def test_softer_pictures_have_wider_edges() -> None:
    widths = [edge_width(draw(Shot(blur=blur, noise=1.0)), quads(BASE), REACH) for blur in (0.3, 0.8, 1.5, 2.5)]
    assert widths == sorted(widths, key=lambda width: width or 0)
    assert None not in widths


def test_backs_without_a_mark_have_no_edges() -> None:
    assert edge_width(np.full((1080, 1920, 3), 120, dtype=np.uint8), quads(BASE), REACH) is None


def test_glare_is_the_overexposed_share_of_the_tiles() -> None:
    shot = Shot()
    middle = quads(shot)[12].mean(axis=0) / shot.size
    glare = measure_glare(draw(shot, glare=(12,)), quads(shot)[2:22:2])
    assert glare.at is not None
    assert [glare.share, glare.usual, *glare.at] == pytest.approx([0.1, 0.0, *middle], abs=0.005)


def test_without_glare_it_has_no_place() -> None:
    glare = measure_glare(draw(BASE), quads(BASE))
    assert (glare.share, glare.usual, glare.at) == (0.0, 0.0, None)


def test_too_much_light_overexposes_the_median_tile() -> None:
    assert measure_glare(draw(Shot(light=5.0)), quads(BASE)).usual > 0.9


@pytest.mark.parametrize("noise", [2.0, 9.0])
def test_noise_is_measured_beside_sharp_marks(noise: float) -> None:
    light = measure_light(draw(Shot(noise=noise)), quads(BASE))
    assert light.noise == pytest.approx(noise, rel=0.25)


def test_the_level_follows_the_light() -> None:
    full, half = (measure_light(draw(Shot(light=light)), quads(BASE)).level for light in (1.0, 0.5))
    assert half == pytest.approx(full / 2, abs=2)


@pytest.mark.parametrize("size", [(1, 1), (20, 30), (1080, 1920)])
def test_tiles_outside_the_picture_are_left_out(size: tuple[int, int]) -> None:
    picture = np.zeros((*size, 3), dtype=np.uint8)
    outside = [quad + 5000 for quad in quads(BASE)] + [quad - 5000 for quad in quads(BASE)]
    assert (measure_glare(picture, outside).share, edge_width(picture, outside, REACH)) == (0.0, None)
    assert (measure_light(picture, outside).level, measure_light(picture, ()).noise) == (0.0, 0.0)


SHOTS = st.builds(
    Shot,
    tilt=st.floats(0, 40), towards=st.floats(0, 360), roll=st.floats(-20, 20), distance=st.floats(300, 900),
    view=st.floats(40, 75),
)  # fmt: skip


@given(SHOTS)
def test_with_a_known_lens_tilt_is_exact_to_two_degrees_and_distance_to_a_fiftieth(shot: Shot) -> None:
    pose = fit_camera_pose(quads(shot), TILE, shot.size, shot.view)
    assert pose is not None
    assert abs(pose.tilt - shot.tilt) <= 2
    assert abs(pose.distance_mm / shot.distance - 1) <= 0.02


@given(SHOTS, st.integers(0, 100))
def test_with_an_unknown_lens_and_corners_half_a_pixel_off_tilt_is_exact_to_three_degrees(
    shot: Shot, seed: int
) -> None:
    off = np.random.default_rng(seed).normal(0, 0.5, (34, 4, 2))
    pose = fit_camera_pose([*(np.array(quads(shot)) + off)], TILE, shot.size)
    assert pose is not None
    assert abs(pose.tilt - shot.tilt) <= 3


@pytest.mark.parametrize("distance", [300.0, 500.0, 800.0])
def test_from_straight_above_the_scale_is_focal_length_over_distance(distance: float) -> None:
    shot = Shot(distance=distance)
    pose = fit_camera_pose(quads(shot), TILE, shot.size)
    assert pose is not None
    scale = shot.focal / distance
    assert (pose.pixels_per_mm, *pose.field_mm) == pytest.approx((scale, 1920 / scale, 1080 / scale))


def test_a_few_false_tiles_do_not_tilt_the_table() -> None:
    shot = Shot(tilt=10)
    seen = quads(shot)
    seen[3], seen[20] = seen[3] * 1.2, seen[20] * 0.8
    pose = fit_camera_pose(seen, TILE, shot.size, shot.view)
    assert pose is not None
    assert abs(pose.tilt - 10) <= 2


def test_fewer_than_three_tiles_give_no_pose() -> None:
    shot = Shot()
    poses = [fit_camera_pose(quads(shot)[:count], TILE, shot.size) for count in range(FEWEST_TILES + 1)]
    assert [pose is None for pose in poses] == [True, True, True, False]


def test_the_scale_does_not_depend_on_which_corner_comes_first() -> None:
    seen = quads(Shot(tilt=5, roll=30))
    turned = [np.roll(quad, 2, axis=0) for quad in seen]
    assert pixels_per_mm(turned, TILE) == pytest.approx(pixels_per_mm(seen, TILE))


@pytest.mark.parametrize("quad", [np.zeros((4, 2)), np.full((4, 2), 7.0)])
def test_degenerate_quads_cause_no_error(quad: np.ndarray) -> None:
    pose = fit_camera_pose([*quads(Shot())[:5], quad], TILE, (1920, 1080))
    assert pose is not None
    assert np.isfinite([pose.tilt, pose.distance_mm, pose.pixels_per_mm]).all()
