"""The pure core of watching a table: which frames are worth reading, and what they have told so far.

No clock, no camera, no reader: time and sketches come in with each frame, readings come in where they were asked for.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from vision.live.agreement import FRAMES, Agreed, agree
from vision.live.memory import with_memory
from vision.live.motion import Sketch, blank, moved
from vision.reading import Place, Read, Reading

TRIES: Final = 5
"""Readings of one still scene at most: what is unread or contradictory after so many stays so until something moves."""

GAP_S: Final = 1.0
"""Seconds without a frame after which nobody knows what has moved meanwhile."""


class Stir(StrEnum):
    """How far what is shown can be relied on now."""

    BLIND = "blind"  # no frame yet, the light is out, or the camera was lost
    MOVING = "moving"
    SETTLING = "settling"  # still, and not yet read often enough
    COVERED = "covered"  # still, but something lies over places: these are shown as last seen
    SETTLED = "settled"  # what is shown is what lies there


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """What is known of the table at time `at`, seconds.

    `shown` is the last settled reading (None before the first one). It stays while something moves and while new
    frames are weighed. Places that something lies over are as they were last seen, and are in `covered`; `doubtful`
    are tiles that frames contradict one another about. Only a `settled` reading may verify a tray.
    """

    at: float
    stir: Stir
    shown: Reading | None = None
    covered: tuple[Place, ...] = ()
    doubtful: frozenset[Read] = frozenset()


class Watcher:
    """Fed with frames in order of time. `see` says whether to read a frame; `take` is given that frame's reading."""

    def __init__(self) -> None:
        self.watched = Watched(float("-inf"), Stir.BLIND)
        self._before: Sketch | None = None  # the frame before this one
        self._anchor: Sketch | None = None  # the first frame since something moved
        self._readings: tuple[Reading, ...] = ()  # of frames since then
        self._tries = 0
        self.scene = 0
        """Another number whenever something has moved: what was read of an older one is worth nothing now."""

    def see(self, at: float, sketch: Sketch) -> bool:
        """Take in a frame's time and sketch, and tell whether the frame is worth reading.

        A frame that comes late, after a newer one, changes nothing. A frame in motion is not worth reading, nor is
        one of a still scene about which enough is known.
        """
        if at <= self.watched.at:
            return False
        if blank(sketch):
            self.lose()
            self.watched = replace(self.watched, at=at)
            return False
        unbroken = self._before is not None and at - self.watched.at <= GAP_S
        still = unbroken and self._before is not None and not moved(self._before, sketch)
        self._before = sketch
        if not still:
            self._begin(None)
            self.watched = replace(self.watched, at=at, stir=Stir.MOVING)
            return False
        if self._anchor is None or moved(self._anchor, sketch):  # too slow to be seen from frame to frame
            self._begin(sketch)
        stir = self.watched.stir if self._readings else Stir.SETTLING
        self.watched = replace(self.watched, at=at, stir=stir)
        return self._wants_more()

    def take(self, reading: Reading) -> None:
        """Take in the reading of the frame that was last seen; for a frame not worth reading it is not looked at."""
        if self._anchor is None or not self._wants_more():
            return
        self._tries += 1
        self._readings = (*self._readings[1 - FRAMES :], reading)
        agreed = agree(self._readings)
        if agreed.settled or self._tries >= TRIES:
            self._show(agreed)
        else:
            self.watched = replace(self.watched, stir=Stir.SETTLING)

    def lose(self) -> None:
        """Take in that nothing is seen any more: what is shown stays, and must be seen anew."""
        self._before = None
        self._begin(None)
        self.watched = replace(self.watched, stir=Stir.BLIND)

    def _begin(self, anchor: Sketch | None) -> None:
        """Forget the evidence: a tile may have been changed under the hand."""
        self._anchor, self._readings, self._tries = anchor, (), 0
        self.scene += 1

    def _wants_more(self) -> bool:
        settled = self.watched.stir in {Stir.SETTLED, Stir.COVERED} and bool(self._readings)
        return self._tries < TRIES and not (settled and _complete(self.watched))

    def _show(self, agreed: Agreed) -> None:
        shown, covered = with_memory(agreed.reading, self.watched.shown)
        stir = Stir.COVERED if covered else Stir.SETTLED
        self.watched = Watched(self.watched.at, stir, shown, covered, agreed.doubtful)


def _complete(watched: Watched) -> bool:
    """Tell whether another frame could not tell more: every back is read."""
    reads = watched.shown.reads if watched.shown is not None else ()
    return not watched.doubtful and all(read.serial is not None or read.face_up for read in reads)
