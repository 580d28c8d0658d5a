"""A hand that lies face down: from the tiles that were read to groups of tiles side by side. Pure.

Tiles are read as a page is: rows from above, each from the left, as the picture shows them. A group ends where half a
tile's width is free, and with its row. Which way the tiles themselves are turned tells nothing: players lay them as
they like, and claimed tiles across.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

import numpy as np

from vision.geometry import Points, Quad
from vision.reading import TileRead

GAP: Final = 0.5
"""Of a tile's width: from so much room on tiles are apart. Side by side there is hardly any."""

ROW: Final = 0.6
"""Of a tile's height, from middle to middle: farther apart two tiles lie in different rows."""

_QUARTER: Final = np.pi / 2

HandGroups = tuple[tuple[TileRead, ...], ...]


def hand_groups(reads: Sequence[TileRead]) -> HandGroups:
    """Return the groups in reading order, whether or not their tiles were read."""
    return tuple(chain.from_iterable(hand_rows(reads)))


def hand_rows(reads: Sequence[TileRead]) -> tuple[HandGroups, ...]:
    """Return the rows from above, and of each its groups from the left."""
    if not reads:
        return ()
    quads = np.array([read.quad for read in reads], dtype=np.float64)
    level = quads @ rotation_by(-_slope(quads)).T
    width, height = tile_sides(quads)
    found: list[HandGroups] = []
    for row in rows_by_height(level.mean(axis=1)[:, 1], ROW * height):
        left_to_right = sorted(row, key=lambda at: float(level[at, :, 0].mean()))
        groups = _parted(level, left_to_right, GAP * width)
        found.append(tuple(tuple(reads[at] for at in group) for group in groups))
    return tuple(found)


def _slope(quads: Quad) -> float:
    """How far rows are from level, radians within an eighth of a turn: that of most tiles, whichever way round."""
    right = quads[:, 1] + quads[:, 2] - quads[:, 0] - quads[:, 3]
    angles = np.arctan2(right[:, 1], right[:, 0])
    usual = np.angle(np.exp(4j * angles).sum()) / 4
    away = (angles - usual + _QUARTER / 2) % _QUARTER - _QUARTER / 2
    return float(usual + np.median(away))


def rotation_by(angle: float) -> Points:
    """Return the matrix that turns points by an angle, radians."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def tile_sides(quads: Quad) -> tuple[float, float]:
    """Return the usual width and height of a tile, pixels."""
    sides = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2)
    return float(np.median(sides.min(axis=1))), float(np.median(sides.max(axis=1)))


def rows_by_height(heights: Points, apart: float) -> list[list[int]]:
    """Part tiles into rows from above: a tile that lies farther down than the one before it begins another."""
    order = np.argsort(heights)
    cuts = np.nonzero(np.diff(heights[order]) > apart)[0] + 1
    return [row.tolist() for row in np.split(order, cuts)]


def _parted(level: Quad, row: list[int], gap: float) -> list[list[int]]:
    """Part a row, from the left, where there is room between one tile's right edge and the next one's left."""
    groups = [[row[0]]]
    for before, at in pairwise(row):
        if level[at, :, 0].min() - level[before, :, 0].max() > gap:
            groups.append([])
        groups[-1].append(at)
    return groups
