"""Points, quads and homographies. Pixels: origin at the top-left corner, first pixel's centre at (0.5, 0.5)."""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]  # shape (n, 2), x right and y down
Quad = NDArray[np.float64]  # shape (4, 2): top-left, top-right, bottom-right, bottom-left of the thing itself
Homography = NDArray[np.float64]  # shape (3, 3)
Picture = NDArray[np.uint8]  # shape (height, width) grey or (height, width, 3) BGR

_PARALLEL = 1e-9
UNIT_SQUARE: Quad = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def project(homography: Homography, points: Points) -> Points:
    """Map points, shape (n, 2), by a homography."""
    lifted = np.column_stack([points, np.ones(len(points))]) @ homography.T
    return np.asarray(lifted[:, :2] / lifted[:, 2:3], dtype=np.float64)


def inverse_homography(homography: Homography) -> Homography:
    """Return the way back of a homography."""
    return np.asarray(np.linalg.inv(homography), dtype=np.float64)


def rectangle(centre: Points, width: float, height: float) -> Quad:
    """Return the corners of an upright rectangle about `centre`, shape (2,)."""
    return np.asarray(centre + (UNIT_SQUARE - 0.5) * [width, height], dtype=np.float64)


def diagonal_crossing(quad: Quad) -> Points:
    """Return where a quad's diagonals cross, shape (2,): the picture of the rectangle's middle."""
    a, b, c, d = quad
    along, across = c - a, d - b
    slant = along[0] * across[1] - along[1] * across[0]
    if abs(slant) < _PARALLEL:
        return np.asarray(quad.mean(axis=0))
    t = ((b - a)[0] * across[1] - (b - a)[1] * across[0]) / slant
    return np.asarray(a + t * along)
