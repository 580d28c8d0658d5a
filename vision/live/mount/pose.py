"""How a camera looks at the table: tilt, distance and scale, fitted to tiles whose size in millimetres is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.geometry import Points, Quad

FEWEST_TILES = 3
_USUAL_FOCAL = 0.95  # of the picture's width: a horizontal view of 55 degrees
_FOCAL_SPREAD = 0.3  # of its logarithm, over the cameras that are sold for desks and for the Pi
_CORNER = 0.02  # a side's usual error, as a share of it
_ROUNDS = 14
_LEAN = 0.5  # slope, 27 degrees: where a fit begins that leans
_MOST = 40  # tiles: more tell no more
_STEP = 1e-5
_STRAY = 3.0  # usual errors: a tile that is off by more counts less and less


@dataclass(frozen=True, slots=True)
class Pose:
    """How the camera stands: degrees from the vertical, millimetres from lens to table along its axis.

    `pixels_per_mm` is the middle one over the tiles, the mean of both directions (a tilt shortens one).
    `field_mm` is how much of the table is in the picture at that scale, width and height.
    """

    pixels_per_mm: float
    tilt: float
    distance_mm: float
    field_mm: tuple[float, float]


def fit_pose(
    quads: Sequence[Quad], tile_mm: tuple[float, float], size: tuple[int, int], view: float | None = None
) -> Pose | None:
    """Fit tilt and distance by least squares over the tiles' sides and diagonals; None for less than three tiles.

    `tile_mm` is a back's width and height, `size` the picture's width and height in pixels, `view` the lens's
    horizontal angle in degrees where it is known. Where it is not, the tiles tell it as far as they can (little,
    from straight above), and what cameras usually have tells the rest: distances may then be up to 40 % off.
    """
    if len(quads) < FEWEST_TILES:
        return None
    corners = np.asarray(quads[:: -(-len(quads) // _MOST)], dtype=np.float64) - np.array(size) / 2
    scale = pixels_per_mm(quads, tile_mm)
    focal = size[0] / 2 / np.tan(np.radians(view) / 2) if view else _USUAL_FOCAL * size[0]
    numbers = _fit(corners, tile_mm, (focal, 0.01 if view else _FOCAL_SPREAD), scale)
    slope = float(np.hypot(numbers[0], numbers[1]))
    field = (size[0] / scale, size[1] / scale)
    return Pose(scale, float(np.degrees(np.arctan(slope))), float(np.exp(numbers[2])), field)


def pixels_per_mm(quads: Sequence[Quad], tile_mm: tuple[float, float]) -> float:
    """Give the middle scale of the tiles, from their areas (shoelace formula)."""
    x, y = np.moveaxis(np.asarray(quads, dtype=np.float64), -1, 0)
    area = np.abs((x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1)).sum(axis=1)) / 2
    return float(np.sqrt(np.median(area) / (tile_mm[0] * tile_mm[1])))


def _fit(corners: Points, tile_mm: tuple[float, float], focal: tuple[float, float], scale: float) -> Points:
    """Fit the table's two slopes and the logarithms of distance and focal length: the best of several beginnings.

    Foreshortening alone does not tell which side of the table is nearer, so a fit may end leaning the wrong way.
    """
    usual = np.array([0.0, 0.0, np.log(focal[0] / scale), np.log(focal[0])])
    leans = [(0.0, 0.0), (_LEAN, 0.0), (-_LEAN, 0.0), (0.0, _LEAN), (0.0, -_LEAN)]
    fitted = [_descend(usual + np.array([*lean, 0.0, 0.0]), usual, corners, tile_mm, 1 / focal[1]) for lean in leans]
    return min(fitted, key=lambda numbers: _cost(numbers, usual, corners, tile_mm, 1 / focal[1]))


def _descend(numbers: Points, usual: Points, corners: Points, tile_mm: tuple[float, float], trust: float) -> Points:
    """Go downhill by Gauss-Newton; strays count less only when the fit is near."""
    prior = np.array([0.0, 0.0, 0.0, trust])
    for turn in range(_ROUNDS):
        miss = _errors(numbers, corners, tile_mm)
        slope = np.stack([(_errors(numbers + step, corners, tile_mm) - miss) / _STEP for step in np.eye(4) * _STEP], -1)
        weight = 1 / (1 + (miss / _STRAY) ** 2) if turn >= _ROUNDS // 2 else np.ones_like(miss)
        rows = np.vstack([slope * weight[:, None], np.diag(prior)])
        step, *_ = np.linalg.lstsq(rows, np.concatenate([-miss * weight, prior * (usual - numbers)]), rcond=None)
        numbers = numbers + np.clip(step, -0.3, 0.3)
    return numbers


def _cost(numbers: Points, usual: Points, corners: Points, tile_mm: tuple[float, float], trust: float) -> float:
    miss = (_errors(numbers, corners, tile_mm) / _STRAY) ** 2
    return float(np.log1p(miss).sum() * _STRAY**2 + (trust * (numbers[3] - usual[3])) ** 2)


def _errors(numbers: Points, corners: Points, tile_mm: tuple[float, float]) -> Points:
    """Give by how many usual errors each tile's sides and diagonals miss their lengths, for a table of this pose."""
    right, down, distance, focal = numbers[0], numbers[1], np.exp(numbers[2]), np.exp(numbers[3])
    rays = np.concatenate([corners / focal, np.ones((*corners.shape[:2], 1))], axis=-1)
    deep = np.maximum(rays @ np.array([right, down, 1.0]), 0.05)  # a table does not reach behind the camera
    points = rays * (distance / deep)[..., None]
    width, height = tile_mm
    across = float(np.hypot(width, height))
    pairs = ((0, 1, width), (2, 3, width), (1, 2, height), (3, 0, height), (0, 2, across), (1, 3, across))
    misses = [np.linalg.norm(points[:, a] - points[:, b], axis=-1) / length - 1 for a, b, length in pairs]
    return np.concatenate(misses) / _CORNER
