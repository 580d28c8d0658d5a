"""A drawn tray as a camera of known pose sees it; lengths in millimetres, angles in degrees."""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from vision.geometry import Homography, Picture, Quad, project, rectangle
from vision.reading import tray_places

TILE = (22.0, 30.0)
FINE = 0.7  # side of a mark's cells
_TEXELS = 8.0  # of the drawing, per millimetre
_TABLE = (400.0, 240.0)
_SIDE = 14  # cells per side of a mark


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A camera's pose over a tray, its lens, and the light."""

    tilt: float = 0.0
    towards: float = 90.0  # the direction of the tilt
    roll: float = 0.0
    distance: float = 400.0
    view: float = 55.0
    size: tuple[int, int] = (1920, 1080)
    blur: float = 0.0  # pixels, standard deviation
    light: float = 1.0
    noise: float = 0.0

    @property
    def focal(self) -> float:
        """The focal length in pixels."""
        return float(self.size[0] / 2 / np.tan(np.radians(self.view) / 2))

    @property
    def camera(self) -> Homography:
        """Map the table's millimetres, origin in the middle, to pixels; the axis meets the table in the middle."""
        lens = np.array([[self.focal, 0, self.size[0] / 2], [0, self.focal, self.size[1] / 2], [0, 0, 1]])
        lean, along, spin = np.radians([self.tilt, self.towards, self.roll])
        axis = np.array([np.cos(along), np.sin(along), 0.0]) * lean
        pose = cv2.Rodrigues(axis)[0] @ cv2.Rodrigues(np.array([0.0, 0.0, spin]))[0]
        away = np.column_stack([pose[:, :2], [0.0, 0.0, self.distance]])
        return np.asarray(lens @ away, dtype=np.float64)


def tiles() -> list[Quad]:
    """Return the backs of a full tray on the table, in millimetres from its middle."""
    first = np.array([-6 * 1.05 * TILE[0], -1.15 * TILE[1]])
    pitch = np.array([1.05 * TILE[0], 1.15 * TILE[1]])
    return [rectangle(first + pitch * [col, row], *TILE) for row, col in tray_places()]


def quads(shot: Shot) -> list[Quad]:
    """Return the backs in pixels."""
    return [project(shot.camera, quad) for quad in tiles()]


def draw(shot: Shot, glare: tuple[int, ...] = ()) -> Picture:
    """Draw the tray; the tiles of `glare` are completely overexposed."""
    texels = np.array([[1 / _TEXELS, 0, -_TABLE[0] / 2], [0, 1 / _TEXELS, -_TABLE[1] / 2], [0, 0, 1]])
    picture = cv2.warpPerspective(_table(glare), shot.camera @ texels, shot.size, flags=cv2.INTER_AREA)
    if shot.blur:
        picture = cv2.GaussianBlur(picture, (0, 0), shot.blur)
    if (shot.light, shot.noise) != (1.0, 0.0):
        grain = np.random.default_rng(8).normal(0, shot.noise, (*picture.shape[:2], 1))
        picture = np.clip(picture * shot.light + grain, 0, 255)
    return np.asarray(picture, dtype=np.uint8)


@cache
def _table(glare: tuple[int, ...]) -> Picture:
    """Draw the tray from above."""
    table = np.full((round(_TABLE[1] * _TEXELS), round(_TABLE[0] * _TEXELS), 3), (60, 70, 40), dtype=np.uint8)
    chance = np.random.default_rng(7)
    for index, quad in enumerate(tiles()):
        _draw_tile(table, quad, chance, burnt=index in glare)
    return table


def _draw_tile(table: Picture, quad: Quad, chance: np.random.Generator, *, burnt: bool) -> None:
    left, top, right, bottom = _box(quad)
    table[top:bottom, left:right] = 255 if burnt else (140, 110, 60)
    if not burnt:
        middle = quad.mean(axis=0)
        for row, col in np.ndindex(_SIDE, _SIDE):
            cell = rectangle(middle + FINE * (np.array([col, row]) - (_SIDE - 1) / 2), FINE, FINE)
            left, top, right, bottom = _box(cell)
            table[top:bottom, left:right] = 40 if chance.random() < 0.5 else 220


def _box(quad: Quad) -> tuple[int, int, int, int]:
    corners = np.round((np.concatenate([quad[0], quad[2]]) + [*np.array(_TABLE) / 2] * 2) * _TEXELS).astype(int)
    left, top, right, bottom = corners.tolist()
    return left, top, right, bottom
