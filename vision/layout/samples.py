"""Colours of the picture, taken at a few points of each tile or place: no tile is cut out and warped."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points, Quad

Colours = NDArray[np.float32]  # shape (n, m, 3), CIE L*a*b*: L 0..100, a and b about -100..100

_EDGE, _INNER = 0.09, 0.24  # shares of a tile: within its rounded edge, and outside of its print
CORE_SIDE = 20


def _grid(margin: float, side: int) -> Points:
    at = margin + (np.arange(side) + 0.5) / side * (1 - 2 * margin)
    x, y = np.meshgrid(at, at)
    return np.column_stack([x.ravel(), y.ravel()])


_POINTS = _grid(_EDGE, 10)
RIM: Points = _POINTS[np.abs(_POINTS - 0.5).max(axis=1) > 0.5 - _INNER]  # shares of width and height, shape (m, 2)
CORE: Points = _grid(0.2, CORE_SIDE)  # row by row, CORE_SIDE points each


def points_on(quads: Quad, shares: Points) -> Points:
    """Give the pixels at `shares`, shape (m, 2), of each of the quads, shape (n, 4, 2); shape (n, m, 2)."""
    x, y = shares[:, 0], shares[:, 1]
    weights = np.stack([(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y])
    return np.asarray(np.einsum("km,nkc->nmc", weights, quads))


def colours_on(picture: Picture, quads: Quad, shares: Points) -> Colours:
    """Give the picture's colours there; points outside of the picture take its border's."""
    if not len(quads):
        return np.zeros((0, len(shares), 3), dtype=np.float32)
    bgr = _at(picture, points_on(quads, shares))
    lab = cv2.cvtColor(bgr.reshape(len(quads), -1, 3).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    return np.asarray(lab, dtype=np.float32)


def inside_share(picture: Picture, quads: Quad) -> Points:
    """Give the share, 0..1, of each quad, shape (n, 4, 2), that lies within the picture."""
    points = points_on(quads, _POINTS)
    inside = ((points >= 0) & (points <= [picture.shape[1], picture.shape[0]])).all(axis=2)
    return np.asarray(inside.mean(axis=1), dtype=np.float64)


def covered_share(hands: Picture, cell: float, quads: Quad) -> Points:
    """Give the share, 0..1, of each quad, shape (n, 4, 2), that hands cover; `hands` as in `Found`."""
    if hands.size == 0 or not len(quads):
        return np.zeros(len(quads))
    return np.asarray(_at(hands, points_on(quads, _POINTS) / cell).mean(axis=1) / 255)


def hand_near(hands: Picture, cell: float, quads: Quad) -> Points:
    """Give the surest trace, 0..1, of a hand on each quad, shape (n, 4, 2), or within half a tile of it."""
    if hands.size == 0 or not len(quads):
        return np.zeros(len(quads))
    middles = quads.mean(axis=1, keepdims=True)
    return np.asarray(_at(hands, points_on(middles + 2 * (quads - middles), _POINTS) / cell).max(axis=1) / 255)


def _at(picture: Picture, points: Points) -> Picture:
    height, width = picture.shape[:2]
    x = np.clip(points[..., 0], 0, width - 1).astype(int)
    y = np.clip(points[..., 1], 0, height - 1).astype(int)
    return np.asarray(picture[y, x])
