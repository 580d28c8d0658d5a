"""The second reader of printed numbers: which signs stand in a line, however many there are.

The first (`digits.py`) looks for three digits and says what each is; asked about `10` or `1022`, it finds three all
the same. This one assumes no number of signs: from left to right it says what it sees in each of 26 columns, and the
likelihood that it saw exactly the digits that the first reader claims is summed over all ways to see them
(connectionist temporal classification, Graves et al. 2006). Only what both read counts.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import FROM_MIDDLES, TO_MIDDLES, Homography, Picture, Points
from vision.networks import alike_in_contrast, run_network

CLASSES = 13
LETTER, HALF_SEEN, NOTHING_HERE = 10, 11, 12  # 0 to 9 are the digits; half seen: a sign, but none that can be told
SIZE = (104, 56)  # pixels, width and height, of a line
_SCALE = 1.3  # of a crop's pixels; a line shows the whole width of the tile
_CROP_WIDTH = 80
_INNER = (slice(4, 52), slice(14, 90))  # rows and columns of a line where signs are
_AT_ONCE = 34
_NEVER = -1e9  # log-likelihood
_LIKELIHOODS, _CONFIDENCES = (0.0, 0.3, 0.7, 1.0), (0.0, 0.3, 0.95, 1.0)
"""Seven of ten are worth the 0.95 that a serial needs: how it was chosen is told in docs/vision-measured.md."""
_POWER = np.log(0.95) / np.log(0.7)  # the same, of the second reader alone where the first is surer than that

Logs = NDArray[np.float32]


def cut_line(crop: Picture, middle: Points, *, turned: bool) -> tuple[Picture, Homography]:
    """Cut the line about `middle`, shape (2,), out of a crop, shape (112, 80, 3); also return the map to it.

    Across, a line always shows the whole tile: what stands beside the three digits is what it is for.
    """
    sign = -1.0 if turned else 1.0
    way = np.array(
        [
            [sign * _SCALE, 0.0, SIZE[0] / 2 - sign * _SCALE * _CROP_WIDTH / 2],
            [0.0, sign * _SCALE, SIZE[1] / 2 - sign * _SCALE * float(middle[1])],
            [0.0, 0.0, 1.0],
        ]
    )
    opencv = (TO_MIDDLES @ way @ FROM_MIDDLES)[:2]
    line = cv2.warpAffine(crop, opencv, SIZE, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(line, dtype=np.uint8), way


def prepare_lines(lines: Picture) -> NDArray[np.float32]:
    """Return lines, shape (n, 56, 104, 3), as the network takes them: without colour of their own, contrast alike.

    Colour and contrast are those of the line's inside: what lies beside the tile may be far brighter than pale ink.
    """
    return alike_in_contrast(lines, _INNER)


def look_at_lines(lines: Picture) -> Logs:
    """Return what is seen in each column of lines, shape (n, 56, 104, 3): log-likelihoods, shape (n, 26, 13)."""
    looks = [
        run_network("lines", prepare_lines(lines[start : start + _AT_ONCE]))[0]
        for start in range(0, len(lines), _AT_ONCE)
    ]
    if not looks:
        return np.empty((0, 26, CLASSES), dtype=np.float32)
    scores = np.concatenate(looks)
    scores = scores - scores.max(axis=2, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=2, keepdims=True)), dtype=np.float32)


def likelihoods_of_digits(logs: Logs, digits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how likely each line, logs of shape (n, columns, 13), shows exactly its digits, shape (n, 3).

    A set's letter may stand before them, and nothing else.
    """
    lettered = np.column_stack([np.full(len(digits), LETTER), digits])
    shares = np.exp(log_likelihoods(logs, digits)) + np.exp(log_likelihoods(logs, lettered))
    return np.asarray(np.minimum(1.0, shares), dtype=np.float64)


def log_likelihoods(logs: Logs, signs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log-likelihood that each line shows exactly its signs, shape (n, k), in this order and no others.

    The sum over all paths that show them: each sign in one column or several, nothing or something between two signs.
    """
    number, count = signs.shape
    states = np.full((number, 2 * count + 1), NOTHING_HERE)
    states[:, 1::2] = signs
    skips = np.full(states.shape, _NEVER)
    skips[:, 2:][(states[:, 2:] != NOTHING_HERE) & (states[:, 2:] != states[:, :-2])] = 0.0
    seen = np.take_along_axis(logs.astype(np.float64), states[:, None, :], axis=2)
    paths = np.full((number, states.shape[1] + 2), _NEVER)  # two more before the first, which nothing reaches
    paths[:, 2:4] = seen[:, 0, :2]
    for column in range(1, logs.shape[1]):
        before = np.logaddexp(np.logaddexp(paths[:, 2:], paths[:, 1:-1]), paths[:, :-2] + skips)
        paths[:, 2:] = before + seen[:, column]
    return np.asarray(np.logaddexp.reduce(paths[:, 2:][:, -2:], axis=1))


def confidence_of_both(first: float, second: float) -> float:
    """Return the confidence in a serial by the likelihoods of both readers: by their product, or by each of them."""
    return max(float(np.interp(first * second, _LIKELIHOODS, _CONFIDENCES)), min(first, float(second**_POWER)))
