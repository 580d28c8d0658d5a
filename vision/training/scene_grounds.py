"""What tables and tray floors are made of: grain, fibre and plain plastic, made of noise."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Homography
from vision.training.scene_colours import Colour

Grain = NDArray[np.float32]  # shape (512, 512), about -1..1

_SIDE = 512


def grain_bank(rng: np.random.Generator, count: int = 24) -> list[Grain]:
    """Make textures once, for all pictures."""
    makers = (_wood, _felt, _plain, _pattern)
    return [makers[int(rng.choice(4, p=[0.35, 0.3, 0.25, 0.1]))](rng) for _ in range(count)]


def lay(grain: Grain, colour: Colour, contrast: float, plane: Homography, size: tuple[int, int]) -> NDArray[np.float32]:
    """Spread a texture over the plane as the camera sees it: BGR, shape (height, width, 3)."""
    seen = cv2.warpPerspective(grain, plane, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(np.float32(colour) * (1 + contrast * seen[:, :, None]), dtype=np.float32)


def _noise(rng: np.random.Generator, rows: int, columns: int) -> Grain:
    small = rng.normal(0, 1, (rows, columns)).astype(np.float32)
    return np.asarray(cv2.resize(small, (_SIDE, _SIDE), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _wood(rng: np.random.Generator) -> Grain:
    coarse = _noise(rng, int(rng.integers(8, 30)), 4)
    rings = np.sin(coarse * rng.uniform(2, 9)) + 0.5 * _noise(rng, 128, 6) + 0.3 * _noise(rng, _SIDE, 24)
    planks = np.repeat(rng.normal(0, 0.4, 8), _SIDE // 8)[:, None] if rng.random() < 0.3 else 0.0
    return np.asarray(0.5 * (rings + planks), dtype=np.float32)


def _felt(rng: np.random.Generator) -> Grain:
    clouds = _noise(rng, 12, 12) * rng.uniform(0, 0.6) + _noise(rng, 64, 64) * rng.uniform(0, 0.6)
    return np.asarray(clouds + 0.5 * _noise(rng, _SIDE, _SIDE), dtype=np.float32)


def _plain(rng: np.random.Generator) -> Grain:
    return np.asarray(0.1 * _noise(rng, 4, 4) + 0.03 * _noise(rng, 256, 256), dtype=np.float32)


def _pattern(rng: np.random.Generator) -> Grain:
    """Checks, stripes or plaid: a printed cloth."""
    down, across = np.mgrid[0:_SIDE, 0:_SIDE].astype(np.float32)
    a, b = rng.uniform(0.02, 0.25, 2)
    waves = np.sign(np.sin(a * down)) * rng.uniform(0, 1) + np.sign(np.sin(b * across)) * rng.uniform(0, 1)
    return np.asarray(waves, dtype=np.float32)
