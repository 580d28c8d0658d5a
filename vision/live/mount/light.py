"""How light and how noisy a picture is where the tiles lie."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.geometry import Picture, Quad
from vision.live.mount.pieces import pieces

# The difference of two Laplacians sees no edges and no slopes, only noise; its gain on noise is 6.
# J. Immerkaer, "Fast noise variance estimation", Computer Vision and Image Understanding 64 (1996).
_NOISE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)
_GAIN = 6.0
_MAD = 1.4826  # median of absolute deviations to standard deviation, of a normal distribution


@dataclass(frozen=True, slots=True)
class Light:
    """`level` is the tiles' usual grey, 0..255; `noise` the standard deviation of a pixel, in levels."""

    level: float
    noise: float


def measure_light(picture: Picture, quads: Sequence[Quad]) -> Light:
    """Measure on tiles, quads of shape (4, 2) in pixels, or on the whole picture where there is none."""
    greys = [_grey(piece) for _, piece in pieces(picture, quads)]
    greys = greys or [_grey(picture[::2, ::2])]
    level = float(np.median([np.median(grey) for grey in greys]))
    return Light(level, float(np.median([_noise(grey) for grey in greys])))


def _grey(piece: Picture) -> Picture:
    return np.asarray(cv2.cvtColor(piece, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _noise(grey: Picture) -> float:
    seen = np.abs(cv2.filter2D(grey.astype(np.float32), -1, _NOISE))
    return _MAD * float(np.median(seen)) / _GAIN
