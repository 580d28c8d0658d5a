"""A tile's back cut out of the picture, flat and of one size, for the network that looks at it."""

from collections.abc import Sequence

import cv2
import numpy as np

from vision.geometry import Homography, Picture, Quad

CROP = (80, 112)  # width and height, pixels
MARGIN = 0.06  # of the tile about it: outlines are a little off
_FULL = 1 + 2 * MARGIN
_FRAME = (
    np.array([[MARGIN, MARGIN], [1 + MARGIN, MARGIN], [1 + MARGIN, 1 + MARGIN], [MARGIN, 1 + MARGIN]]) / _FULL * CROP
)
_TO_MIDDLES = np.array(
    [[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]]
)  # OpenCV counts from a pixel's middle, this room from its corner
_SHRUNK_FROM = 150.0  # pixels of width from which a tile is halved first: a crop takes one pixel of several


def cut_backs(picture: Picture, quads: Sequence[Quad]) -> Picture:
    """Cut tiles out of a BGR picture by their quads, each shape (4, 2); gives shape (n, 112, 80, 3)."""
    smaller = {0: picture}
    crops = np.empty((len(quads), CROP[1], CROP[0], 3), dtype=np.uint8)
    for crop, quad in zip(crops, quads, strict=True):
        level = _level(quad)
        crop[:] = cut_back(_shrunk(smaller, level), quad / 2**level)[0]
    return crops


def _level(quad: Quad) -> int:
    width = float(np.linalg.norm(quad[1] - quad[0]))
    return max(0, int(np.log2(max(width, 1.0) / _SHRUNK_FROM)) + 1) if width >= _SHRUNK_FROM else 0


def _shrunk(smaller: dict[int, Picture], level: int) -> Picture:
    """Give the picture halved `level` times; what is made is kept in `smaller`."""
    if level not in smaller:
        larger = _shrunk(smaller, level - 1)
        half = (max(1, larger.shape[1] // 2), max(1, larger.shape[0] // 2))
        smaller[level] = np.asarray(cv2.resize(larger, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return smaller[level]


def cut_back(picture: Picture, quad: Quad) -> tuple[Picture, Homography]:
    """Cut one tile out, shape (112, 80, 3); also the way from the picture to the crop."""
    there = cv2.getPerspectiveTransform(quad.astype(np.float32), _FRAME.astype(np.float32))
    opencv = _TO_MIDDLES @ there @ np.linalg.inv(_TO_MIDDLES)
    crop = cv2.warpPerspective(picture, opencv, CROP, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(crop, dtype=np.uint8), np.asarray(there, dtype=np.float64)
