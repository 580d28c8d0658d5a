"""Cut-outs for the closer look: about tiles as roughly as they are first found, and about places where none is."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder.closeup import SQUARE, cut, to_pixels
from vision.geometry import Picture, Points, Quad
from vision.training.scene import Scene

_LEAST_SIDE, _MOST_SIDE = 9.0, 80.0  # pixels of a short end: what is asked for
_NEAR, _FAR = (
    0.5,
    0.7,
)  # a centre within the first is the tile's, beyond the second there is none, between nothing is asked
_ALIKE = 2.2  # times larger or smaller is another thing


@dataclass(frozen=True, slots=True, eq=False)
class Crop:
    """A cut-out and what is in it: `corners` as steps from the square's, shape (8,); flags and how they count, (3,)."""

    picture: Picture
    corners: NDArray[np.float32]
    flags: NDArray[np.float32]  # a tile, its face, its long ends where the short ones should be
    weights: NDArray[np.float32]


def random_crop(rng: np.random.Generator, scene: Scene) -> Crop:
    """Cut out something of a scene."""
    asked = _asked(scene)
    if len(scene.decoys) and rng.random() < 0.15:
        return _crop(scene, _roughly(rng, scene.decoys[rng.integers(len(scene.decoys))].astype(float), 0.3, 0.1))
    if not len(asked):
        return _crop(scene, _anywhere(rng, scene))
    quad = scene.quads[rng.choice(asked)].astype(float)
    kind = rng.random()
    if kind < 0.4:
        return _crop(scene, _roughly(rng, quad, 0.45, 0.15))
    if kind < 0.75:
        return _crop(scene, _roughly(rng, quad, 0.12, 0.05))
    return _crop(scene, _roughly(rng, quad, 1.2, 0.2) if kind < 0.93 else _anywhere(rng, scene))


def _roughly(rng: np.random.Generator, quad: Quad, off: float, wrong: float) -> Quad:
    """Give a parallelogram like a tile's: moved by up to `off`, its size and rotation wrong by about `wrong`."""
    centre = quad.mean(axis=0)
    a, b = (quad[1] + quad[2] - quad[0] - quad[3]) / 4, (quad[2] + quad[3] - quad[0] - quad[1]) / 4
    centre = centre + rng.uniform(-off, off) * a + rng.uniform(-off, off) * b
    turn = float(rng.uniform(-0.7, 0.7) if rng.random() < 2 * wrong else rng.normal(0, wrong))
    c, s = np.cos(turn), np.sin(turn)
    a, b = (np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]]) for v in (a, b))
    a, b = a * np.exp(rng.normal(0, wrong)) + b * rng.normal(0, wrong / 2), b * np.exp(rng.normal(0, wrong))
    if rng.random() < 0.15:
        a, b = b, -a
    return np.asarray(centre + SQUARE @ np.stack([a, b]))


def _anywhere(rng: np.random.Generator, scene: Scene) -> Quad:
    height, width = scene.picture.shape[:2]
    side = np.exp(rng.uniform(np.log(_LEAST_SIDE), np.log(_MOST_SIDE))) / 2
    square = SQUARE * [side, side * 1.35] + rng.uniform([0, 0], [width, height])
    return _roughly(rng, np.asarray(square), 0.0, 0.7)


def _crop(scene: Scene, quad: Quad) -> Crop:
    """Cut out a quad and say what is in it; a decoy whose middle lies outside the picture shows its border only."""
    picture = cut(scene.picture, quad)
    corners, flags, weights = np.zeros((4, 2)), np.zeros(3), np.zeros(3)
    weights[0] = 1
    number, seen = _nearest(scene, quad)
    if number is not None:
        away, ratio = np.abs(seen.mean(axis=0)).max(), np.sqrt(cv2.contourArea(seen.astype(np.float32)) / 4)
        alike = 1 / _ALIKE < ratio < _ALIKE
        if away < _NEAR and alike and number in _asked(scene):
            turns = min(range(4), key=lambda k: float(np.abs(np.roll(seen, k, axis=0) - SQUARE).sum()))
            corners = np.roll(seen, turns, axis=0) - SQUARE
            flags[:] = 1, scene.faces[number], turns % 2
            weights[:] = 1
        elif away < _FAR and 0.3 < ratio < 3:
            weights[0] = 0
    return Crop(picture, *(np.asarray(x.ravel(), dtype=np.float32) for x in (corners, flags, weights)))


def _nearest(scene: Scene, quad: Quad) -> tuple[int | None, Points]:
    """Give the tile whose centre is nearest in the cut-out's own measure, and its corners in it."""
    if not len(scene.quads):
        return None, np.zeros((4, 2))
    inverse = np.linalg.inv(to_pixels(quad))
    seen = cv2.perspectiveTransform(scene.quads.astype(np.float64).reshape(1, -1, 2) - 0.5, inverse).reshape(-1, 4, 2)
    number = int(np.abs(seen.mean(axis=1)).max(axis=1).argmin())
    return number, seen[number]


def _asked(scene: Scene) -> NDArray[np.intp]:
    """Give the numbers of the tiles that have a size that is looked for, and enough of their middle to be seen."""
    sides = np.hypot(*(scene.quads[:, 1] - scene.quads[:, 0]).T)
    cells = np.bincount(scene.cores.ravel(), minlength=len(sides) + 1)[1:]
    return np.flatnonzero((sides > _LEAST_SIDE) & (sides < _MOST_SIDE) & (cells > 0))
