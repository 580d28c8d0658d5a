"""Whether the tiles of a picture carry labels, or print: a few tiles side by side, decoded in one go."""

from collections.abc import Sequence

import cv2
import numpy as np

from vision.geometry import UNIT_SQUARE, Picture, Quad
from vision.marks.label_hits import as_grey, decode_labels
from vision.marks.label_kinds import search_look

_TILES = 8
_TILE = (128, 168)  # pixels: three or more for a module
_SEARCHED = 3


def is_labelled(picture: Picture, quads: Sequence[Quad]) -> bool:
    """Tell whether one of some backs, here and there, decodes; 2 to 4 ms, and never True for printed numbers.

    `picture` is BGR or grey; `quads` are corners of tile backs, each of shape (4, 2), pixels. Where blur is heavy,
    False says little: ask `is_labelled_closely` if no printed number was read either.
    """
    chosen = _spread(quads, _TILES)
    if not chosen:
        return False
    sheet = np.hstack([as_grey(_tile(picture, quad)) for quad in chosen])
    return any(decode_labels(sheet, local=local) for local in (False, True))


def is_labelled_closely(picture: Picture, quads: Sequence[Quad]) -> bool:
    """Tell the same by looking at some backs for each kind of label there is; about 25 ms a back, three at most."""
    grey = as_grey(picture)
    return any(search_look(grey, quad) for quad in _spread(quads, _SEARCHED))


def _spread(quads: Sequence[Quad], most: int) -> list[Quad]:
    """Give up to `most` quads from here and there."""
    return [quads[round(at)] for at in np.linspace(0, len(quads) - 1, min(most, len(quads)))]


def _tile(picture: Picture, quad: Quad) -> Picture:
    target = (UNIT_SQUARE * _TILE - 0.5).astype(np.float32)
    chain = cv2.getPerspectiveTransform((quad - 0.5).astype(np.float32), target)
    return np.asarray(cv2.warpPerspective(picture, chain, _TILE, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)
