"""Light over a painted table: shadows, gradients, coloured lamps, glare that follows the tiles' tops."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Points
from vision.training.scene_canvas import Canvas

Field = NDArray[np.float32]  # shape (height, width)


def shadows(rng: np.random.Generator, size: tuple[int, int], outlines: list[tuple[Points, Points]]) -> Field:
    """Give what boxes, told by their feet and their tops' shadows, leave of the light on the ground."""
    shade = np.zeros((size[1], size[0]), np.uint8)
    for foot, cast in outlines:
        hull = cv2.convexHull(np.clip(np.vstack([foot, cast]), -4000, 4000).astype(np.float32))
        cv2.fillConvexPoly(shade, np.round(hull).astype(np.int32), 255)
    soft = int(rng.integers(1, 6)) * 2 + 1
    blurred = cv2.blur(cv2.blur(shade, (soft, soft)), (soft, soft))
    return np.asarray(1 - blurred * np.float32(rng.uniform(0.1, 0.9) / 255), dtype=np.float32)


def light_up(rng: np.random.Generator, canvas: Canvas, size: tuple[int, int]) -> Field:
    """Give the lit picture, shrunk to `size` = width, height: BGR float 0..255 and above."""
    field = _gradient(rng, size)
    cast = np.exp(rng.normal(0, rng.choice([0.05, 0.2]), 3)).astype(np.float32)
    exposure = np.float32(np.exp(rng.normal(-0.1, 0.35)))
    lit = cv2.resize(canvas.picture, size, interpolation=cv2.INTER_AREA) * (field[:, :, None] * (cast * exposure))
    if rng.random() < 0.45:
        lit = lit + _glare(rng, canvas, size)[:, :, None] * np.minimum(cast, 1.2)
    return np.asarray(lit, dtype=np.float32)


def _gradient(rng: np.random.Generator, size: tuple[int, int]) -> Field:
    small = 1 + rng.choice([0.05, 0.2, 0.4]) * rng.normal(0, 1, (3, 3))
    field = cv2.resize(np.clip(small, 0.35, 1.9).astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
    return np.asarray(np.clip(field, 0.2, 2.2), dtype=np.float32)


def _glare(rng: np.random.Generator, canvas: Canvas, size: tuple[int, int]) -> Field:
    """Mirror lamps: blobs, bars and windows, on tiles by their gloss (each a little otherwise), on the rest weakly."""
    width, height = size
    blob = np.zeros((height // 4, width // 4), np.float32)
    for _ in range(int(rng.integers(1, 4))):
        at = rng.uniform([0, 0], [width // 4, height // 4])
        long, short = np.exp(rng.uniform(np.log(3), np.log(40), 2))
        box = ((float(at[0]), float(at[1])), (float(long), float(short)), float(rng.uniform(0, 180)))
        cv2.fillConvexPoly(blob, np.round(cv2.boxPoints(box)).astype(np.int32), float(rng.uniform(60, 420)))
    soft = int(rng.integers(0, 7)) * 2 + 1
    lamps = cv2.resize(cv2.GaussianBlur(blob, (soft, soft), 0), (width, height))
    each = rng.integers(150, 256, 256).astype(np.uint8)[canvas.tiles]
    gloss = cv2.resize(cv2.multiply(each, canvas.gloss, scale=1 / 255), size, interpolation=cv2.INTER_AREA)
    return np.asarray(lamps * (gloss.astype(np.float32) / 255 + np.float32(rng.uniform(0, 0.15))), dtype=np.float32)
