"""Whether there is a tile about a number: one that stands in a text, or on a wide sheet, is no serial.

A back ends at all four sides in an edge, a gap or a shadow. One of them may drown in light, blur or a hand; print on
paper mostly has none, or only where letters stand beside it.
"""

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture

_ROWS, _COLS = slice(28, 84), slice(20, 60)  # of a crop: what is averaged along a side
_DEEP = (12, 16)  # pixels from the crop's border in which its side, and its end, lie
_ACROSS = 4  # pixels over which an edge rises
_LEAST = 5.0  # levels that an edge rises at least: noise, averaged so, stays below
_OF_INK = 0.05  # of the ink's contrast that it rises at least: dark ink on paper is crisp, and so is noise beside it
_CLEAR = 25.0  # levels from which nothing more is asked
_MARK = (slice(30, 82), slice(12, 68))  # rows and columns of a crop where the number is
_INKED = 97.0  # percentile: about as much of that is not ink


def has_edges(crops: Picture) -> NDArray[np.bool_]:
    """Tell of each crop, shape (n, 112, 80, 3), as `cut_backs` gives it, whether a tile's edges show at three sides."""
    third = np.sort(_rises(crops), axis=1)[:, 1]
    there = third >= _CLEAR
    for number in np.flatnonzero(~there):
        there[number] = third[number] >= max(_LEAST, _OF_INK * _ink(crops[number]))
    return there


def _rises(crops: Picture) -> NDArray[np.float64]:
    """Give the steepest rise or fall at each of the four sides, shape (n, 4), levels of the clearest colour."""
    across, down = crops[:, _ROWS].mean(axis=1), crops[:, :, _COLS].mean(axis=2)
    sides = (across[:, : _DEEP[0]], across[:, : -_DEEP[0] - 1 : -1], down[:, : _DEEP[1]], down[:, : -_DEEP[1] - 1 : -1])
    rises = [np.abs(side[:, _ACROSS:] - side[:, :-_ACROSS]).max(axis=(1, 2)) for side in sides]
    return np.stack(rises, axis=1)


def _ink(crop: Picture) -> float:
    """Give how far ink is from the back's own colour, levels of the clearest colour."""
    mark = crop[_MARK].reshape(-1, 3).astype(np.float64)
    return float(np.percentile(np.abs(mark - np.median(mark, axis=0)).max(axis=1), _INKED))
