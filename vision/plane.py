"""Stage 2, marks to plane: labels are squares lying one way up, which alone shows how the tray is tilted.

The unit of the plane is one DataMatrix side; its x runs to the player's right, its y towards the player.
"""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Homography, Points, Quad, inverse, project
from vision.old_marks import Mark

FEWEST_MARKS = 6
_SAME_WAY = np.radians(25.0)  # tiles lie within 6 degrees in a tray, the tilt bends directions by some more
_MOST = 0.6  # share of the labels that lie the common way or turned by half: more than in any heap
_FLAT = 1e-9
_ROUNDS = 12
_STRAY = 0.45  # a side this far off the unit is no label of this tray


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The plane of the tile backs: `to_plane` maps pixels to label sides."""

    to_plane: Homography

    @property
    def to_pixels(self) -> Homography:
        """The way back, from label sides to pixels."""
        return inverse(self.to_plane)


def fit_plane(marks: tuple[Mark, ...]) -> Plane | None:
    """Fit the plane in which the labels are unit squares; None when they do not lie one way."""
    if len(marks) < FEWEST_MARKS:
        return None
    angles = np.array([np.arctan2(mark.right[1], mark.right[0]) for mark in marks])
    way = _common_way(angles)
    upright = np.abs(_turn(angles - way)) < _SAME_WAY
    turned = np.abs(_turn(angles - way - np.pi)) < _SAME_WAY
    if upright.sum() < FEWEST_MARKS or (upright | turned).mean() < _MOST:
        return None
    quads = [
        mark.quad if stands else np.roll(mark.quad, 2, axis=0)
        for mark, stands, lies in zip(marks, upright, turned, strict=True)
        if stands or lies
    ]
    return _fit_squares(np.array(quads))


def _turn(angle: Points) -> Points:
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def _common_way(angles: Points) -> float:
    """Give the direction that most labels share: the middle of the best supported one's neighbours."""
    away = np.abs(_turn(angles[:, None] - angles[None, :]))
    best = int((away < _SAME_WAY).sum(axis=1).argmax())
    near = angles[away[best] < _SAME_WAY]
    return float(angles[best] + np.median(_turn(near - angles[best])))


def _fit_squares(quads: Quad) -> Plane | None:
    """Fit by Gauss-Newton six numbers: an affine map about the middle, and two of perspective."""
    middle = quads.reshape(-1, 2).mean(axis=0)
    spread = float(np.abs(quads - middle).max())
    local = (quads - middle) / spread
    sides = np.column_stack(
        [np.median(local[:, 1] - local[:, 0], axis=0), np.median(local[:, 3] - local[:, 0], axis=0)]
    )
    if abs(np.linalg.det(sides)) < _FLAT:
        return None
    numbers = np.concatenate([np.linalg.inv(sides).ravel(), [0.0, 0.0]])
    keep = np.ones(len(local), dtype=bool)
    for _ in range(_ROUNDS):
        miss = _side_errors(numbers, local)
        keep = np.abs(miss).reshape(len(local), -1).max(axis=1) < _STRAY
        if keep.sum() < FEWEST_MARKS:
            return None
        slope = np.stack([(_side_errors(numbers + step, local) - miss) / 1e-6 for step in np.eye(6) * 1e-6], axis=-1)
        step, *_ = np.linalg.lstsq(slope[keep].reshape(-1, 6), -miss[keep].ravel(), rcond=None)
        numbers = numbers + step
    normal = np.array([[1 / spread, 0, -middle[0] / spread], [0, 1 / spread, -middle[1] / spread], [0, 0, 1]])
    return Plane(_matrix(numbers) @ normal)


def _matrix(numbers: Points) -> Homography:
    a, b, c, d, g, h = numbers
    return np.array([[a, b, 0], [c, d, 0], [g, h, 1.0]])


def _side_errors(numbers: Points, quads: Quad) -> Points:
    """Give how far each label's four sides are from those of the unit square, shape (n, 4, 2)."""
    flat = project(_matrix(numbers), quads.reshape(-1, 2)).reshape(-1, 4, 2)
    sides = np.roll(flat, -1, axis=1) - flat
    return np.asarray(sides - np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]))
