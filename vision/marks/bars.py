"""The bar under a number that holds a 6 or a 9: it tells which way up 060 and 090 stand.

The network has learnt bars too, but says of 060 only that one way up is likelier. Here the bar is looked for where it
must be: a straight line of ink just under, or just over, the three digits, as long as they are.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points

_SIZE = (58, 84)  # pixels, width and height, of the window about the digits
_REACH = (1.45, 2.1)  # how far it reaches from the middle digit, in steps from digit to digit
_ROWS = (np.arange(_SIZE[1]) - (_SIZE[1] - 1) / 2) * 2 * _REACH[1] / _SIZE[1]  # where each row is, in such steps
_EDGE, _SHORT, _TALL, _FAR = (
    0.6,
    0.75,
    0.9,
    1.9,
)  # in such steps: low digits end at 0.6, tall ones with their bar at 1.9
_DIGITS = np.abs(_ROWS) < _SHORT
_PLAIN = (np.abs(_ROWS) > _TALL) & (np.abs(_ROWS) < _FAR)  # mostly bare plastic
_UNDER, _OVER = ((sign * _ROWS > _EDGE) & (sign * _ROWS < _FAR) for sign in (1, -1))
_LEANS = (-0.06, -0.03, 0.0, 0.03, 0.06)  # slopes of a bar against the digits' line
_ENDS = 5  # pixels of the window left and right that a bar may leave bare
_BARE = 15  # percent of a bar's length that may be worn off
_INSIDE = (
    8.0,
    72.0,
    10.0,
    102.0,
)  # of a crop: left, right, top, bottom; the tile's edge lies outside and looks like a bar
_NO_BAR, _BAR = 0.25, 0.65  # difference in ink between under and over that tells nothing, and that tells most
_MOST = np.log(250)  # log-odds of the latter: one tile in 300 without a bar shows as much
_LEAST_STEP = 4.0  # pixels from digit to digit

Inks = NDArray[np.float64]


def bar_odds(crop: Picture, places: Points) -> float:
    """Give the log-odds that a number stands as its crop does, by a bar under it; below 0 where the bar is over it.

    `crop`, shape (112, 80, 3), is a back as `cut_backs` gives it, `places`, shape (3, 2), where its digits are, pixels.
    """
    step = (places[2] - places[0]) / 2
    if np.hypot(*step) < _LEAST_STEP:
        return 0.0
    under, over = _inkiest(_inks(_window(crop, places)), _is_inside(places, step))
    strength = (abs(under - over) - _NO_BAR) / (_BAR - _NO_BAR)
    return float(np.sign(under - over) * _MOST * np.clip(strength, 0, 1))


def _window(crop: Picture, places: Points) -> Inks:
    """Cut out what is about the digits, their line level."""
    step = (places[2] - places[0]) / 2
    across = step * 2 * _REACH[0] / _SIZE[0]
    down = np.array([-step[1], step[0]]) * 2 * _REACH[1] / _SIZE[1]
    turn = np.column_stack([across, down])
    start = places.mean(axis=0) - turn @ ((np.array(_SIZE) - 1) / 2) - 0.5
    way = np.column_stack([turn, start])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(crop, way, _SIZE, flags=flags, borderMode=cv2.BORDER_REPLICATE), dtype=np.float64)


def _inks(window: Inks) -> Inks:
    """Give how much like the digits' ink each pixel is: 0 bare plastic, 1 ink; shape as the window's first two."""
    away = window - np.median(window[_PLAIN].reshape(-1, 3), axis=0)
    band = away[_DIGITS].reshape(-1, 3)
    ink = away @ np.linalg.svd(band[::2], full_matrices=False)[2][0]
    low, high = np.percentile(ink[_DIGITS], [8, 92])
    return np.asarray(-ink / max(-low, 1e-3) if -low > high else ink / max(high, 1e-3))


def _is_inside(places: Points, step: Points) -> NDArray[np.bool_]:
    """Tell for each row of the window whether a bar there would lie well on the tile."""
    down = np.array([-step[1], step[0]])
    ends = places.mean(axis=0) + _ROWS[:, None, None] * down + np.array([-1.1, 1.1])[:, None] * step
    left, right, top, bottom = _INSIDE
    x, y = ends[..., 0], ends[..., 1]
    return np.asarray(((x > left) & (x < right) & (y > top) & (y < bottom)).all(axis=1))


def _inkiest(inks: Inks, inside: NDArray[np.bool_]) -> tuple[float, float]:
    """Give how inky the inkiest line under and over the digits is from end to end; what is inkier is no ink."""
    best = np.zeros(2)
    for lean in _LEANS:
        shear = np.array([[1, 0, 0], [lean, 1, -lean * _SIZE[0] / 2]])
        level = cv2.blur(cv2.warpAffine(inks, shear, _SIZE, borderMode=cv2.BORDER_REPLICATE), (5, 1))
        line = np.percentile(level[:, _ENDS:-_ENDS], _BARE, axis=1)
        line = np.minimum(line, 2 - line)
        best = np.maximum(best, [line[side & inside].max(initial=0.0) for side in (_UNDER, _OVER)])
    return float(best[0]), float(best[1])
