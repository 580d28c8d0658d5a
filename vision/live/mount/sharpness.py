"""How sharp a picture is where the tiles lie: the width of its edges in pixels."""

from collections.abc import Sequence

import cv2
import numpy as np

from vision.geometry import Picture, Quad
from vision.live.mount.pieces import pieces

_STRONG = 0.7  # of the strongest contrast: edges of a mark against its ground, not the grain of the back
_STEEP = 0.02  # share of a tile's pixels that are looked at: the steepest
_FEWEST = 8
_MOST_TILES = 75.0  # percent: a tilted camera is sharp on one row and soft on another
_LEAST_CONTRAST = 25.0  # levels


def edge_width(picture: Picture, quads: Sequence[Quad], reach: int) -> float | None:
    """Give the width, in pixels, that three quarters of the tiles' sharpest edges keep to; None without any edge.

    The width of an edge is its height in levels over its greatest slope, levels a pixel: for an edge blurred by a
    Gaussian of deviation s it is s times the square root of 2 pi, nearly its 10-90 % rise (2.56 s). `reach` is how
    far, in pixels, both sides of an edge are looked for: a little more than the finest line of a mark.
    """
    widths = [width for _, piece in pieces(picture, quads) if (width := _edge_width(piece, reach)) is not None]
    return float(np.percentile(widths, _MOST_TILES)) if widths else None


def _edge_width(piece: Picture, reach: int) -> float | None:
    grey = cv2.cvtColor(piece, cv2.COLOR_BGR2GRAY)
    window = np.ones((2 * reach + 1, 2 * reach + 1), dtype=np.uint8)
    contrast = cv2.subtract(cv2.dilate(grey, window), cv2.erode(grey, window)).astype(np.float32)
    down, right = np.gradient(grey.astype(np.float32))
    slope = np.hypot(down, right)
    strong = contrast >= max(_LEAST_CONTRAST, _STRONG * float(contrast.max()))
    steepest = np.sort(slope[strong])[::-1][: max(_FEWEST, round(_STEEP * slope.size))]
    if len(steepest) < _FEWEST:
        return None
    return float(np.median(contrast[strong])) / float(np.median(steepest))
