"""Between steps 3 and 4: a group is turned and bent until neighbours in a row lie level.

Corners that a finder sees are all off the same way at times, and then the plane's axes are not those of the rows by
some degrees. Middles are surer: of two tiles side by side in a row both lie at one height.
"""

import numpy as np

from vision.geometry import Points

_BESIDE = (0.8, 1.35)  # tile widths from tile to tile in a row
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
    return np.column_stack([x + terms[0] * y, y - basis @ terms])
