"""What stands in a text is no serial: a tile ends about its number."""

import cv2
import numpy as np
import pytest

from vision.geometry import Picture
from vision.marks.cut import CROP
from vision.marks.edges import has_edges

SIDES = ("left", "right", "top", "bottom")
LIGHT, DARK, INK = (205, 215, 220), (60, 70, 75), (30, 30, 30)


def crop_of(*ends_at: str) -> Picture:
    """A number, and about it the edges of a tile on these sides."""
    width, height = CROP
    crop = np.full((height, width, 3), LIGHT, dtype=np.uint8)
    cv2.putText(crop, "117", (14, 66), cv2.FONT_HERSHEY_SIMPLEX, 0.9, INK, 2, cv2.LINE_AA)
    border = {"left": crop[:, :4], "right": crop[:, -4:], "top": crop[:6], "bottom": crop[-6:]}
    for side in ends_at:
        border[side][:] = DARK
    return crop


def photographed(crop: Picture, seed: int) -> Picture:
    """The same with the noise and the falling light of a photograph."""
    chance = np.random.default_rng(seed)
    light = np.linspace(1.0, 0.9, crop.shape[0])[:, None, None]
    return np.clip(crop * light + chance.normal(0, 5, crop.shape), 0, 255).astype(np.uint8)


def test_a_tile_has_edges_on_all_sides() -> None:
    assert has_edges(crop_of(*SIDES)[None]).tolist() == [True]


@pytest.mark.parametrize("hidden", SIDES)
def test_a_side_may_drown_in_light_or_under_a_hand(hidden: str) -> None:
    assert has_edges(crop_of(*(side for side in SIDES if side != hidden))[None]).tolist() == [True]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beside", [(), ("left",), ("left", "right")])
def test_a_number_in_a_text_has_none_over_and_under_it(beside: tuple[str, ...], seed: int) -> None:
    assert has_edges(photographed(crop_of(*beside), seed)[None]).tolist() == [False]


def test_each_crop_is_judged_by_itself() -> None:
    assert has_edges(np.stack([crop_of(), crop_of(*SIDES), crop_of()])).tolist() == [False, True, False]


def test_no_crop_has_no_edges() -> None:
    assert has_edges(np.empty((0, CROP[1], CROP[0], 3), dtype=np.uint8)).tolist() == []
