"""Drawn trays and a carrier with printed numbers, since the pictures beside the tests all have labels.

Backs are drawn as for the training of our network, with other seeds, which favours ours. Pictures that others made say
more (--pictures).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.vision.scenes import Scene, Tile
from vision.geometry import Homography, Picture, Quad, project
from vision.training.backs import HEIGHT, WIDTH, NumberStyle, draw_style, paint_back, write_number
from vision.training.fonts import font_files

_TRAY: Final = (1920, 1080)
_CARRIER: Final = (2592, 1944)
_ROWS: Final = (13, 11, 10)
_FLAT: Final = (4 * HEIGHT, 14 * WIDTH)
_SEED: Final = 4_000_000  # far from all seeds used for training
_PITCH: Final = (1.04, 1.25)  # tiles
_DAMAGE: Final = {"easy": (0.5, 0.008), "medium": (1.0, 0.02), "hard": (1.6, 0.035)}  # blur in pixels, noise
_CONTRAST: Final = {"easy": 0.5, "medium": 0.35, "hard": 0.2}  # least contrast between ink and back
_TORN: Final = frozenset("01689")  # digits that are digits upside down

Flat = NDArray[np.float32]
Chance = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A tile in the plane: its serial, and the corners of its back and of its ink."""

    serial: int
    quad: Quad
    ink: Quad

    def moved(self, right: int, down: int) -> "Laid":
        """Return the tile at another place in the plane."""
        by = np.array([right, down])
        return Laid(self.serial, self.quad + by, self.ink + by)

    def turned(self, side: int) -> "Laid":
        """Return the tile turned with its plane, a square, as `numpy.rot90` does: a quarter turn to the left."""
        quad, ink = (np.column_stack([points[:, 1], side - points[:, 0]]) for points in (self.quad, self.ink))
        return Laid(self.serial, quad, ink)

    def seen(self, camera: Homography) -> Tile:
        """Return the tile as a camera sees it; a number that may be another one upside down need not be read."""
        readable = not _TORN.issuperset(f"{self.serial:03d}")
        return Tile(project(camera, self.quad), project(camera, self.ink), self.serial, is_back=True, readable=readable)


def draw_scenes() -> Iterator[Scene]:
    """Draw a tray of each style and difficulty, and a carrier; nothing if no font is installed."""
    if not font_files():
        return
    yield draw_tray("digits", "easy", _SEED)
    yield draw_tray("prefixed", "easy", _SEED + 1)
    yield draw_carrier("medium", _SEED + 2)
    for number, (difficulty, style) in enumerate((d, s) for d in ("medium", "hard") for s in ("digits", "prefixed")):
        yield draw_tray(style, difficulty, _SEED + 3 + number)


def draw_tray(style: str, difficulty: str, seed: int) -> Scene:
    """Draw a tray of 34 backs, 1080p, seen slightly from the side; it depends on seed and fonts alone."""
    chance = np.random.default_rng(seed)
    serials = [int(serial) for serial in chance.permutation(np.arange(1, 137))[: sum(_ROWS)]]
    flat, laid = _lay_tray(_marks(style, _CONTRAST[difficulty], chance), serials, chance)
    return _photograph((flat, laid), ("tray", style, difficulty), (_TRAY, (60, 240, 1860, 860)), chance)


def draw_carrier(difficulty: str, seed: int) -> Scene:
    """Draw a carrier with plain digits, 2592 x 1944: four trays in a square, each turned by 90 degrees."""
    chance = np.random.default_rng(seed)
    marks = _marks("digits", _CONTRAST[difficulty], chance)
    serials = [int(serial) for serial in chance.permutation(np.arange(1, 137))]
    high, wide = _FLAT
    side = wide + high
    flat = np.full((side, side, 3), 0.2, dtype=np.float32)
    laid: list[Laid] = []
    for seat in range(4):
        tray, tiles = _lay_tray(marks, serials[34 * seat : 34 * seat + 34], chance)
        flat = np.ascontiguousarray(np.rot90(flat))
        flat[side - high :, :wide] = tray
        laid = [*(tile.turned(side) for tile in laid), *(tile.moved(0, side - high) for tile in tiles)]
    return _photograph((flat, laid), ("carrier", "digits", difficulty), (_CARRIER, (370, 50, 2220, 1900)), chance)


def _marks(style: str, contrast: float, chance: Chance) -> NumberStyle:
    while True:
        marks = draw_style(chance)
        if bool(marks.letter) == (style == "prefixed") and float(np.abs(marks.ink - marks.back).max()) > contrast:
            return marks


def _lay_tray(marks: NumberStyle, serials: list[int], chance: Chance) -> tuple[Flat, list[Laid]]:
    flat = np.full((*_FLAT, 3), chance.uniform(0.1, 0.6, 3), dtype=np.float32)
    spots = [(row, col) for row, cols in enumerate(_ROWS) for col in range(cols)]
    laid = []
    for serial, (row, col) in zip(serials, spots, strict=True):
        written = write_number(marks, f"{serial:03d}", chance)
        left, top = int(WIDTH * (0.3 + _PITCH[0] * col)), int(HEIGHT * (0.2 + _PITCH[1] * row))
        flat[top : top + HEIGHT, left : left + WIDTH] = paint_back(marks, written.ink, chance)
        down, across = (np.nonzero(written.ink.max(axis=axis) > 0.5)[0] for axis in (1, 0))
        ink = _corners(float(across[0]), float(down[0]), float(across[-1] + 1), float(down[-1] + 1))
        laid.append(Laid(serial, _corners(0, 0, WIDTH, HEIGHT), ink).moved(left, top))
    return flat, laid


def _corners(left: float, top: float, right: float, bottom: float) -> Quad:
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def _photograph(
    plane: tuple[Flat, list[Laid]],
    names: tuple[str, str, str],
    frame: tuple[tuple[int, int], tuple[int, int, int, int]],
    chance: Chance,
) -> Scene:
    """Project a plane so that it fills about the box `frame[1]` of a picture of size `frame[0]`."""
    (flat, laid), (kind, style, difficulty), (size, box) = plane, names, frame
    seen = _corners(*box) + chance.normal(0, 25, (4, 2))
    corners = _corners(0, 0, flat.shape[1], flat.shape[0])
    camera = np.asarray(cv2.getPerspectiveTransform(corners.astype(np.float32), seen.astype(np.float32)), dtype=float)
    flat = np.asarray(cv2.GaussianBlur(flat, (0, 0), 0.4 * flat.shape[1] / (box[2] - box[0])), dtype=np.float32)
    taken = np.asarray(cv2.warpPerspective(flat, camera, size, flags=cv2.INTER_LINEAR), dtype=np.float32)
    picture = _expose(taken, difficulty, chance)
    tiles = tuple(tile.seen(camera) for tile in laid)
    return Scene(f"drawn {kind}, {style}, {difficulty}", picture, style, difficulty, kind, tiles)


def _expose(seen: Flat, difficulty: str, chance: Chance) -> Picture:
    blur, noise = _DAMAGE[difficulty]
    light = np.linspace(chance.uniform(0.6, 1), chance.uniform(0.6, 1), seen.shape[1], dtype=np.float32)
    soft = np.asarray(cv2.GaussianBlur(seen * light[None, :, None], (0, 0), blur), dtype=np.float32)
    noisy = soft + np.asarray(chance.normal(0, noise, soft.shape), dtype=np.float32)
    _, file = cv2.imencode(".jpg", np.clip(noisy * 255, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 85])
    return np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), dtype=np.uint8)
