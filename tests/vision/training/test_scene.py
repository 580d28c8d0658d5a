"""A drawn scene depends on its seed alone, and its truth holds in every view."""

import cv2
import numpy as np
import pytest

from vision.finder import CLOSEUP_REACH, CLOSEUP_SIDE, CLOSEUP_SQUARE, CellMaps, cast_votes, count_votes, cut_square
from vision.training.finder_examples import finder_targets, random_crop, view_of_scene
from vision.training.scene import Scene, draw_scene

SEEDS = [207, 211, 216]


def _same(one: Scene, other: Scene) -> bool:
    return bool((one.picture == other.picture).all() and (one.quads == other.quads).all())


def test_different_seeds_give_different_scenes_and_the_same_seed_the_same() -> None:
    assert _same(draw_scene(5), draw_scene(5))
    assert not np.array_equal(draw_scene(5).picture, draw_scene(6).picture)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("portrait", [False, True])
def test_quads_run_clockwise_from_a_short_end_in_every_view(seed: int, *, portrait: bool) -> None:
    scene = view_of_scene(draw_scene(seed), np.random.default_rng(seed), portrait=portrait)
    right, down = scene.quads[:, 1] - scene.quads[:, 0], scene.quads[:, 3] - scene.quads[:, 0]
    assert (right[:, 0] * down[:, 1] - right[:, 1] * down[:, 0] > 0).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("portrait", [False, True])
def test_a_core_lies_in_its_own_tile_in_every_view(seed: int, *, portrait: bool) -> None:
    scene = view_of_scene(draw_scene(seed), np.random.default_rng(seed), portrait=portrait)
    for row, column in np.argwhere(scene.cores > 0):
        quad = np.ascontiguousarray(scene.quads[scene.cores[row, column] - 1])
        assert cv2.pointPolygonTest(quad, (4 * (float(column) + 0.5), 4 * (float(row) + 0.5)), measureDist=False) > 0


@pytest.mark.parametrize("seed", [414, 503])
def test_numbers_printed_on_a_cloth_are_not_tiles(seed: int) -> None:
    scene = draw_scene(seed)
    assert len(scene.decoys) > 6
    assert len(scene.quads) == 0
    assert not scene.cores.any()
    assert not finder_targets(scene).logits[:2].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_network_with_perfect_output_finds_the_tiles_where_they_are(seed: int) -> None:
    scene = draw_scene(seed)
    told = finder_targets(scene)
    tiles = count_votes(cast_votes(CellMaps(told.logits[0], told.logits[1], told.logits[2], told.regressions)))
    assert len(tiles.frames) > 0
    centres = scene.quads.mean(axis=1)
    for frame in tiles.frames:
        assert np.hypot(*(centres - frame[:2]).T).min() < 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_truth_of_a_cut_out_matches_its_content(seed: int) -> None:
    scene, rng = draw_scene(seed), np.random.default_rng(seed)
    for crop in (random_crop(rng, scene) for _ in range(40)):
        assert crop.picture.shape == (CLOSEUP_SIDE, CLOSEUP_SIDE, 3)
        if crop.weights[1]:
            corners = CLOSEUP_SQUARE + crop.corners.reshape(4, 2)
            assert np.abs(corners.mean(axis=0)).max() < 0.51


def test_a_cut_out_shows_its_quad_in_the_middle() -> None:
    picture = np.zeros((200, 200, 3), np.uint8)
    quad = np.array([[60.0, 50.0], [100.0, 50.0], [100.0, 110.0], [60.0, 110.0]])
    cv2.rectangle(picture, (60, 50), (99, 109), (255, 255, 255), -1)
    rows, columns = np.nonzero(cut_square(picture, quad)[:, :, 0] > 127)
    edges = np.array([columns.min(), columns.max() + 1, rows.min(), rows.max() + 1]) / CLOSEUP_SIDE
    assert np.allclose(edges, np.array([-1, 1, -1, 1]) / CLOSEUP_REACH / 2 + 0.5, atol=1.1 / CLOSEUP_SIDE)
