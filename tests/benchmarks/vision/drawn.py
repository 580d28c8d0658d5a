"""Trays of printed numbers, drawn: what the four pictures kept beside the tests, all with labels, do not show."""

from collections.abc import Iterator
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.vision.scenes import Scene, Tile
from vision.geometry import Picture, project
from vision.training.backs import HEIGHT, LETTERS, WIDTH, Style, draw_style, paint, write
from vision.training.fonts import font_files

SIZE: Final = (1920, 1080)
_ROWS: Final = (13, 11, 10)
_SEED: Final = 4_000_000  # far from those that anything is trained with
_PITCH: Final = (1.04, 1.25)  # tiles
_DAMAGE: Final = {"easy": (0.5, 0.008), "medium": (1.0, 0.02), "hard": (1.6, 0.035)}  # blur in pixels, noise
_CONTRAST: Final = {"easy": 0.5, "medium": 0.35, "hard": 0.2}  # least, between ink and back

Flat = NDArray[np.float32]


def draw_scenes() -> Iterator[Scene]:
    """Draw a tray of each style and difficulty; none where no font is installed."""
    for number, (style, difficulty) in enumerate((s, d) for d in _DAMAGE for s in ("digits", "prefixed")):
        if font_files():
            yield draw_tray(style, difficulty, _SEED + number)


def draw_tray(style: str, difficulty: str, seed: int) -> Scene:
    """Draw a tray of 34 backs, seen from a little aside; the same seed and fonts give the same picture."""
    chance = np.random.default_rng(seed)
    marks = _marks(style, _CONTRAST[difficulty], chance)
    serials = chance.permutation(np.arange(1, 137))[: sum(_ROWS)]
    flat = np.full((4 * HEIGHT, 14 * WIDTH, 3), chance.uniform(0.1, 0.6, 3), dtype=np.float32)
    laid = [
        _lay(flat, row, col, marks, f"{serial:03d}", chance)
        for serial, (row, col) in zip(
            serials, ((row, col) for row, cols in enumerate(_ROWS) for col in range(cols)), strict=True
        )
    ]
    camera = _camera(flat.shape, chance)
    seen = np.asarray(cv2.warpPerspective(flat, camera, SIZE, flags=cv2.INTER_AREA), dtype=np.float32)
    tiles = tuple(
        Tile(
            project(camera, quad), project(camera, mark), int(serial), is_back=True, readable=not _is_torn(int(serial))
        )
        for serial, (quad, mark) in zip(serials, laid, strict=True)
    )
    return Scene(f"drawn {style} {difficulty}", _expose(seen, difficulty, chance), style, difficulty, "tray", tiles)


def _is_torn(serial: int) -> bool:
    """Tell whether a number may be another one upside down: then it does not count as readable."""
    return set(f"{serial:03d}") <= set("01689")


def _marks(style: str, contrast: float, chance: np.random.Generator) -> Style:
    while True:
        marks = draw_style(chance)
        told = bool(marks.letter and marks.letter in LETTERS) == (style == "prefixed")
        if told and float(np.abs(marks.ink - marks.back).max()) > contrast:
            return marks


def _lay(
    flat: Flat, row: int, col: int, marks: Style, number: str, chance: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lay a tile at its place; gives the corners of its back and of its ink."""
    written = write(marks, number, chance)
    left, top = int(WIDTH * (0.3 + _PITCH[0] * col)), int(HEIGHT * (0.2 + _PITCH[1] * row))
    flat[top : top + HEIGHT, left : left + WIDTH] = paint(marks, written.ink, chance)
    down, across = (np.nonzero(written.ink.max(axis=axis) > 0.5)[0] for axis in (1, 0))
    ink = (across[0], down[0], across[-1] + 1, down[-1] + 1)
    at = np.array([left, top])
    return at + _corners(0, 0, WIDTH, HEIGHT), at + _corners(*(float(part) for part in ink))


def _corners(left: float, top: float, right: float, bottom: float) -> NDArray[np.float64]:
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def _camera(shape: tuple[int, ...], chance: np.random.Generator) -> NDArray[np.float64]:
    flat = _corners(0, 0, shape[1], shape[0])
    seen = _corners(60, 240, SIZE[0] - 60, 860) + chance.normal(0, 25, (4, 2))
    camera = cv2.getPerspectiveTransform(flat.astype(np.float32), seen.astype(np.float32))
    return np.asarray(camera, dtype=np.float64)


def _expose(seen: Flat, difficulty: str, chance: np.random.Generator) -> Picture:
    blur, noise = _DAMAGE[difficulty]
    light = np.linspace(chance.uniform(0.6, 1), chance.uniform(0.6, 1), SIZE[0], dtype=np.float32)
    soft = np.asarray(cv2.GaussianBlur(seen * light[None, :, None], (0, 0), blur), dtype=np.float32)
    noisy = soft + np.asarray(chance.normal(0, noise, soft.shape), dtype=np.float32)
    _, file = cv2.imencode(".jpg", np.clip(noisy * 255, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 85])
    return np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), dtype=np.uint8)
