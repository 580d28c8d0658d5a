"""Input for the alternatives without a search: printed marks cut out flat along their true corners."""

from typing import Final

import cv2
import numpy as np

from tests.benchmarks.vision.scenes import Scene, Tile, sides
from vision.geometry import Picture, Quad

LINE: Final = 48  # height of a line of print in pixels, as both readers of print were trained
_AIR: Final = 0.35  # of the line, around it
_UPPER: Final = 0.45  # the letter's share of a mark in which it is above the number
_FEET: Final = 2  # pixels of the line that may contain the bottom of the letter


def cut_lines(scene: Scene) -> list[Picture]:
    """Cut out the line of digits for each tile with a visible mark, upright; a letter on that line is included."""
    return [_cut_line(scene.picture, tile, two_lines=scene.has_two_lines) for tile in scene.marked]


def _cut_line(picture: Picture, tile: Tile, *, two_lines: bool) -> Picture:
    quad = tile.mark_quad if tile.mark_quad is not None else tile.quad
    wide, high = sides(quad)
    if two_lines:
        quad, high = _lower(quad), high * (1 - _UPPER)
    air = round(_AIR * LINE)
    line = cut_flat(picture, quad, (max(1, round(LINE * wide / high)), LINE), air)
    return _without_letter(line, air) if two_lines else line


def _lower(quad: Quad) -> Quad:
    left, right = quad[3] - quad[0], quad[2] - quad[1]
    return np.array([quad[0] + _UPPER * left, quad[1] + _UPPER * right, quad[2], quad[3]])


def _without_letter(line: Picture, air: int) -> Picture:
    """Fill the margin above a line with the colour of the back, as the bottom of the letter is there."""
    return np.asarray(
        cv2.copyMakeBorder(line[air + _FEET :], air + _FEET, 0, 0, 0, cv2.BORDER_REPLICATE), dtype=np.uint8
    )


def cut_flat(picture: Picture, quad: Quad, size: tuple[int, int], air: int) -> Picture:
    """Cut a quad out flat, `size` pixels wide and high, with `air` more pixels on every side."""
    wide, high = size
    frame = np.array([[0, 0], [wide, 0], [wide, high], [0, high]]) + air - 0.5
    there = cv2.getPerspectiveTransform((quad - 0.5).astype(np.float32), frame.astype(np.float32))
    whole = (wide + 2 * air, high + 2 * air)
    flat = cv2.warpPerspective(picture, there, whole, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(flat, dtype=np.uint8)


def upside_down(crop: Picture) -> Picture:
    """Rotate a crop by half a turn."""
    return np.ascontiguousarray(crop[::-1, ::-1])
