"""The network for printed numbers: crops in, probabilities out. How it was made: vision/training, vision/models."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points
from vision.marks.cut import CROP, MARGIN
from vision.marks.signs import KINDS, SEEN
from vision.networks import run

_AT_ONCE = 34  # crops the network sees together: more cost memory and save no time
_SOFT = 2.0  # levels: a crop without any contrast is not blown up
_MOST = 5.0
_INNER = (slice(16, 96), slice(12, 68))  # rows and columns of a crop where marks are
_CELL = 8  # pixels of a crop for each cell of a look
_COLS, _ROWS = CROP[0] // _CELL, CROP[1] // _CELL
_CELLS = np.array([[col * _CELL + _CELL / 2, row * _CELL + _CELL / 2] for row in range(_ROWS) for col in range(_COLS)])
_PARTS = (KINDS, 2, 27, SEEN, SEEN, SEEN)  # kind, way up, letter, three digits

Shares = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What the network says of one back, in probabilities."""

    kind: Shares  # shape (5,): number, label, blank back, face, nothing
    ways: Shares  # shape (2,): that it stands as the crop does, that it stands upside down
    letter: Shares  # shape (27,): A to Z, none
    signs: Shares  # shape (3, 16): each sign as it is seen (vision.marks.signs), from the crop's left to its right
    places: Points  # shape (3, 2): where each sign was looked for, pixels of the crop
    spot: Points  # shape (2,): the digits' middle, in shares of the tile from its centre, as the crop stands


def prepare(crops: Picture) -> NDArray[np.float32]:
    """Give crops, shape (n, 112, 80, 3), as the network takes them: without the back's own colour, contrast made alike.

    Colour and contrast are those of the tile's middle: what lies about it may be far brighter than pale ink.
    """
    alike = np.empty((len(crops), 3, *crops.shape[1:3]), dtype=np.float32)
    for number, crop in enumerate(crops):
        middle, spread = cv2.meanStdDev(np.ascontiguousarray(crop[_INNER]))
        np.subtract(crop.transpose(2, 0, 1), middle[:, :, None], out=alike[number], casting="same_kind")
        alike[number] /= np.float32(spread.mean() + _SOFT)
    return np.clip(alike, -_MOST, _MOST, out=alike)


def look_at(crops: Picture) -> list[Look]:
    """Look at crops, shape (n, 112, 80, 3), uint8."""
    looks: list[Look] = []
    for start in range(0, len(crops), _AT_ONCE):
        scores, where = run("digits", prepare(crops[start : start + _AT_ONCE]))
        looks += [_look(*pair) for pair in zip(scores, where, strict=True)]
    return looks


def _look(scores: Shares, where: Shares) -> Look:
    kind, ways, letter, *signs = (_shares(part) for part in np.split(scores, np.cumsum(_PARTS)[:-1]))
    places = np.asarray(where[1:] @ _CELLS, dtype=np.float64)
    spot = places.mean(axis=0) / CROP * (1 + 2 * MARGIN) - MARGIN - 0.5
    return Look(kind, ways, letter, np.array(signs), places, np.asarray(spot, dtype=np.float64))


def _shares(scores: Shares) -> Shares:
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum(), dtype=np.float32)
