"""Points, quads and homographies; groups of neighbouring tiles; the plane of the tile backs.

The origin of pixel coordinates is the top-left corner, so the first pixel's centre is at (0.5, 0.5). Distances around a
tile are measured in its own width and height, so neighbours are found before the plane or the lens is known. All tiles
are equal rectangles at right angles to one another; tilt and lens distortion follow from that alone.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]  # shape (n, 2), x right and y down
Quad = NDArray[np.float64]  # shape (4, 2): top-left, top-right, bottom-right, bottom-left as the object itself stands
Homography = NDArray[np.float64]  # shape (3, 3)
Picture = NDArray[np.uint8]  # shape (height, width) grey or (height, width, 3) BGR
Indices = NDArray[np.int_]
Flags = NDArray[np.bool_]

_PARALLEL = 1e-9
UNIT_SQUARE: Quad = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def project(homography: Homography, points: Points) -> Points:
    """Map points, shape (n, 2), by a homography."""
    lifted = np.column_stack([points, np.ones(len(points))]) @ homography.T
    return np.asarray(lifted[:, :2] / lifted[:, 2:3], dtype=np.float64)


def homography_between(quad: Quad, other: Quad) -> Homography:
    """Return the homography from one quad, shape (4, 2), to another."""
    found = cv2.getPerspectiveTransform(quad.astype(np.float32), other.astype(np.float32))
    return np.asarray(found, dtype=np.float64)


def inverse_homography(homography: Homography) -> Homography:
    """Return the inverse of a homography."""
    return np.asarray(np.linalg.inv(homography), dtype=np.float64)


TO_MIDDLES: Homography = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]])
"""Maps this room's pixel coordinates to OpenCV's, whose origin is the middle of the first pixel."""
FROM_MIDDLES: Homography = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])


def rotation_by(angle: float) -> Points:
    """Return the matrix that rotates points by an angle in radians."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def rectangle(centre: Points, width: float, height: float) -> Quad:
    """Return the corners of an upright rectangle centred on `centre`, shape (2,)."""
    return np.asarray(centre + (UNIT_SQUARE - 0.5) * [width, height], dtype=np.float64)


def quad_area(quad: Quad) -> float:
    """Return the area of a quad, shape (4, 2), clockwise or not."""
    return float(abs(cv2.contourArea(quad.astype(np.float32))))


def quad_sides(quad: Quad) -> Points:
    """Return the mean length of a quad's sides 0-1 and 2-3, and that of the other two, shape (2,)."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    return np.array([(sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2])


def diagonal_crossing(quad: Quad) -> Points:
    """Return where a quad's diagonals cross, shape (2,): the image of the rectangle's middle in perspective."""
    a, b, c, d = quad
    along, across = c - a, d - b
    slant = along[0] * across[1] - along[1] * across[0]
    if abs(slant) < _PARALLEL:
        return np.asarray(quad.mean(axis=0))
    t = ((b - a)[0] * across[1] - (b - a)[1] * across[0]) / slant
    return np.asarray(a + t * along)


_SAME_DIRECTION = 0.3  # widths and heights by which a neighbour's short side may differ as a vector: about 25 degrees
_BESIDE = (0.8, 1.4)  # widths between middles of neighbours in a row: gaps are up to a seventh of a width, plus play
_LEVEL = 0.3  # heights by which two tiles of a row may be out of line
_BELOW = (0.85, 1.5)  # heights between neighbouring rows: a rail between rows is up to a quarter of a height
_ASIDE = 0.8  # widths by which a tile may be offset sideways from the one in the next row


@dataclass(frozen=True, slots=True, eq=False)
class TileFrames:
    """Each tile's own frame of reference, pixels, shape (n, 2): `centres`, `across` (its short sides) and `along`."""

    quads: Quad  # shape (n, 4, 2)
    centres: Points
    across: Points
    along: Points

    def to_own_units(self) -> Points:
        """Return the matrices from pixels to each tile's own widths and heights, shape (n, 2, 2)."""
        sides = np.stack([self.across, self.along], axis=-1)
        return np.asarray(np.linalg.inv(sides + 1e-9 * np.eye(2)), dtype=np.float64)


def tile_frames(quads: Quad) -> TileFrames:
    """Return the frames of tiles, given `quads` of shape (n, 4, 2) whose corners 0-1 and 2-3 are the short ends."""
    across = (quads[:, 1] - quads[:, 0] + quads[:, 2] - quads[:, 3]) / 2
    along = (quads[:, 3] - quads[:, 0] + quads[:, 2] - quads[:, 1]) / 2
    return TileFrames(quads, quads.mean(axis=1), across, along)


