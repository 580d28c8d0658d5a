"""A pinhole camera over a table, in millimetres: x right, y towards the viewer, z up, origin where the camera looks."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Homography, Points

Spots = NDArray[np.float64]  # shape (n, 3), millimetres


@dataclass(frozen=True, slots=True, eq=False)
class Pinhole:
    """A camera that looks at the origin from `distance` millimetres; `turn` is the world's rotation as it sees it."""

    turn: NDArray[np.float64]  # shape (3, 3)
    distance: float
    focal: float  # pixels
    middle: Points  # shape (2,), pixels: where the origin is seen

    def see(self, spots: Spots) -> Points:
        """Project, to pixels, shape (n, 2)."""
        seen = spots @ self.turn.T
        return np.asarray(self.middle + self.focal * seen[:, :2] / (self.distance - seen[:, 2:]))

    def place(self) -> NDArray[np.float64]:
        """Give where the camera is, shape (3,)."""
        return np.asarray(self.turn.T @ [0.0, 0.0, self.distance])

    def plane(self, height: float) -> Homography:
        """Give the homography from millimetres in the plane z = `height` to pixels."""
        square = 100 * (UNIT_SQUARE - 0.5)
        seen = self.see(np.column_stack([square, np.full(4, height)]))
        return np.asarray(cv2.getPerspectiveTransform(square.astype(np.float32), seen.astype(np.float32)))


def random_pinhole(rng: np.random.Generator, pixels_per_mm: float, tile_width: float, middle: Points) -> Pinhole:
    """Draw a camera: 9 to 45 tile widths away, tilted up to 44 degrees, the table often nearly straight."""
    distance = tile_width * float(np.exp(rng.uniform(np.log(9), np.log(45))))
    tilt = np.radians(rng.choice([rng.uniform(0, 8), rng.uniform(0, 44), rng.uniform(15, 44)]))
    azimuth = rng.uniform(0, 2 * np.pi)
    straight = rng.integers(4) * np.pi / 2 + rng.normal(0, 0.08)
    roll = (straight if rng.random() < 0.6 else rng.uniform(0, 2 * np.pi)) - azimuth
    turn = _about_z(roll) @ _about_x(float(tilt)) @ _about_z(azimuth)
    return Pinhole(turn, distance, pixels_per_mm * distance, middle)


def _about_z(angle: float) -> NDArray[np.float64]:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def _about_x(angle: float) -> NDArray[np.float64]:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
