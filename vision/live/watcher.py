"""Watch a table: which frames are worth reading, and what they have shown so far. Pure.

Motion is the difference between two frames' shrunk grey pictures against the noise that they have anyway.
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
_UNBURNT = 110  # no cell below that has many burnt-out pixels
_AROUND = np.ones((3, 3), dtype=np.uint8)
_LIT_SHARE = 0.2  # of the cells that two exposures have to show both
_STEPS = 16  # of the light, each with a gain of its own: a camera's levels are no straight line
_RISE = 1.1  # of the usual gain: a larger one is that of cells with burnt-out pixels
_NOISIEST = 6.0  # levels of a cell in the darkest room: where more differs in most cells, that is no noise
_MAD = 1.4826  # median of absolute deviations to standard deviation, of a normal distribution


def sketch(picture: Picture) -> Sketch:
    """Shrink a picture, shape (height, width, 3), to a sketch in which motion is detected; 0.5 ms for 1920 x 1080.

    Green alone: half of a sensor's cells are green, and it is the least noisy channel.
    """
    height, width = picture.shape[:2]
    step = 2 if width >= 4 * SKETCH_WIDTH else 1
    size = (min(SKETCH_WIDTH, width), max(1, round(height * min(1.0, SKETCH_WIDTH / width))))
    green = picture[::step, ::step, 1]
    return np.asarray(cv2.resize(green, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def is_blank(sketch: Sketch) -> bool:
    """Return whether a frame shows nothing at all: the light is out, or the sensor is blinded."""
    return bool(np.percentile(sketch, 99) < _BLACK or np.percentile(sketch, 1) > _FULL)


def has_moved(before: Sketch, now: Sketch, *, relit: bool = False) -> bool:
    """Return whether something other than the light differs between two frames.

    Light that changes everywhere by one factor (a camera's automatic exposure) is taken out; the threshold follows
    the noise of this very pair of frames, so that a dark room is not taken for motion. `relit`: the frames are of two
    exposures, so that light may differ by any factor, and what either has burnt out or black tells nothing.
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
    off = cv2.blur(other - gain * one, (3, 3))
    noise = min(_MAD * float(np.median(np.abs(off))), _NOISIEST)
    changed = np.abs(off) > _SIGMAS * noise + _LEVELS + _SHARE * other
    changed &= (before < _FULL) & (now < _FULL) | (np.abs(other - one) > _FULL / 4)
    return int(np.count_nonzero(changed)) >= _FEWEST


def _gain(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Return by which factor the light has changed: the median of all cells' ratios, for few of them move."""
    lit = (one > _DARK) & (one < _FULL)
    return float(np.median(other[lit] / one[lit])) if lit.any() else 1.0


def _has_moved_relit(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Return whether something has moved between two exposures.

    Of a cell's pixels some may be burnt out at the longer one: it is then brighter at the shorter one than by its gain.
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
    off = cv2.blur(np.where(shown, dark - np.interp(bright, levels, gains) * bright, 0), (3, 3))
    noise = _MAD * float(np.median(np.abs(off[lit])))
    threshold = _SIGMAS * noise + _LEVELS + _SHARE * dark
    changed = shown & ((off < -threshold) | ((off > threshold) & (cv2.dilate(bright, _AROUND) < _UNBURNT)))
    return int(np.count_nonzero(changed)) >= _FEWEST


TRIES: Final = 5
"""Readings of one still scene at most: what is unread or contradictory after so many stays so until something moves."""

GAP_S: Final = 1.0
"""Seconds without a frame after which nobody knows what has moved meanwhile."""


class Stillness(StrEnum):
    """How reliable what is shown is now."""

    BLIND = "blind"  # no frame yet, the light is out, or the camera was lost
    MOVING = "moving"
    SETTLING = "settling"  # still, and not yet read often enough
    COVERED = "covered"  # still, but something lies over places: these are shown as last seen
    SETTLED = "settled"  # what is shown is what lies there


@dataclass(frozen=True, slots=True, eq=False)
class WatchedTable:
    """What is known of the table at time `at`, seconds.

    `shown` is the last settled reading (None before the first one). It stays while something moves and while new
    frames are weighed. Places that something lies over are as they were last seen, and are in `covered`; `doubtful`
    are tiles that frames contradict one another about. Only a `settled` reading may verify a tray.
    """

    at: float
    stillness: Stillness
    shown: PictureReading | None = None
    covered: tuple[TrayPlace, ...] = ()
    doubtful: frozenset[TileRead] = frozenset()


class TableWatcher:
    """State of a watched table. `see` takes each frame and returns whether to read it, `take` its reading."""

    def __init__(self) -> None:
        self.watched = WatchedTable(float("-inf"), Stillness.BLIND)
        self._before: Sketch | None = None  # the frame before this one
        self._anchor: Sketch | None = None  # the first frame since something moved
        self._readings: tuple[PictureReading, ...] = ()  # of frames since then
        self._tries = 0
        self._exposure: int | None = 0  # of the frame before this one
        self._search, self._may_search = ExposureSearch(), True
        self.scene = 0
        """Another number whenever something has moved: what was read of an older one is worth nothing now."""

    @property
    def exposure(self) -> int:
        """The exposure that the camera is asked for, in stops from its own."""
        return self._search.wanted

    def see(self, at: float, sketch: Sketch, exposure: int | None = 0) -> bool:
        """Take in a frame's time, sketch and exposure (None: it is changing); return whether it is worth reading.

        A frame that comes late, after a newer one, changes nothing. A frame in motion is not worth reading, nor is
        one of a still scene about which enough is known.
        """
        if at <= self.watched.at:
            return False
        if is_blank(sketch) and exposure == 0:
            self.lose()
            self.watched = replace(self.watched, at=at)
            return False
        unbroken = self._before is not None and at - self.watched.at <= GAP_S
        relit = exposure is None or exposure != self._exposure
        still = unbroken and self._before is not None and not has_moved(self._before, sketch, relit=relit)
        self._before, self._exposure = sketch, exposure
        if not still:
            self._begin(None)
            self.watched = replace(self.watched, at=at, stillness=Stillness.MOVING)
            return False
        # What moves too slowly to be seen from frame to frame. A scene begins with the camera's own exposure.
        if self._anchor is None or has_moved(self._anchor, sketch, relit=exposure != 0):
            self._begin(sketch if exposure == 0 else None)
        stillness = self.watched.stillness if self._readings else Stillness.SETTLING
        self.watched = replace(self.watched, at=at, stillness=stillness)
        return self._search.see(exposure) and self._anchor is not None and self._wants_more()

    def take(self, reading: PictureReading, exposure: int = 0, light: int = 0) -> None:
        """Take in the reading of the last frame; that of a frame not worth reading is ignored.

        `light` is what `light_of_unread` says of it.
        """
        if self._anchor is None or exposure != self.exposure or not self._wants_more():
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
            self._search.ask(light if _is_lacking(self.watched) else 0)

    def lose(self) -> None:
        """Take in that nothing is seen any more: what is shown stays, and must be confirmed again."""
        self._before = None
        self._begin(None)
        self.watched = replace(self.watched, stillness=Stillness.BLIND)

    def _begin(self, anchor: Sketch | None) -> None:
        """Forget the evidence: a tile may have been changed under the hand."""
        if self._readings:  # a camera that seems to move by itself is not asked again for the scene that follows
            self._may_search = not self._search.may_disturb
        self._anchor, self._readings, self._tries = anchor, (), 0
        self._search = ExposureSearch()
        self.scene += 1

    def _wants_more(self) -> bool:
        if self.exposure:
            return True
        settled = self.watched.stillness in {Stillness.SETTLED, Stillness.COVERED} and bool(self._readings)
        return self._tries < TRIES and not (settled and _complete(self.watched))

    def _show(self, agreed: AgreedReading) -> None:
        shown, covered = recall_covered_places(agreed.reading, self.watched.shown)
        stillness = Stillness.COVERED if covered else Stillness.SETTLED
        self.watched = WatchedTable(self.watched.at, stillness, shown, covered, agreed.doubtful)


def _is_lacking(watched: WatchedTable) -> bool:
    """Return whether another exposure could tell more: a back is not read, or no tile is seen at a place."""
    places = watched.shown.places if watched.shown is not None else ()
    return not _complete(watched) or any(place.read is None for place in places)


def _complete(watched: WatchedTable) -> bool:
    """Return whether another frame could not tell more: every back is read."""
    reads = watched.shown.reads if watched.shown is not None else ()
    return not watched.doubtful and all(read.serial is not None or read.face_up for read in reads)