def linked_groups(tiles: TileFrames) -> list[Indices]:
    """Return groups of tiles with the same orientation that lie side by side or one below another, largest first."""
    linked = _links(tiles) | np.eye(len(tiles.quads), dtype=np.bool_)
    first = np.arange(len(linked))  # each tile repeatedly takes the lowest number among its neighbours'
    while not np.array_equal(first, nearer := np.where(linked, first, len(linked)).min(axis=1, initial=len(linked))):
        first = nearer
    return sorted((np.flatnonzero(first == number) for number in np.unique(first)), key=len, reverse=True)


def _links(tiles: TileFrames) -> Flags:
    """Return which pairs of tiles are neighbours with the same orientation, measured by both of them, shape (n, n)."""
    to_units = tiles.to_own_units()
    own = (to_units @ tiles.centres[:, :, None])[:, :, 0]
    x, y = np.abs(to_units @ tiles.centres.T - own[:, :, None]).transpose(1, 0, 2)
    across, aslant = np.abs(to_units @ tiles.across.T).transpose(1, 0, 2)  # which way up a tile is, is not known
    same = (np.abs(across - 1) < _SAME_DIRECTION) & (aslant < _SAME_DIRECTION)
    beside = (x > _BESIDE[0]) & (x < _BESIDE[1]) & (y < _LEVEL)
    below = (y > _BELOW[0]) & (y < _BELOW[1]) & (x < _ASIDE)
    linked = same & (beside | below)
    return np.asarray(linked & linked.T, dtype=np.bool_)


ASPECT = 0.735  # width divided by height of a mahjong tile's back, both for 22 by 30 and for 28 by 38 mm
HEIGHT = 1 / ASPECT
FEWEST_FOR_PLANE = 6  # tiles needed to fit a plane
_TRIED_FRAMES = 24  # about how many tiles to try as the starting point
_ROUNDS = 6
_STRAY = 0.32  # widths: largest error of a side, due at first to perspective and lens, at last to askew or false tiles
_USUAL = 0.05  # widths: usual error of a side; corners are found to 3 percent, and tiles lie turned by some degrees
_LENS = 0.08  # usual distortion of a lens, as a share at the picture's corner
_PARAMETERS = 7  # parameters: four of an affine map about the middle, two of perspective, one of the lens
_RECTANGLE = np.array([[1.0, 0.0], [0.0, HEIGHT], [-1.0, 0.0], [0.0, -HEIGHT]])  # sides of a tile, clockwise
_RECTANGLES = np.stack([_RECTANGLE @ np.linalg.matrix_power(np.array([[0, 1], [-1, 0]]), turn) for turn in range(4)])


@dataclass(frozen=True, slots=True, eq=False)
class TablePlane:
    """The plane of the tile backs: one-coefficient radial distortion about the picture's middle, then a homography."""

    view: Homography
    middle: Points  # of the picture, pixels, shape (2,)
    reach: float  # pixels from the middle to a corner
    bend: float  # coefficient of the radial distortion

    def flat(self, pixels: Points) -> Points:
        """Map pixels, shape (n, 2), to the plane, in tile widths."""
        return project(self.view, _undistort((pixels - self.middle) / self.reach, self.bend))

    def pixels(self, flat: Points) -> Points:
        """Map points of the plane, shape (n, 2), to pixels."""
        straight = project(inverse_homography(self.view), flat)
        bent = straight
        for _ in range(5):  # fixed-point iteration; even at the strongest bend each round divides the error by three
            bent = np.asarray(straight / (1 + self.bend * (bent**2).sum(axis=1, keepdims=True)), dtype=np.float64)
        return np.asarray(bent * self.reach + self.middle)


def fit_plane(tiles: TileFrames, members: Indices, size: tuple[int, int]) -> TablePlane | None:
    """Fit the plane in which the `members` among the tiles are equal rectangles at right angles to one another.

    `size` is the picture's height and width. Return None if fewer than six tiles agree. Gauss-Newton over seven
    parameters, starting from the tile that most others resemble.
    """
    middle = np.array([size[1], size[0]]) / 2
    reach = float(np.hypot(*middle))
    local = (tiles.quads[members] - middle) / reach
    start = _most_typical_frame(tiles, members)
    parameters = np.zeros(_PARAMETERS)
    parameters[:4] = (start * reach).ravel()
    for _ in range(_ROUNDS):
        keep, errors = _tile_errors(parameters, local)
        if keep.sum() < FEWEST_FOR_PLANE:
            return None
        parameters = parameters + _gauss_newton_step(parameters, local[keep], errors[keep])
    view = _view(parameters)
    if not np.isfinite(parameters).all() or not _in_front(view, local.reshape(-1, 2), float(parameters[6])):
        return None
    return TablePlane(view, middle, reach, float(parameters[6]))


