"""Drawn pictures without tiles, of other things that a camera may show."""

from collections.abc import Callable
from typing import Final

import cv2
import numpy as np

from vision.geometry import Picture

WIDTH: Final = 640
HEIGHT: Final = 360


def _flat(level: int) -> Picture:
    return np.full((HEIGHT, WIDTH, 3), level, dtype=np.uint8)


def black() -> Picture:
    return _flat(0)


def white() -> Picture:
    return _flat(255)


def noise() -> Picture:
    return np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


def gradient() -> Picture:
    ramp = np.linspace(0, 255, WIDTH, dtype=np.uint8)
    return np.ascontiguousarray(np.broadcast_to(ramp[None, :, None], (HEIGHT, WIDTH, 3)))


def page_of_text() -> Picture:
    page = _flat(245)
    for line in range(9):
        words = f"Round {line + 1}: tables 117, 024 and 103 play deal {3 * line:03d}, C{100 + line}"
        cv2.putText(page, words, (10, 40 + 36 * line), cv2.FONT_HERSHEY_DUPLEX, 0.6, (20, 20, 20), 1, cv2.LINE_AA)
    return page


def chequers() -> Picture:
    cells = np.indices((HEIGHT // 60, WIDTH // 80)).sum(axis=0) % 2
    return _as_colour(cv2.resize((255 * cells).astype(np.uint8), (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST))


def dots() -> Picture:
    page = _flat(60)
    for x in range(32, WIDTH, 64):
        for y in range(32, HEIGHT, 64):
            cv2.circle(page, (x, y), 20, (40, 180, 220), -1, cv2.LINE_AA)
    return page


def modules() -> Picture:
    """Random black and white squares: they look like a code, but are none."""
    cells = np.random.default_rng(2).integers(0, 2, (HEIGHT // 8, WIDTH // 8), dtype=np.uint8)
    return _as_colour(cv2.resize(255 * cells, (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST))


def bricks() -> Picture:
    wall = _flat(150)
    for row in range(0, HEIGHT, 60):
        for left in range(-60 * (row // 60 % 2), WIDTH, 120):
            cv2.rectangle(wall, (left + 4, row + 4), (left + 115, row + 55), (50, 70, 160), -1)
    return wall


def _as_colour(grey: cv2.typing.MatLike) -> Picture:
    return np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), dtype=np.uint8)


SCENES: Final[tuple[Callable[[], Picture], ...]] = (
    black, white, noise, gradient, chequers, dots, modules, bricks,
)  # fmt: skip
