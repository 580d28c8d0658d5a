"""Light that is thrown back: how much of the tiles is burnt out, and where in the picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.geometry import Picture, Quad
from vision.live.mount.pieces import pieces

_FULL = 250  # a pixel with all three channels at least this bright shows nothing any more


@dataclass(frozen=True, slots=True)
class Glare:
    """`share` of the tiles' area that is burnt out, `usual` share of the tile in the middle of the ranking.

    `at` is the middle of what is burnt out, as shares of the picture's width and height; None where nothing is.
    A lamp's reflection burns out a few tiles: `share` is high and `usual` is not. Too much light burns out all.
    """

    share: float
    usual: float
    at: tuple[float, float] | None


def measure_glare(picture: Picture, quads: Sequence[Quad]) -> Glare:
    """Measure on tiles, quads of shape (4, 2) in pixels; no glare where there is no tile."""
    burnt, area, middles = [], [], []
    for quad, piece in pieces(picture, quads):
        burnt.append(int((piece.min(axis=2) >= _FULL).sum()))
        area.append(piece.shape[0] * piece.shape[1])
        middles.append(quad.mean(axis=0) / [picture.shape[1], picture.shape[0]])
    if not any(burnt):
        return Glare(0.0, 0.0, None)
    right, down = np.average(middles, axis=0, weights=burnt)
    shares = np.array(burnt) / np.array(area)
    return Glare(sum(burnt) / sum(area), float(np.median(shares)), (float(right), float(down)))
