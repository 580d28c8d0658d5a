"""Tiles of drawn pictures are found where they are; pictures without tiles give none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.vision.finder.drawn import found_share, scenes
from vision.finder.find import find_tiles
from vision.geometry import Picture
from vision.sight import Found

SIDE = st.integers(1, 90)


def _tray() -> Picture:
    return next(scene.picture for scene in scenes(range(40, 80)) if len(scene.quads) > 15)


def _same(one: Found, other: Found) -> bool:
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
