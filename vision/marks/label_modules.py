"""What a label says, by likelihood: each word that a label can say is compared with what its modules look like.

Blur is part of the comparison (a word is blurred as the picture is); glare is kept out of it (both lose what changes
slowly).
"""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.marks.label_patch import QUIET, Grid
from vision.marks.label_words import words
from vision.payload import Payload

_NEAREST = 24  # words that are compared closely
_BLURS = (0.0, 0.08, 0.16, 0.22)  # share of a module's light that each of its neighbours on a side gets
_SHARPER = 1.0  # how much of the neighbours is taken away before the first comparison


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """The likeliest word, its correlation with the picture (-1..1), and that of the likeliest other payload."""

    payload: Payload
    white: Grid  # shape (count + 2, count + 2), with the quiet zone
    likeness: float
    next_likeness: float


def guess_word(values: Grid) -> Guess:
    """Give the likeliest word for modules with their quiet zone, shape (count + 2, count + 2)."""
    count = len(values) - 2 * QUIET
    known = words(count)
    sharp = values + _SHARPER * (values - cv2.blur(values, (3, 3), borderType=cv2.BORDER_REPLICATE))
    scores = known.match(_level(sharp)[QUIET + 1 : -QUIET - 1, QUIET + 1 : -QUIET - 1].ravel())
    nearest = np.argpartition(scores, -_NEAREST)[-_NEAREST:]
    drawn = np.pad(known.modules[nearest].astype(np.float32), ((0, 0), (QUIET,) * 2, (QUIET,) * 2), constant_values=1)
    likeness = _compare(values, drawn)
    order = np.argsort(-likeness)
    first = known.payload(int(nearest[order[0]]))
    others = [float(likeness[at]) for at in order[1:] if known.payload(int(nearest[at])) != first]
    return Guess(first, drawn[order[0]], float(likeness[order[0]]), others[0])


def _compare(values: Grid, drawn: Grid) -> NDArray[np.float64]:
    """Correlate with each word, shape (words, side, side), at the blur that suits it best."""
    seen = _unit(values.reshape(1, -1) @ _view(len(values), 0.0))
    words_drawn = drawn.reshape(len(drawn), -1)
    blurred = [_unit(words_drawn @ _view(len(values), share)) @ seen[0] for share in _BLURS]
    return np.asarray(np.max(blurred, axis=0), dtype=np.float64)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    centred = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(centred / (np.linalg.norm(centred, axis=1, keepdims=True) + 1e-9))


@cache
def _view(side: int, share: float) -> NDArray[np.float32]:
    """Give the matrix from modules with their quiet zone to what is compared: blurred, levelled, the inside only."""
    inside = slice(QUIET + 1, -QUIET - 1)
    each = np.eye(side * side, dtype=np.float32).reshape(-1, side, side)
    return np.stack([_level(_spread(one, share))[inside, inside].ravel() for one in each])


def _level(values: Grid) -> Grid:
    """Take slow changes away: glare, shadow, vignetting."""
    return np.asarray(values - cv2.blur(values, (5, 5), borderType=cv2.BORDER_REFLECT_101), dtype=np.float32)


def _spread(values: Grid, share: float) -> Grid:
    """Let each module give `share` of its light to each neighbour on a side."""
    kernel = np.array([share, 1 - 2 * share, share], dtype=np.float32)
    return np.asarray(cv2.sepFilter2D(values, cv2.CV_32F, kernel, kernel, borderType=cv2.BORDER_REPLICATE))
