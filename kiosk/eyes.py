"""The camera at the table: looks on a thread of its own while walls are being restored, and tells the loop."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from broker.contract.messages import PlannedPlay
from kiosk.heap_view import draw_heap, in_place
from kiosk.looks import looks, strays
from kiosk.sight import Sight, View
from kiosk.table.events import TrayChecked
from kiosk.table.restoring.places import Place, deal_of, homes
from vision.live.background import BackgroundStream
from vision.live.camera import Camera
from vision.live.feed import CameraCame, CameraEvent, CameraLost, Feed, Frame
from vision.live.motion import Sketch, sketch
from vision.live.watcher import Stir, Watched
from vision.reader import read_picture
from vision.reading import Reading

log = logging.getLogger("homologue.eyes")

WAIT_S: Final = 1.0
"""Without a frame for so long the camera is taken for lost."""

LOOK_AGAIN_S: Final = 0.1
"""Between two looks for something to do, where a camera has ended."""

VIEW: Final = (800, 330)
"""Of the picture for the screen, pixels, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class CameraHealth:
    """What is wrong with the camera; None where all is well."""

    code: str | None


Seen = TrayChecked | CameraHealth | Sight


class Eyes:
    """Looks at tiles for one play at a time. `tell` is called on the eyes' own threads: it only queues."""

    def __init__(
        self,
        camera: Callable[[], Camera],
        tell: Callable[[Seen], None],
        clock: Callable[[], int],
        view: tuple[int, int] = VIEW,
    ) -> None:
        self._camera, self._tell, self._clock, self._size = camera, tell, clock, view
        self._play: PlannedPlay | None = None
        self._known = False
        """Whether it was told once how the camera is."""
        self._wanted = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="eyes", daemon=True)

    def start(self) -> None:
        """Begin: see whether there is a camera; nothing is looked at until `look_for`."""
        self._wanted.set()
        self._thread.start()

    def stop(self) -> None:
        """End; may be called twice."""
        self._stopped.set()
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join(timeout=20)

    def look_for(self, play: PlannedPlay | None) -> None:
        """Look at the tiles of this play from now on, or at nothing."""
        self._play = play
        if play is not None:
            self._wanted.set()

    @property
    def _needed(self) -> bool:
        return not self._stopped.is_set() and (self._play is not None or not self._known)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._wanted.wait()
            self._wanted.clear()
            try:
                while self._needed:
                    self._look()
            except Exception:  # a picture that breaks the reader must not leave the table blind for good
                log.exception("the eyes have failed; they try again")
                self._tell(CameraHealth("camera_failed"))
                self._stopped.wait(WAIT_S)
                self._wanted.set()

    def _look(self) -> None:
        """Look while there is something to look for: the camera is closed while tiles are played with."""
        with Feed(self._camera, self._camera_changed) as feed, BackgroundStream(read_picture) as stream:
            play = self._play
            looking = None if play is None else Looking(play, self._size)
            number = 0
            while self._needed and self._play == play:
                frame = feed.wait(number, WAIT_S)
                if frame is None:
                    self._stopped.wait(LOOK_AGAIN_S)
                    watched = stream.lose()
                else:
                    number = frame.number
                    watched = stream.see(frame.at, frame.picture)
                for seen in looking.see(watched, frame, self._clock()) if looking is not None else ():
                    self._tell(seen)

    def _camera_changed(self, event: CameraEvent) -> None:
        match event:
            case CameraCame():
                self._tell(CameraHealth(None))
            case CameraLost(code=code):
                self._tell(CameraHealth(code))
        self._known = True


class Looking:
    """What is seen for one play: from what is known of the table to what is told of it."""

    def __init__(self, play: PlannedPlay, size: tuple[int, int]) -> None:
        self._play, self._size = play, size
        self._homes: dict[int, Place] = homes(deal_of(play.order))
        self._judged: Reading | None = None
        self._drawn: tuple[Reading, Sketch] | None = None
        """The reading that is drawn, and what its frame looked like."""
        self._view: View | None = None
        self._key: object = None
        """What the view was drawn of."""
        self._told = Sight()

    def see(self, watched: Watched, frame: Frame | None, now: int) -> tuple[Seen, ...]:
        """Give what is new: looks at trays that are settled, and what the screen is to show."""
        shown = watched.shown
        told: list[Seen] = []
        if watched.stir is Stir.SETTLED and shown is not None and shown is not self._judged:
            self._judged = shown
            told.extend(looks(shown, self._play, now))
        sight = self._sight(watched, frame)
        if sight != self._told:
            self._told = sight
            told.append(sight)
        return tuple(told)

    def _sight(self, watched: Watched, frame: Frame | None) -> Sight:
        shown = watched.shown
        if shown is None:
            return Sight(watched.stir)
        sight = Sight(watched.stir, len(watched.covered), len(shown.seats), strays(shown, self._play))
        return (
            sight
            if shown.places or frame is None
            else replace(sight, view=self._draw(shown, frame, still=watched.stir is Stir.SETTLED))
        )

    def _draw(self, shown: Reading, frame: Frame, *, still: bool) -> View:
        """Draw destinations on the tiles that still lie where they were read; nothing anew while nothing moves."""
        now = sketch(frame.picture)
        if self._drawn is None or self._drawn[0] is not shown:
            self._drawn = shown, now
        reads = in_place(shown.reads, self._drawn[1], now, frame.picture.shape[1])
        key = (id(shown), len(reads)) if still else frame.number
        if self._view is None or key != self._key:
            number = self._view.number + 1 if self._view else 1
            self._view = View(number, draw_heap(frame.picture, Reading(reads, ()), self._homes, self._size))
            self._key = key
        return self._view
