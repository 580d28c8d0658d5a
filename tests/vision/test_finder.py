"""Tiles are found, and frames are exact."""

from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.vision.drawn_scenes import found_share, scenes
from vision.finder import (
    DetectedTile,
    Detections,
    _of_one_size,
    _shrunk,
    find_tiles,
    is_noisy,
    quads_of_frames,
    refine_again,
)
from vision.geometry import Picture, Quad, rectangle
from vision.training.finder_examples import frames_of
from vision.training.measure_finder import corner_error
from vision.training.scene_paint import Pinhole, _about_x, _about_z, at_height, outline

SIDE = st.integers(1, 90)


@cache
def _tray() -> Picture:
    return next(scene.picture for scene in scenes(range(40, 80)) if len(scene.quads) > 15)


def _same(one: Detections, other: Detections) -> bool:
    quads = [[tile.quad.tolist() for tile in found.tiles] for found in (one, other)]
    return quads[0] == quads[1] and bool((one.hands == other.hands).all())


def test_three_of_four_tiles_of_drawn_pictures_are_found_with_their_corners() -> None:
    """Drawn pictures are far harder than real ones: this holds that models and code fit together."""
    share, corners = found_share(scenes(range(24)))
    assert (share > 0.75, corners < 0.12) == (True, True), (share, corners)


@pytest.mark.parametrize("grey", [0, 90, 255])
@pytest.mark.parametrize("size", [(1, 1), (17, 2000), (480, 640), (3000, 4000)])
def test_a_picture_of_one_grey_has_no_tiles(size: tuple[int, int], grey: int) -> None:
    assert find_tiles(np.full((*size, 3), grey, np.uint8)).tiles == ()


def test_noise_has_no_tiles() -> None:
    noise = np.random.default_rng(3).integers(0, 256, (480, 640, 3)).astype(np.uint8)
    assert find_tiles(noise).tiles == ()


@pytest.mark.parametrize(("noise", "noisy"), [(5.5, False), (6.5, True), (29.0, True), (32.0, False)])
def test_a_picture_is_noisy_from_six_levels_on_and_none_from_thirty_on(noise: float, *, noisy: bool) -> None:
    grains = np.random.default_rng(3).normal(0, noise, (360, 640, 1))
    assert is_noisy(np.clip(120 + grains, 0, 255).astype(np.uint8).repeat(3, axis=2)) == noisy