def _most_typical_frame(tiles: TileFrames, members: Indices) -> Points:
    """Return the matrix from pixels to tile widths, shape (2, 2), of the tile that most others agree with."""
    tried = members[:: 1 + len(members) // _TRIED_FRAMES]
    to_units = np.diag([1.0, HEIGHT]) @ tiles.to_own_units()[tried]
    across = (to_units @ tiles.across[members].T).transpose(0, 2, 1)
    along = (to_units @ tiles.along[members].T).transpose(0, 2, 1)
    upright = np.maximum(_side_errors(across, 1.0, 0.0), _side_errors(along, 0.0, HEIGHT))
    lying = np.maximum(_side_errors(across, 0.0, 1.0), _side_errors(along, HEIGHT, 0.0))
    alike = np.minimum(np.minimum(upright, lying), _STRAY).sum(axis=1)
    return np.asarray(to_units[int(alike.argmin())])


def _side_errors(sides: Points, x: float, y: float) -> Points:
    """Return how far sides are from (x, y), ignoring their signs, as it is not known which way up a tile is."""
    return np.asarray(np.abs(np.abs(sides) - [x, y]).max(axis=2))


def _tile_errors(parameters: Points, local: Quad) -> tuple[Flags, Points]:
    """Return which tiles are rectangles in the plane, and the errors of each tile's sides, shape (n, 4, 2)."""
    corners = project(_view(parameters), _undistort(local.reshape(-1, 2), float(parameters[6]))).reshape(-1, 4, 2)
    sides = _differences(corners)
    turn = np.round(np.arctan2(sides[:, 0, 1], sides[:, 0, 0]) / (np.pi / 2)).astype(int) % 4
    errors = sides - _RECTANGLES[turn]
    return np.asarray(np.abs(errors).reshape(len(local), -1).max(axis=1) < _STRAY), np.asarray(errors)


def _gauss_newton_step(parameters: Points, local: Quad, errors: Points) -> Points:
    """Return a Gauss-Newton step, weighted to minimise absolute rather than squared errors."""
    jacobian = _jacobian(parameters, local).reshape(-1, _PARAMETERS)
    weight = 1 / np.maximum(np.abs(errors).ravel(), _USUAL)
    normal = jacobian.T @ (jacobian * weight[:, None])
    gradient = -jacobian.T @ (errors.ravel() * weight)
    prior = _USUAL / _LENS**2  # a prior that the lens bends little, as a few tiles cannot tell
    normal[6, 6] += prior
    gradient[6] -= prior * parameters[6]
    return np.asarray(np.linalg.solve(normal + 1e-9 * np.eye(_PARAMETERS), gradient))


def _jacobian(parameters: Points, local: Quad) -> Points:
    """Return the derivatives of each tile's sides by each parameter, shape (n, 4, 2, 7)."""
    points = local.reshape(-1, 2)
    straight = _undistort(points, float(parameters[6]))
    view = _view(parameters)
    depth = straight @ view[2, :2] + 1
    flat = (straight @ view[:2, :2].T) / depth[:, None]
    share = straight / depth[:, None]
    jacobian = np.zeros((len(points), 2, _PARAMETERS))
    jacobian[:, 0, 0:2] = jacobian[:, 1, 2:4] = share
    jacobian[:, :, 4:6] = -flat[:, :, None] * share[:, None, :]
    outward = points * (points**2).sum(axis=1, keepdims=True) / depth[:, None]
    jacobian[:, :, 6] = outward @ view[:2, :2].T - flat * (outward @ view[2, :2])[:, None]
    return _differences(jacobian.reshape(-1, 4, 2, _PARAMETERS))


def _differences(corners: Points) -> Points:
    """Return the vectors from each corner to the next, along the second axis of length 4."""
    return np.asarray(corners[:, [1, 2, 3, 0]] - corners)


def _view(parameters: Points) -> Homography:
    a, b, c, d, g, h = parameters[:6]
    return np.array([[a, b, 0], [c, d, 0], [g, h, 1.0]])


def _undistort(local: Points, bend: float) -> Points:
    return np.asarray(local * (1 + bend * (local**2).sum(axis=1, keepdims=True)))


def _in_front(view: Homography, local: Points, bend: float) -> bool:
    """Return whether all tiles lie well this side of the horizon, as in any table camera's picture."""
    depth = _undistort(local, bend) @ view[2, :2] + 1
    return bool(depth.min() > 0.1)  # noqa: PLR2004 -- a tenth of the middle's distance from the horizon


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Centre rows (the last axis) on 0 and scale them to length 1, so that dot products are correlations."""
    centred = rows - rows.mean(axis=-1, keepdims=True)
    return np.asarray(centred / (np.linalg.norm(centred, axis=-1, keepdims=True) + 1e-6), dtype=np.float32)
