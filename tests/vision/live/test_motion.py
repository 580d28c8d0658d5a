from itertools import pairwise

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.live.cameras import open_camera
from vision.live.motion import SKETCH_WIDTH, moved, sketch
from vision.twins.world import TrayTwin, deal_tiles

SEEDS = st.integers(0, 1000)
STILL = cv2.GaussianBlur(np.random.default_rng(5).uniform(20, 210, (135, 240)).astype(np.float32), (0, 0), 3)


def shot(seed: int, *, noise: float = 2.0, light: float = 1.0, hand: int = 0) -> np.ndarray:
    scene = STILL.copy()
    scene[100 : 100 + hand, 100 : 100 + hand] += 60
    grain = np.random.default_rng(seed).normal(0, noise, scene.shape)
    return np.asarray(np.clip(scene * light + grain, 0, 255), dtype=np.uint8)


@given(SEEDS, st.floats(0, 12), st.floats(0.8, 1.25))
def test_noise_and_changing_light_are_no_motion(seed: int, noise: float, light: float) -> None:
    assert not moved(shot(seed, noise=noise), shot(seed + 1, noise=noise, light=light))


@given(SEEDS, st.floats(0, 6), st.floats(0.9, 1.1), st.integers(6, 30))
def test_a_finger_is_motion_when_it_comes_and_when_it_goes(seed: int, noise: float, light: float, size: int) -> None:
    free, held = shot(seed, noise=noise), shot(seed + 1, noise=noise, light=light, hand=size)
    assert (moved(free, held), moved(held, free)) == (True, True)


def test_a_frame_is_still_against_itself() -> None:
    assert not moved(shot(1), shot(1))


def test_frames_of_two_sizes_have_nothing_in_common() -> None:
    assert moved(shot(1), shot(1)[:-1])


@pytest.mark.parametrize("level", [0, 255])
def test_light_that_goes_out_or_on_altogether_is_motion(level: int) -> None:
    assert moved(shot(1), np.full_like(shot(1), level))


def test_a_burnt_out_patch_does_not_move_when_the_light_wanders() -> None:
    one, other = shot(1), shot(2, light=1.06)
    one[10:30, 10:30] = other[10:30, 10:30] = 255
    assert not moved(one, other)


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (2592, 1944), (640, 480), (100, 80), (1, 1)])
def test_a_sketch_is_at_most_so_wide_and_keeps_the_shape(width: int, height: int) -> None:
    small = sketch(np.zeros((height, width, 3), dtype=np.uint8))
    assert small.shape == (max(1, round(height * min(1, SKETCH_WIDTH / width))), min(width, SKETCH_WIDTH))


def test_the_simulated_camera_is_still_until_somebody_reaches_in() -> None:
    world = TrayTwin(deal_tiles(4))
    with open_camera("sim://tray?noise=4&seed=3", world=world) as camera:
        still = [sketch(camera.frame()) for _ in range(6)]
        world.cover(at=0.1)
        reached = sketch(camera.frame())
        world.cover(at=0.13)
        further = sketch(camera.frame())
    assert [moved(one, other) for one, other in pairwise(still)] == [False] * 5
    assert (moved(still[-1], reached), moved(reached, further)) == (True, True)


def test_one_other_tile_in_the_tray_is_noticed() -> None:
    rows = deal_tiles(4)
    world = TrayTwin(rows)
    with open_camera("sim://tray?seed=3", world=world) as camera:
        before = sketch(camera.frame())
        rows[1][5] = None
        world.lay(rows)
        assert moved(before, sketch(camera.frame()))