def test_tiles_are_found_in_noise_large_and_small() -> None:
    small = _tray()
    large = np.asarray(cv2.resize(small, (640, 512), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    for tray, noise in ((small, 14), (large, 24)):
        night = np.clip(tray + np.random.default_rng(3).normal(0, noise, tray.shape), 0, 255).astype(np.uint8)
        assert len(find_tiles(night).tiles) > 0.8 * len(find_tiles(tray).tiles)


def test_a_closer_look_shrinks_no_more_of_a_picture_than_is_about_the_tiles() -> None:
    tray = _tray()
    there = np.array([tile.quad for tile in find_tiles(tray).tiles])
    wide = np.asarray(cv2.copyMakeBorder(tray, 300, 500, 400, 200, cv2.BORDER_REPLICATE), dtype=np.uint8)
    moved = np.array([400, 300])
    near, far = refine_again(tray, there), refine_again(wide, there + moved)
    assert np.abs(far.quads - moved - near.quads).max() < 1.0
    assert np.abs(far.tile - near.tile).max() < 0.05


@pytest.mark.parametrize("away", [-1e4, 1e4])
def test_a_closer_look_outside_of_the_picture_sees_no_tile(away: float) -> None:
    quad = rectangle(np.full(2, away), 30.0, 40.0)
    assert refine_again(_tray(), quad[None]).tile[0] < 0.5


@pytest.mark.parametrize("size", [(1520, 2028), (1080, 1920)])
def test_a_picture_is_shrunk_as_by_the_mean_of_what_each_pixel_shows(size: tuple[int, int]) -> None:
    rows, columns = np.mgrid[: size[0], : size[1]]
    waves = 128 + 60 * np.sin(columns / 40) + 60 * np.cos(rows / 30)
    picture = cv2.merge([waves.astype(np.uint8)] * 3)
    small = _shrunk(picture, 640)
    means = cv2.resize(waves, (small.shape[1], small.shape[0]), interpolation=cv2.INTER_AREA)
    assert max(small.shape) == 640
    assert np.abs(small[..., 0] - means).max() < 2


def test_an_empty_picture_has_no_tiles() -> None:
    assert find_tiles(np.zeros((0, 7, 3), np.uint8)).tiles == ()


def test_the_same_picture_gives_the_same_tiles() -> None:
    picture = _tray()
    assert _same(find_tiles(picture), find_tiles(picture))


def test_a_view_into_another_array_is_read_like_its_copy() -> None:
    picture = _tray()
    wide = np.repeat(np.repeat(picture, 2, axis=0), 2, axis=1)[::2, ::2]
    assert _same(find_tiles(wide), find_tiles(picture))


def test_a_picture_is_not_changed() -> None:
    picture = _tray()
    before = picture.copy()
    find_tiles(picture)
    assert (picture == before).all()


@given(picture=st.tuples(SIDE, SIDE).flatmap(lambda size: arrays(np.uint8, (*size, 3))))
def test_any_picture_gives_clockwise_quads_and_likelihoods_between_0_and_1(picture: Picture) -> None:
    for tile in find_tiles(picture).tiles:
        right, down = tile.quad[1] - tile.quad[0], tile.quad[3] - tile.quad[0]
        assert right[0] * down[1] - right[1] * down[0] > 0
        assert 0 <= tile.likelihood <= 1


def test_hands_are_told_for_the_whole_picture() -> None:
    found = find_tiles(np.zeros((1080, 1920, 3), np.uint8))
    rows, columns = found.hands.shape
    assert rows * found.cell >= 1080 - found.cell
    assert columns * found.cell >= 1920 - found.cell


ANGLES = st.floats(0, 6.28)


def _camera(tilt: float, roll: float) -> Pinhole:
    return Pinhole(_about_z(roll) @ _about_x(tilt), 600.0, 900.0, np.array([300.0, 200.0]))


def _tile(camera: Pinhole, x: float, y: float, angle: float) -> Quad:
    return camera.see(at_height(outline(x, y, 26, 35, angle), 20))


@given(angle=ANGLES, roll=ANGLES, tilt=st.floats(0, 0.5))
def test_a_quad_becomes_a_frame_and_a_frame_nearly_the_same_quad(angle: float, roll: float, tilt: float) -> None:
    quad = _tile(_camera(tilt, roll), 0, 0, angle)
    (back,) = quads_of_frames(frames_of(quad[None]).astype(float))
    assert corner_error(back, quad) < 0.02 * np.hypot(*(quad[1] - quad[0]))


@given(angle=ANGLES, roll=ANGLES)
def test_which_end_is_called_the_top_does_not_change_the_frame(angle: float, roll: float) -> None:
    quad = _tile(_camera(0.4, roll), 20, 10, angle)
    one, other = frames_of(np.array([quad, np.roll(quad, 2, axis=0)]))
    assert np.allclose(one, other, atol=1e-4)


@given(numbers=st.lists(st.floats(-3, 3), min_size=7, max_size=7))
def test_any_frame_gives_a_clockwise_quad_with_its_short_ends_first(numbers: list[float]) -> None:
    frame = np.array([[100.0, 100.0, *numbers]])
    (quad,) = quads_of_frames(frame)
    right, down = quad[1] - quad[0], quad[3] - quad[0]
    assert right[0] * down[1] - right[1] * down[0] > 0


def thing(x: float, likelihood: float, large: float = 1.0) -> DetectedTile:
    """Return what a look has found: so many times the usual area."""
    return DetectedTile(
        rectangle(np.array([x, 50.0]), 22 * large**0.5, 30 * large**0.5), face_up=False, likelihood=likelihood
    )


ROW = [thing(100.0 * at, 0.95) for at in range(1, 8)]


@pytest.mark.parametrize(
    ("lead", "large", "kept"),
    [(0.01, 3.0, 1.0), (0.01, 0.4, 1.0), (0.1, 3.0, 1.0), (0.12, 3.0, 3.0), (0.2, 0.4, 0.4), (-0.01, 3.0, 1.0)],
)
def test_of_two_outlines_about_one_middle_that_of_the_usual_size_stays_unless_the_other_is_much_surer(
    lead: float, large: float, kept: float
) -> None:
    alone = thing(900.0, 0.75)
    rival = thing(902.0, 0.75 + lead, large)
    for both in ([alone, rival], [rival, alone]):
        left = [tile for tile in _of_one_size([*ROW, *both]) if tile.quad[:, 0].mean() > 800]
        assert left == [alone if kept == 1.0 else rival]


@pytest.mark.parametrize(("large", "kept"), [(4.4, True), (4.6, False), (1 / 4.4, True), (1 / 4.6, False)])
def test_what_is_far_from_the_usual_size_is_no_tile(large: float, *, kept: bool) -> None:
    odd = thing(900.0, 0.9, large)
    assert (odd in _of_one_size([*ROW, odd])) == kept


def test_what_is_seen_in_the_grain_of_a_table_in_many_sizes_does_not_outweigh_a_tray() -> None:
    """A tray before a camera whose lens is wide: 34 tiles, and of these areas were what a coarse look saw in wood."""
    tray = [thing(100.0 * at, 1.0) for at in range(34)]
    grain = [
        thing(5000.0 + 500 * at, 0.95, large) for at, large in enumerate((2.3, 3.2, 4.1, 6.8, 8.0, 17, 27, 34, 43))
    ]
    assert [tile for tile in _of_one_size([*tray, *grain]) if tile in tray] == tray
