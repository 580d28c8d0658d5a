"""Light a painted table, and photograph it.

Lighting: shadows, gradients, coloured lamps, and glare that follows the tiles' tops. Camera: blur, motion, noise,
clipping, sharpening and JPEG.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points
from vision.training.scene_paint import Canvas

Field = NDArray[np.float32]  # shape (height, width)


def shadows(rng: np.random.Generator, size: tuple[int, int], outlines: list[tuple[Points, Points]]) -> Field:
    """Return the light left on the ground by the shadows of boxes, given as pairs of foot and shadow of the top."""
    shade = np.zeros((size[1], size[0]), np.uint8)
    for foot, cast in outlines:
        hull = cv2.convexHull(np.clip(np.vstack([foot, cast]), -4000, 4000).astype(np.float32))
        cv2.fillConvexPoly(shade, np.round(hull).astype(np.int32), 255)
    soft = int(rng.integers(1, 6)) * 2 + 1
    blurred = cv2.blur(cv2.blur(shade, (soft, soft)), (soft, soft))
    return np.asarray(1 - blurred * np.float32(rng.uniform(0.1, 0.9) / 255), dtype=np.float32)


def light_up(rng: np.random.Generator, canvas: Canvas, size: tuple[int, int]) -> Field:
    """Return the lit picture, shrunk to `size` (width, height), as BGR floats, 0..255 and above."""
    field = _gradient(rng, size)
    cast = np.exp(rng.normal(0, rng.choice([0.05, 0.2]), 3)).astype(np.float32)
    exposure = np.float32(np.exp(rng.normal(-0.1, 0.35) if rng.random() < 0.85 else rng.uniform(0.3, 1.0)))
    lit = cv2.resize(canvas.picture, size, interpolation=cv2.INTER_AREA) * (field[:, :, None] * (cast * exposure))
    if rng.random() < 0.45:
        lit = lit + _glare(rng, canvas, size)[:, :, None] * np.minimum(cast, 1.2)
    return np.asarray(lit, dtype=np.float32)


def _gradient(rng: np.random.Generator, size: tuple[int, int]) -> Field:
    small = 1 + rng.choice([0.05, 0.2, 0.4]) * rng.normal(0, 1, (3, 3))
    field = cv2.resize(np.clip(small, 0.35, 1.9).astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
    return np.asarray(np.clip(field, 0.2, 2.2), dtype=np.float32)


def _glare(rng: np.random.Generator, canvas: Canvas, size: tuple[int, int]) -> Field:
    """Return reflections of lamps (blobs, bars, windows): on tiles according to their gloss, weaker elsewhere."""
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


def photograph(rng: np.random.Generator, lit: Field) -> Picture:
    """Return the photograph of a lit scene, BGR uint8, of the same size."""
    seen = _vignette(rng, _motion(rng, _defocus(rng, lit)))
    noise = rng.choice([0.5, 2.5, 7.0], p=[0.5, 0.35, 0.15]) * rng.random()
    noisy = seen + rng.standard_normal(seen.shape, dtype=np.float32) * np.float32(noise)
    coded = 255 * np.clip(noisy / 255, 0, 1) ** np.float32(rng.uniform(0.75, 1.35))
    if rng.random() < 0.3:
        coded = coded + np.float32(rng.uniform(0.2, 1.0)) * (coded - cv2.GaussianBlur(coded, (0, 0), 1.0))
    return _jpeg(rng, np.clip(coded, 0, 255).astype(np.uint8))


def _defocus(rng: np.random.Generator, lit: Field) -> Field:
    """Blur the picture, often more towards one end, as with a tilted camera."""
    sigma = float(rng.choice([0.3, rng.uniform(0.3, 1), rng.uniform(0.6, 3.5)], p=[0.35, 0.4, 0.25]))
    soft = cv2.GaussianBlur(lit, (0, 0), sigma)
    if sigma < 0.8 or rng.random() < 0.4:
        return np.asarray(soft, dtype=np.float32)
    ramp = np.linspace(rng.uniform(0, 1), rng.uniform(0, 1), lit.shape[0], dtype=np.float32)[:, None, None]
    return np.asarray(lit * (1 - ramp) + soft * ramp, dtype=np.float32)


def _motion(rng: np.random.Generator, lit: Field) -> Field:
    if rng.random() < 0.65:
        return lit
    length = int(rng.integers(2, 5))
    kernel = np.zeros((2 * length + 1, 2 * length + 1), np.float32)
    angle = rng.uniform(0, np.pi)
    half = length * np.array([np.cos(angle), np.sin(angle)]) / 2
    middle = np.array([length, length])
    cv2.line(kernel, np.round(middle - half).astype(int).tolist(), np.round(middle + half).astype(int).tolist(), 1.0)
    return np.asarray(cv2.filter2D(lit, -1, kernel / kernel.sum()), dtype=np.float32)


def _vignette(rng: np.random.Generator, seen: Field) -> Field:
    height, width = seen.shape[:2]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None] - np.float32(rng.uniform(-1, 1))
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :] - np.float32(rng.uniform(-1, 1))
    fall = 1 - np.float32(rng.uniform(0, 0.12)) * (down**2 + across**2)
    return np.asarray(seen * fall[:, :, None], dtype=np.float32)


def _jpeg(rng: np.random.Generator, seen: Picture) -> Picture:
    # Real pictures are compressed before they are shrunk, after which few artefacts remain.
    if rng.random() < 0.6:
        return seen
    _, packed = cv2.imencode(".jpg", seen, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(55, 96))])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
