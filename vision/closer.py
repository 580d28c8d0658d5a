"""Stage 4, a closer look: a place without a read is cut out flat and enlarged, its modules are read one by one.

What is found still has to pass the label's own Reed-Solomon code and the payload's format.
"""

from collections.abc import Iterator
from functools import cache

import cv2
import numpy as np

from vision.geometry import UNIT_SQUARE, Homography, Picture, Points, Quad, flatten, project
from vision.modules import QUIET, read_modules
from vision.old_marks import AT_A_CLOSER_LOOK, Mark, decode, sharpen

MODULE_COUNTS = (14, 12, 10)
_MODULE = 6  # pixels a module in the cut-out
_TURNS = (0.0, -2.5, 2.5, 180.0, 177.5, 182.5)  # degrees: labels are stuck on within a few, tiles lie turned
_CERTAIN = 1.001  # a masked correlation of nothing with nothing may come out as any number
_FINDER_FLOOR = 0.6  # correlation below which there is no DataMatrix here


def look_closer(
    grey: Picture,
    to_pixels: Homography,
    spot: Points,
    reach: tuple[float, float],
    modules: tuple[int, ...] = MODULE_COUNTS,
) -> Mark | None:
    """Decode the label at `spot`, shape (2,), of the plane, within `reach` label sides to right and down of it."""
    across, down = reach
    window = (spot[0] - across, spot[1] - down, spot[0] + across, spot[1] + down)
    for count in modules:
        scale = float(count * _MODULE)
        flat = flatten(grey, to_pixels, window, scale)
        back = to_pixels @ np.array([[1 / scale, 0, window[0]], [0, 1 / scale, window[1]], [0, 0, 1]])
        for mark in _tries(flat, count):
            return Mark(mark.payload, project(back, mark.quad), AT_A_CLOSER_LOOK, mark.modules)
    return None


def _tries(flat: Picture, count: int) -> Iterator[Mark]:
    for piece in (flat, sharpen(flat, _MODULE, 2.0)):
        for local in (True, False):
            yield from decode(piece, AT_A_CLOSER_LOOK, local=local)
    likeness, quad = find_finder(flat, count)
    if quad is not None and likeness > _FINDER_FLOOR and (payload := read_modules(flat, quad, count)):
        yield Mark(payload, quad, AT_A_CLOSER_LOOK, count)


def find_finder(flat: Picture, count: int) -> tuple[float, Quad | None]:
    """Find a DataMatrix of `count` modules by its black L and its dashed edges: correlation -1..1, and its corners."""
    best, found = -1.0, None
    for turn in _TURNS:
        pattern, weight = _finder(count, turn)
        if flat.shape[0] < pattern.shape[0] or flat.shape[1] < pattern.shape[1]:
            return best, None
        match = cv2.matchTemplate(flat, pattern, cv2.TM_CCOEFF_NORMED, mask=weight)
        match[~np.isfinite(match)] = -1
        _, peak, _, at = cv2.minMaxLoc(match)
        if best < peak <= _CERTAIN:
            best, found = peak, _corners(count, turn) + at
    return best, found


@cache
def _finder(count: int, turn: float) -> tuple[Picture, Picture]:
    """Draw the finder pattern, and where it is known what must be seen."""
    grid = np.full((count + 2 * QUIET,) * 2, 255, dtype=np.uint8)
    known = np.full_like(grid, 255)
    known[QUIET + 1 : -QUIET - 1, QUIET + 1 : -QUIET - 1] = 0
    inner = grid[QUIET:-QUIET, QUIET:-QUIET]
    inner[:, 0] = inner[-1, :] = 0
    inner[0, ::2] = 0
    inner[1::2, -1] = 0
    size = (grid.shape[0] * _MODULE,) * 2
    spin = cv2.getRotationMatrix2D(((size[0] - 1) / 2, (size[0] - 1) / 2), -turn, 1.0)
    drawn = [
        cv2.warpAffine(cv2.resize(part, size, interpolation=cv2.INTER_NEAREST), spin, size, borderValue=fill)
        for part, fill in ((grid, 255), (known, 0))
    ]
    return np.asarray(cv2.GaussianBlur(drawn[0], (0, 0), _MODULE * 0.4), dtype=np.uint8), np.asarray(
        drawn[1], dtype=np.uint8
    )


def _corners(count: int, turn: float) -> Quad:
    """Give where the DataMatrix's corners lie in its finder pattern."""
    middle = (count + 2 * QUIET) * _MODULE / 2
    angle = np.radians(turn)
    spin = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.asarray((UNIT_SQUARE - 0.5) * count * _MODULE @ spin.T + middle)
