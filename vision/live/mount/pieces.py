"""The tiles of a picture, piece by piece: upright pieces inside their outlines, in the picture's own pixels."""

from collections.abc import Iterator, Sequence

import numpy as np

from vision.geometry import Picture, Quad

_MOST = 48  # tiles that are measured: more tell no more, and cost
_INSIDE = 0.8  # of an outline's size: beyond it the edge is rounded, and a neighbour's shadow begins
_LEAST = 8  # pixels a side


def pieces(picture: Picture, quads: Sequence[Quad]) -> Iterator[tuple[Quad, Picture]]:
    """Give up to 48 tiles, evenly over the picture: quad and piece; what lies outside of the picture is left out."""
    height, width = picture.shape[:2]
    for quad in quads[:: max(1, -(-len(quads) // _MOST))]:
        inner = quad.mean(axis=0) + _INSIDE * (quad - quad.mean(axis=0))
        left, top = np.floor(np.clip(inner.min(axis=0), 0, None)).astype(int)
        right, bottom = np.ceil(np.minimum(inner.max(axis=0), [width, height])).astype(int)
        if right - left >= _LEAST and bottom - top >= _LEAST:
            yield quad, picture[top:bottom, left:right]
