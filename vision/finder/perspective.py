"""How much nearer one end of each tile is than the other, from how the tiles' sizes change over the picture."""

import numpy as np

from vision.finder.frames import Frames, half_axes, sizes
from vision.geometry import UNIT_SQUARE, Points, Quad

_FEWEST = 8  # tiles; of fewer the slope is not known well enough to do better than none
_ROUNDS = 4


def slope(frames: Frames) -> tuple[Points, float]:
    """Give a plane's slope m, shape (2,), and offset k: 1 is in proportion to m . x + k at a pixel x.

    Where a plane is seen in perspective, areas go with the third power of a linear function of the pixel. Tiles are
    of one size, so a line through (area)^(1/3) is that function. Some tiles are of another set: outliers weigh less.
    """
    if len(frames) < _FEWEST:
        return np.zeros(2), 1.0
    level = sizes(frames) ** (2 / 3)
    level /= np.median(level)
    design = np.column_stack([frames[:, :2], np.ones(len(frames))])
    weight = np.ones(len(frames))
    for _ in range(_ROUNDS):
        root = np.sqrt(weight)
        told = np.linalg.lstsq(design * root[:, None], level * root, rcond=None)[0]
        off = np.abs(design @ told - level)
        weight = 1 / (1 + (off / (1.5 * np.median(off) + 1e-6)) ** 2)
    return told[:2], float(told[2])


def quads_of(frames: Frames, plane: tuple[Points, float]) -> list[Quad]:
    """Give each tile's quad, clockwise, corners 0-1 and 2-3 its short ends, bent as the plane's slope has it."""
    m, k = plane
    signs = 2 * UNIT_SQUARE - 1
    quads = []
    for frame, axes in zip(frames, half_axes(frames), strict=True):
        centre, corners = frame[:2], signs @ axes
        there = max(float(m @ centre + k), 0.2)
        nearer = np.clip(1 - corners @ m / there, 0.7, 1.3)
        quads.append(np.asarray(centre + corners / nearer[:, None]))
    return quads
