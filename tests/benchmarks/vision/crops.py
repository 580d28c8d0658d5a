"""What the alternatives are given where they need not search: printed marks cut out flat by their true corners."""

from typing import Final

import cv2
import numpy as np

from tests.benchmarks.vision.scenes import Tile
from vision.geometry import Picture, Quad

LINE: Final = 48  # pixels that a line of print is high: what both readers of print were trained with
_AIR: Final = 0.35  # of the line about it
_TWO_LINES: Final = 1.6  # times as wide as high: a mark that is narrower has its letter above its number
_UPPER: Final = 0.45  # of such a mark is its letter


def cut_line(picture: Picture, tile: Tile) -> Picture:
    """Cut out the line with a tile's digits, upright; the letter comes along where it stands on that line."""
    quad = tile.mark_quad if tile.mark_quad is not None else tile.quad
    wide, high = _sides(quad)
    two_lines = wide < _TWO_LINES * high
    if two_lines:
        quad, high = _lower(quad), high * (1 - _UPPER)
    air = round(_AIR * LINE)
    line = cut_flat(picture, quad, (max(1, round(LINE * wide / high)), LINE), air)
    return _without_letter(line, air) if two_lines else line


def _lower(quad: Quad) -> Quad:
    left, right = quad[3] - quad[0], quad[2] - quad[1]
    return np.array([quad[0] + _UPPER * left, quad[1] + _UPPER * right, quad[2], quad[3]])


def _without_letter(line: Picture, air: int) -> Picture:
    """Paint the air above a line over with the back about it: the letter's feet stand there."""
    return np.asarray(cv2.copyMakeBorder(line[air:], air, 0, 0, 0, cv2.BORDER_REPLICATE), dtype=np.uint8)


def cut_flat(picture: Picture, quad: Quad, size: tuple[int, int], air: int) -> Picture:
    """Cut a quad out flat, `size` pixels wide and high, and `air` pixels more on every side."""
    wide, high = size
    frame = np.array([[0, 0], [wide, 0], [wide, high], [0, high]]) + air - 0.5
    there = cv2.getPerspectiveTransform((quad - 0.5).astype(np.float32), frame.astype(np.float32))
    whole = (wide + 2 * air, high + 2 * air)
    flat = cv2.warpPerspective(picture, there, whole, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(flat, dtype=np.uint8)


def upside_down(crop: Picture) -> Picture:
    """Turn a crop by half a turn."""
    return np.ascontiguousarray(crop[::-1, ::-1])


def _sides(quad: Quad) -> tuple[float, float]:
    return float(np.linalg.norm(quad[1] - quad[0])), float(np.linalg.norm(quad[3] - quad[0]))
