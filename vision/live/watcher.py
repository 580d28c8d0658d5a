"""Watch a table: decide which frames are worth reading, and combine their readings. Pure.

Motion is detected by comparing small grey versions of two frames, allowing for the noise of these frames.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture
from vision.live.agreement import AgreedReading, agree_on_frames, recall_covered_places
from vision.live.exposure import ExposureSearch
from vision.reading import PictureReading, TileRead, TrayPlace

Sketch = NDArray[np.uint8]  # shape (height, width), grey: a small version of a frame, for comparison with others

SKETCH_WIDTH = 240  # cells; over a tray a finger is about eight cells wide
_SIGMAS = 6.0  # standard deviations that no cell of a still frame reaches
_LEVELS = 2.5  # tolerance for rounding and compression
_SHARE = 0.04  # tolerance as a share of a cell's level: lamps flicker, and differently from row to row
_FEWEST = 4  # cells that must differ to count as motion
_FULL = 250  # level from which a cell is overexposed, and shows no change of light
_DARK = 16  # level below which ratios are mostly rounding error
_BLACK = 12  # level that anything lit at all exceeds
_LEAST_GAIN = 0.7  # cameras change exposure in smaller steps; a larger change is a lamp, a hand or another scene
_UNBURNT = 110  # level below which no cell has many overexposed pixels
_AROUND = np.ones((3, 3), dtype=np.uint8)
_LIT_SHARE = 0.2  # share of cells that must be usable in both of two exposures
_STEPS = 16  # brightness steps, each with its own gain, as a camera's response is not linear
_RISE = 1.1  # largest gain of a step, relative to the usual one; more is due to overexposed pixels
_NOISIEST = 6.0  # levels: noise of a cell in the darkest room; a larger difference in most cells is not noise
_MAD = 1.4826  # standard deviation of a normal distribution, in median absolute deviations


def sketch(picture: Picture) -> Sketch:
    """Shrink a picture, shape (height, width, 3), to a sketch for detecting motion; 0.5 ms for 1920 x 1080.

    Only green is used: half of a sensor's cells are green, which makes it the least noisy channel.
    """
    height, width = picture.shape[:2]
    step = 2 if width >= 4 * SKETCH_WIDTH else 1
    size = (min(SKETCH_WIDTH, width), max(1, round(height * min(1.0, SKETCH_WIDTH / width))))
    green = picture[::step, ::step, 1]
    return np.asarray(cv2.resize(green, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def is_blank(sketch: Sketch) -> bool:
    """Return whether a frame shows nothing at all, because the light is off or the sensor is saturated."""
    return bool(np.percentile(sketch, 99) < _BLACK or np.percentile(sketch, 1) > _FULL)


def has_moved(before: Sketch, now: Sketch, *, relit: bool = False) -> bool:
    """Return whether anything but the light differs between two frames.

    A change by one factor everywhere (automatic exposure) is removed, and the threshold follows the noise of this pair
    of frames, so that a dark room is not taken for motion. `relit`: the frames have different exposures; light may then
    differ by any factor, and areas that are overexposed or black in either frame are ignored.
    """
    if before.shape != now.shape:
        return True
    if np.array_equal(before, now):
        return False
    one, other = before.astype(np.float32), now.astype(np.float32)
    if relit:
        return _has_moved_relit(one, other)
    gain = _gain(one, other)
    if not _LEAST_GAIN <= gain <= 1 / _LEAST_GAIN:
        return True
    difference = cv2.blur(other - gain * one, (3, 3))
    noise = min(_MAD * float(np.median(np.abs(difference))), _NOISIEST)
    changed = np.abs(difference) > _SIGMAS * noise + _LEVELS + _SHARE * other
    changed &= (before < _FULL) & (now < _FULL) | (np.abs(other - one) > _FULL / 4)
    return int(np.count_nonzero(changed)) >= _FEWEST


def _gain(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Return the factor by which the light has changed: the median ratio of all cells, few of which move."""
    lit = (one > _DARK) & (one < _FULL)
    return float(np.median(other[lit] / one[lit])) if lit.any() else 1.0


