"""The second reader of printed numbers, which reads a line of any number of signs.

The first reader (`digits.py`) looks for exactly three digits, and finds three even in `10` or `1022`. The second reader
assumes no number of signs: its network classifies each of 26 columns from left to right. The likelihood that the line
shows exactly the digits of the first reader is summed over all alignments (connectionist temporal classification,
Graves et al. 2006). A number counts only if both readers read it.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import FROM_MIDDLES, TO_MIDDLES, Homography, Picture, Points
from vision.networks import normalise_contrast, run_network

CLASSES = 13
LETTER, HALF_SEEN, NOTHING_HERE = 10, 11, 12  # 0 to 9 are the digits; half seen: a sign that cannot be identified
SIZE = (104, 56)  # pixels, width and height, of a line
_SCALE = 1.3  # enlargement of a crop's pixels; a line shows the whole width of the tile
_CROP_WIDTH = 80
_INNER = (slice(4, 52), slice(14, 90))  # rows and columns of a line where signs are
_AT_ONCE = 34  # lines per run of the network
_NEVER = -1e9  # log-likelihood
_LIKELIHOODS, _CONFIDENCES = (0.0, 0.3, 0.7, 1.0), (0.0, 0.3, 0.95, 1.0)
"""A joint likelihood of 0.7 gives the confidence of 0.95 that a serial needs; docs/vision-measured.md gives reasons."""
_POWER = np.log(0.95) / np.log(0.7)  # the same for the second reader alone, if the first one is surer than that

Logs = NDArray[np.float32]


def cut_line(crop: Picture, middle: Points, *, turned: bool) -> tuple[Picture, Homography]:
    """Cut the line around `middle`, shape (2,), out of a crop, shape (112, 80, 3); also return the map to the line.

    A line always spans the whole width of the tile, because its purpose is to show any signs beside the three digits.
    """
    sign = -1.0 if turned else 1.0
    matrix = np.array(
        [
            [sign * _SCALE, 0.0, SIZE[0] / 2 - sign * _SCALE * _CROP_WIDTH / 2],
            [0.0, sign * _SCALE, SIZE[1] / 2 - sign * _SCALE * float(middle[1])],
            [0.0, 0.0, 1.0],
        ]
    )
    opencv = (TO_MIDDLES @ matrix @ FROM_MIDDLES)[:2]
    line = cv2.warpAffine(crop, opencv, SIZE, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(line, dtype=np.uint8), matrix


def prepare_lines(lines: Picture) -> NDArray[np.float32]:
    """Return lines, shape (n, 56, 104, 3), as input for the network, with equal colour and contrast.

    Both are measured inside the line, as things beside the tile may be far brighter than pale ink.
    """
    return normalise_contrast(lines, _INNER)


def classify_columns(lines: Picture) -> Logs:
    """Classify each column of lines, shape (n, 56, 104, 3); return log-likelihoods, shape (n, 26, 13)."""
    outputs = [
        run_network("lines", prepare_lines(lines[start : start + _AT_ONCE]))[0]
        for start in range(0, len(lines), _AT_ONCE)
    ]
    if not outputs:
        return np.empty((0, 26, CLASSES), dtype=np.float32)
    scores = np.concatenate(outputs)
    scores = scores - scores.max(axis=2, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=2, keepdims=True)), dtype=np.float32)


def likelihoods_of_digits(logs: Logs, digits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how likely each line, logs of shape (n, columns, 13), shows exactly its digits, shape (n, 3).

    Only a set's letter may precede the digits.
    """
    lettered = np.column_stack([np.full(len(digits), LETTER), digits])
    shares = np.exp(log_likelihoods(logs, digits)) + np.exp(log_likelihoods(logs, lettered))
    return np.asarray(np.minimum(1.0, shares), dtype=np.float64)


def log_likelihoods(logs: Logs, signs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log-likelihood that each line shows exactly its signs, shape (n, k), in this order and no others.

    This sums over all alignments: each sign fills one column or several, with or without empty columns between signs.
    """
    number, count = signs.shape
    states = np.full((number, 2 * count + 1), NOTHING_HERE)
    states[:, 1::2] = signs
    skips = np.full(states.shape, _NEVER)
    skips[:, 2:][(states[:, 2:] != NOTHING_HERE) & (states[:, 2:] != states[:, :-2])] = 0.0
    seen = np.take_along_axis(logs.astype(np.float64), states[:, None, :], axis=2)
    paths = np.full((number, states.shape[1] + 2), _NEVER)  # with two unreachable states before the first
    paths[:, 2:4] = seen[:, 0, :2]
    for column in range(1, logs.shape[1]):
        before = np.logaddexp(np.logaddexp(paths[:, 2:], paths[:, 1:-1]), paths[:, :-2] + skips)
        paths[:, 2:] = before + seen[:, column]
    return np.asarray(np.logaddexp.reduce(paths[:, 2:][:, -2:], axis=1))


def confidence_of_both(first: float, second: float) -> float:
    """Return the confidence in a serial from both readers' likelihoods.

    This is the larger of two values: one from their product, one from the less sure of the two.
    """
    return max(float(np.interp(first * second, _LIKELIHOODS, _CONFIDENCES)), min(first, float(second**_POWER)))
