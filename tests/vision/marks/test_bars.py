"""A bar under a number tells which way up it stands; anything else tells nothing."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.geometry import Picture, Points
from vision.marks.bars import bar_odds

ENOUGH = np.log(100)
PLACES = np.array([[24.0, 52.0], [40.0, 52.0], [56.0, 52.0]])
INKS = [((40, 110, 30), (230, 235, 235)), ((215, 230, 235), (40, 20, 20)), ((120, 40, 30), (90, 120, 130))]


def back(colours: tuple[tuple[int, int, int], tuple[int, int, int]], *, bar: bool, lean: int = 0) -> Picture:
    """Draw 060 on a back, with a bar or without."""
    plastic, ink = colours
    crop = np.full((112, 80, 3), plastic, dtype=np.uint8)
    for (x, y), digit in zip(PLACES.astype(int), "060", strict=True):
        (width, height), _ = cv2.getTextSize(digit, cv2.FONT_HERSHEY_SIMPLEX, 0.75, 2)
        cv2.putText(crop, digit, (x - width // 2, y + height // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.75, ink, 2, cv2.LINE_AA)
    if bar:
        cv2.line(crop, (18, 66 - lean), (62, 66 + lean), ink, 2, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(crop, (0, 0), 0.7), dtype=np.uint8)


def upside_down(crop: Picture) -> tuple[Picture, Points]:
    return crop[::-1, ::-1].copy(), np.array([80.0, 112.0]) - PLACES[::-1]


@pytest.mark.parametrize("colours", INKS)
@pytest.mark.parametrize("lean", [-1, 0, 1])
def test_a_bar_under_the_digits_tells_that_they_stand_upright(
    colours: tuple[tuple[int, int, int], tuple[int, int, int]], lean: int
) -> None:
    assert bar_odds(back(colours, bar=True, lean=lean), PLACES) > ENOUGH


@pytest.mark.parametrize("colours", INKS)
def test_a_bar_over_the_digits_tells_that_they_stand_upside_down(
    colours: tuple[tuple[int, int, int], tuple[int, int, int]],
) -> None:
    assert bar_odds(*upside_down(back(colours, bar=True))) < -ENOUGH


@pytest.mark.parametrize("colours", INKS)
def test_digits_without_a_bar_tell_nothing(colours: tuple[tuple[int, int, int], tuple[int, int, int]]) -> None:
    assert bar_odds(back(colours, bar=False), PLACES) == 0


def test_a_line_that_is_no_longer_than_a_digit_is_no_bar() -> None:
    crop = back(INKS[0], bar=False)
    cv2.line(crop, (32, 66), (48, 66), INKS[0][1], 2)
    assert bar_odds(crop, PLACES) == 0


def test_the_edge_of_the_tile_is_no_bar() -> None:
    crop = back(INKS[0], bar=False)
    crop[104:] = INKS[0][1]
    assert bar_odds(crop, PLACES + np.array([0.0, 22.0])) == 0


@given(st.integers(0, 2**32 - 1))
def test_noise_is_no_bar(seed: int) -> None:
    crop = np.random.default_rng(seed).integers(0, 256, (112, 80, 3), dtype=np.uint8)
    assert abs(bar_odds(crop, PLACES)) < ENOUGH


def test_digits_that_were_seen_in_one_place_have_no_line_to_look_under() -> None:
    assert bar_odds(back(INKS[0], bar=True), np.full((3, 2), 40.0)) == 0