def _has_moved_relit(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Return whether something has moved between two frames of different exposures.

    Some of a cell's pixels may be overexposed at the longer exposure; the cell is then brighter at the shorter one than
    the gain predicts.
    """
    bright, dark = (one, other) if one.mean() > other.mean() else (other, one)
    shown = bright < _FULL
    lit = shown & (bright > _DARK)
    if np.count_nonzero(lit) < max(_LIT_SHARE * lit.size, _STEPS):
        return True
    order = np.argsort(bright[lit])
    levels = [float(np.median(step)) for step in np.array_split(bright[lit][order], _STEPS)]
    gains = [float(np.median(step)) for step in np.array_split((dark[lit] / bright[lit])[order], _STEPS)]
    gains = np.minimum(gains, _RISE * float(np.median(gains))).tolist()
    excess = cv2.blur(np.where(shown, dark - np.interp(bright, levels, gains) * bright, 0), (3, 3))
    noise = _MAD * float(np.median(np.abs(excess[lit])))
    threshold = _SIGMAS * noise + _LEVELS + _SHARE * dark
    changed = shown & ((excess < -threshold) | ((excess > threshold) & (cv2.dilate(bright, _AROUND) < _UNBURNT)))
    return int(np.count_nonzero(changed)) >= _FEWEST


TRIES: Final = 5
"""Most readings of one still scene; what is unread or contradictory after them stays so until something moves."""

GAP_S: Final = 1.0
"""Seconds without a frame after which something may have moved unnoticed."""


class Stillness(StrEnum):
    """How reliable the shown reading is at present."""

    BLIND = "blind"  # no frame yet, the light is off, or the camera was lost
    MOVING = "moving"
    SETTLING = "settling"  # still, but not read often enough yet
    COVERED = "covered"  # still, but some places are covered, and shown as last seen
    SETTLED = "settled"  # the table is as shown


@dataclass(frozen=True, slots=True, eq=False)
class WatchedTable:
    """What is known of the table at time `at`, seconds.

    `shown` is the last settled reading, None before the first one. It stays while something moves and while new frames
    are being combined. Covered places are shown as last seen, and listed in `covered`; `doubtful` are tiles on which
    frames contradict one another. Only a `settled` reading may verify a tray.
    """

    at: float
    stillness: Stillness
    shown: PictureReading | None = None
    covered: tuple[TrayPlace, ...] = ()
    doubtful: frozenset[TileRead] = frozenset()


class TableWatcher:
    """The state of a watched table: call `see` with each frame, and `take` with its reading if `see` asks for one."""

    def __init__(self) -> None:
        self.watched = WatchedTable(float("-inf"), Stillness.BLIND)
        self._before: Sketch | None = None  # the previous frame
        self._anchor: Sketch | None = None  # the first frame since something moved
        self._readings: tuple[PictureReading, ...] = ()  # of frames since then
        self._tries = 0
        self._exposure: int | None = 0  # of the previous frame
        self._search, self._may_search = ExposureSearch(), True
        self.scene = 0
        """Counts scenes: it changes whenever something has moved, and readings of an older scene are then void."""

    @property
    def exposure(self) -> int:
        """The exposure to request from the camera, in stops relative to its own."""
        return self._search.wanted

    def see(self, at: float, sketch: Sketch, exposure: int | None = 0) -> bool:
        """Process a frame's time, sketch and exposure (None: changing); return whether the frame is worth reading.

        A frame that arrives after a newer one is ignored. Frames with motion are not worth reading, nor frames of a
        still scene that has been read often enough.
        """
        if at <= self.watched.at:
            return False
        if is_blank(sketch) and exposure == 0:
            self.lose()
            self.watched = replace(self.watched, at=at)
            return False
        unbroken = self._before is not None and at - self.watched.at <= GAP_S
        relit = exposure is None or exposure != self._exposure
        is_still = unbroken and self._before is not None and not has_moved(self._before, sketch, relit=relit)
        self._before, self._exposure = sketch, exposure
        if not is_still:
            self._begin_scene(None)
            self.watched = replace(self.watched, at=at, stillness=Stillness.MOVING)
            return False
        # Detects motion too slow to notice from frame to frame. A scene begins with the camera's own exposure.
        if self._anchor is None or has_moved(self._anchor, sketch, relit=exposure != 0):
            self._begin_scene(sketch if exposure == 0 else None)
        stillness = self.watched.stillness if self._readings else Stillness.SETTLING
        self.watched = replace(self.watched, at=at, stillness=stillness)
        return self._search.record(exposure) and self._anchor is not None and self._needs_reading()

    def take(self, reading: PictureReading, exposure: int = 0, light: int = 0) -> None:
        """Process the reading of the last frame; ignored if the frame was not worth reading.

        `light` is the result of `light_of_unread`.
        """
        if self._anchor is None or exposure != self.exposure or not self._needs_reading():
            return
        if self.exposure:
            if not self._search.take(reading):
                return
        else:
            self._tries += 1
            self._readings = (*self._readings, reading)
        agreed = agree_on_frames(self._readings)
        if not (agreed.settled or self._tries >= TRIES):
            self.watched = replace(self.watched, stillness=Stillness.SETTLING)
            return
        self._show(self._search.fill(agreed, self._readings))
        if self.exposure or self._may_search:
            self._search.request(light if _is_lacking(self.watched) else 0)

    def lose(self) -> None:
        """Record that the camera shows nothing: the shown reading stays, but must be confirmed again."""
        self._before = None
        self._begin_scene(None)
        self.watched = replace(self.watched, stillness=Stillness.BLIND)

    def _begin_scene(self, anchor: Sketch | None) -> None:
        """Begin a new scene without evidence, as a tile may have been exchanged meanwhile."""
        if self._readings:  # if changing the exposure may have looked like motion, do not try it in the next scene
            self._may_search = not self._search.may_disturb
        self._anchor, self._readings, self._tries = anchor, (), 0
        self._search = ExposureSearch()
        self.scene += 1

    def _needs_reading(self) -> bool:
        if self.exposure:
            return True
        settled = self.watched.stillness in {Stillness.SETTLED, Stillness.COVERED} and bool(self._readings)
        return self._tries < TRIES and not (settled and _complete(self.watched))

    def _show(self, agreed: AgreedReading) -> None:
        shown, covered = recall_covered_places(agreed.reading, self.watched.shown)
        stillness = Stillness.COVERED if covered else Stillness.SETTLED
        self.watched = WatchedTable(self.watched.at, stillness, shown, covered, agreed.doubtful)


def _is_lacking(watched: WatchedTable) -> bool:
    """Return whether another exposure could help: a back is not read, or a place seems to have no tile."""
    places = watched.shown.places if watched.shown is not None else ()
    return not _complete(watched) or any(place.read is None for place in places)


def _complete(watched: WatchedTable) -> bool:
    """Return whether more frames cannot add anything: every back is read, and none is doubtful."""
    reads = watched.shown.reads if watched.shown is not None else ()
    return not watched.doubtful and all(read.serial is not None or read.face_up for read in reads)
