"""Between steps 3 and 4: a group is turned and bent until neighbours in a row lie level and evenly.

Corners that a finder sees are all off the same way at times, and then the plane's axes are not those of the rows by
some degrees. Middles are surer: of two tiles side by side in a row both lie at one height.
"""

import numpy as np

from vision.geometry import Points
from vision.layout.frames import Indices

_BESIDE = (0.7, 1.35)  # tile widths from tile to tile in a row
_SLOPE = 0.4  # the most by which the plane's axes may be off: rows are 1.4 widths apart
_HELD = np.diag([0.05, 1.0, 1.0])  # how much a term is held to nothing, in pairs' worth
_STRAY = 0.25  # widths off level from which a pair is no pair


def levelled(spots: Points) -> Points:
    """Give a group's middles, shape (n, 2), tile widths, with x along its rows and y across them."""
    away = spots[None] - spots[:, None]
    beside = (away[..., 0] > _BESIDE[0]) & (away[..., 0] < _BESIDE[1]) & (np.abs(away[..., 1]) < _SLOPE)
    left, right = np.nonzero(beside)
    if not len(left):
        return spots
    centred = spots - spots.mean(axis=0)
    x, y = centred.T
    basis = np.column_stack([x, x * x / 6, x * y / 2])
    steps, rises = basis[right] - basis[left], y[right] - y[left]
    near = np.abs(rises - np.median(rises)) < _STRAY
    terms = np.linalg.solve(steps[near].T @ steps[near] + _HELD, steps[near].T @ rises[near])
    return np.column_stack([_even(x, y, left[near], right[near]) + terms[0] * y, y - basis @ terms])


def _even(x: Points, y: Points, left: Indices, right: Indices) -> Points:
    """Stretch x until neighbours are equally far apart in every row and along it."""
    steps = x[right] - x[left]
    usual = float(np.median(steps))
    basis = np.column_stack([y[left] + y[right], x[left] + x[right]]) / 2
    terms = np.linalg.solve(basis.T @ basis + np.eye(2), basis.T @ (steps - usual))
    return np.asarray(x - (terms[0] * x * y + terms[1] * x * x / 2) / usual)
