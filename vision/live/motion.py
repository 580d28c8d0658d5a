"""Whether something moved between two frames: their shrunk grey pictures against the noise that they have anyway."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture

Sketch = NDArray[np.uint8]  # shape (height, width), grey: what is kept of a frame to compare it with others

SKETCH_WIDTH = 240  # cells; over a tray a finger is about eight of them wide
_SIGMAS = 6.0  # no cell of a still frame is this many standard deviations off
_LEVELS = 2.5  # rounding, and what compression does
_SHARE = 0.04  # of a cell's own level: lamps flicker, rows at other times
_FEWEST = 4  # cells that differ together
_FULL = 250  # a cell as bright as this shows nothing of a change of light
_DARK = 16  # below that a ratio is mostly rounding
_BLACK = 12  # nothing that is lit at all is darker
_LEAST_GAIN = 0.7  # a camera changes its exposure in smaller steps; more is a lamp, a hand, another scene
_MAD = 1.4826  # median of absolute deviations to standard deviation, of a normal distribution


def sketch(picture: Picture) -> Sketch:
    """Shrink a picture, shape (height, width, 3), to what motion is looked for in; 0.5 ms for 1920 x 1080.

    Green alone: half of a sensor's cells are green, and it is the least noisy channel.
    """
    height, width = picture.shape[:2]
    step = 2 if width >= 4 * SKETCH_WIDTH else 1
    size = (min(SKETCH_WIDTH, width), max(1, round(height * min(1.0, SKETCH_WIDTH / width))))
    green = picture[::step, ::step, 1]
    return np.asarray(cv2.resize(green, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def blank(sketch: Sketch) -> bool:
    """Tell whether a frame shows nothing at all: the light is out, or the sensor is blinded."""
    return bool(np.percentile(sketch, 99) < _BLACK or np.percentile(sketch, 1) > _FULL)


def moved(before: Sketch, now: Sketch) -> bool:
    """Tell whether something other than the light differs between two frames.

    Light that changes everywhere by one factor (a camera's automatic exposure) is taken out; the threshold follows
    the noise of this very pair of frames, so that a dark room is not taken for motion.
    """
    if before.shape != now.shape:
        return True
    if np.array_equal(before, now):
        return False
    one, other = before.astype(np.float32), now.astype(np.float32)
    gain = _gain(one, other)
    if not _LEAST_GAIN <= gain <= 1 / _LEAST_GAIN:
        return True
    off = cv2.blur(other - gain * one, (3, 3))
    noise = _MAD * float(np.median(np.abs(off)))
    changed = np.abs(off) > _SIGMAS * noise + _LEVELS + _SHARE * other
    changed &= (before < _FULL) & (now < _FULL) | (np.abs(other - one) > _FULL / 4)
    return int(np.count_nonzero(changed)) >= _FEWEST


def _gain(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Give by how much the light has changed: the middle of all cells' own ratios, for few of them move."""
    lit = (one > _DARK) & (one < _FULL)
    return float(np.median(other[lit] / one[lit])) if lit.any() else 1.0
