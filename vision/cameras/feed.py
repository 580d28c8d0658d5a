"""Take pictures from a camera: a single one, all of a folder, or always the newest one without waiting.

For the newest, a thread takes frames, and reopens the camera if it was lost.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Self

from broker.closing import Closing
from broker.logs import get_logger
from vision.cameras.addresses import open_camera
from vision.cameras.camera import Camera, UnmetSetting
from vision.errors import CameraError, PictureError, VisionError
from vision.geometry import Picture
from vision.picture import check_picture
from vision.sim.table import SimulatedTable

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 4.0


def pause_after(failures: int) -> float:
    """Return the seconds to wait after this many failures in a row, doubling each time up to `LONGEST_PAUSE_S`."""
    if failures <= 0:
        return 0.0
    return float(min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10)))


log = get_logger("homologue.camera")

_BAD_IN_A_ROW = 20  # bad frames in a row after which the camera is closed and reopened


@dataclass(frozen=True, slots=True, eq=False)
class CameraFrame:
    """One picture, with its number since the feed began, and the time `at` which it was taken by the feed's clock.

    `exposure` is in stops relative to the camera's own; None while it is changing.
    """

    number: int
    at: float
    picture: Picture
    exposure: int | None = 0


@dataclass(frozen=True, slots=True)
class CameraOpened:
    """The camera gives pictures, for the first time or again; `unmet` are the settings that it did not accept."""

    unmet: tuple[UnmetSetting, ...]


@dataclass(frozen=True, slots=True)
class CameraLost:
    """The camera gives no pictures, and the feed keeps trying. Reported once until the code changes."""

    code: str
    message: str


CameraEvent = CameraOpened | CameraLost


class CameraFeed(Closing):
    """Takes frames on its own thread, and keeps only the newest.

    `on_event` is called on the feed's thread with each change of state, and must return quickly. `open_` opens the
    camera, and is called again, after growing pauses, whenever the camera was lost.
    """

    def __init__(
        self,
        open_: Callable[[], Camera],
        on_event: Callable[[CameraEvent], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open, self._on_event, self._clock = open_, on_event, clock
        self._stopped = threading.Event()
        self._changed = threading.Condition()
        self._newest: CameraFrame | None = None
        self._count = 0
        self._wanted_exposure = 0  # requested exposure, in stops
        self._state: object = None  # the last event that was reported
        self.ended = False
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop the thread and release the camera."""
        self._stopped.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=15)  # OpenCV waits up to ten seconds for a camera that hangs

    def expose(self, stops: int) -> None:
        """Request another exposure, in stops relative to the camera's own; ignored if the camera cannot change it."""
        self._wanted_exposure = stops

    def latest(self, after: int = 0) -> CameraFrame | None:
        """Return the newest frame if its number, counted from 1, is above `after`, without waiting."""
        newest = self._newest
        return newest if newest is not None and newest.number > after else None

    def wait(self, after: int, timeout: float) -> CameraFrame | None:
        """Return the newest frame with a number above `after`, waiting up to `timeout` seconds for it."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended or self.latest(after) is not None, timeout)
        return self.latest(after)

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set() and not self.ended:
            before = self._count
            try:
                with self._open() as camera:
                    self._take(camera)
            except VisionError as error:
                self._report(CameraLost(error.code, str(error)))
            except Exception as error:  # an unexpected error in a driver must not stop the feed for good
                log.exception("camera_failed")
                self._report(CameraLost(CameraError.code, str(error)))
            failures = 1 if self._count > before else failures + 1
            if not self.ended:
                self._stopped.wait(pause_after(failures))

    def _take(self, camera: Camera) -> None:
        """Take frames until the camera is lost or has ended, or the feed is closed."""
        bad = exposure = requested = settling = 0
        while not self._stopped.is_set():
            due = self._clock() + camera.pause
            if self._wanted_exposure != requested:
                requested, settling = self._wanted_exposure, camera.settling
                exposure = requested if camera.expose(requested) else 0
            try:
                self._publish(check_picture(camera.frame()), None if settling else exposure)
                settling = max(0, settling - 1)
                self._report(CameraOpened(camera.unmet))
                bad = 0
            except PictureError as error:
                bad += 1
                self._report(CameraLost(error.code, str(error)))
                if bad >= _BAD_IN_A_ROW:
                    raise
            if camera.ended:
                return self._end()
            self._stopped.wait(max(0.0, due - self._clock()))
        return None

    def _publish(self, picture: Picture, exposure: int | None) -> None:
        with self._changed:
            self._count += 1
            self._newest = CameraFrame(self._count, self._clock(), picture, exposure)
            self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _report(self, event: CameraEvent) -> None:
        """Report an event if it changes the state."""
        reported = self._state
        if event == reported or (
            isinstance(event, CameraLost) and isinstance(reported, CameraLost) and event.code == reported.code
        ):
            return
        self._state = event
        self._on_event(event)


_FIRST = 8  # frames until a camera has settled its exposure and focus; a single picture is taken after them
_PATIENCE_S = 1.0  # seconds without a frame after which a lost camera is reported again


@dataclass(frozen=True, slots=True, eq=False)
class CameraShot:
    """One picture with its name, or an error in its place; `unmet` are settings that the camera did not accept."""

    name: str
    picture: Picture | CameraLost
    unmet: tuple[UnmetSetting, ...] = ()


def one_shot(address: str) -> CameraShot:
    """Take one picture after the camera has settled. Raises VisionError."""
    with open_camera(address) as camera:
        for _ in range(0 if camera.pause else _FIRST):
            camera.frame()
        return CameraShot(_name(camera, 1), camera.frame(), camera.unmet)


def folder_shots(address: str) -> Iterator[CameraShot]:
    """Yield each picture of a folder once, or the error if it cannot be read. Raises CameraError."""
    with open_camera(address) as camera:
        number = 0
        while not camera.ended:
            number += 1
            try:
                picture: Picture | CameraLost = camera.frame()
            except PictureError as error:
                picture = CameraLost(error.code, str(error))
            yield CameraShot(_name(camera, number), picture, camera.unmet)


def live_shots(address: str, every: float) -> Iterator[CameraShot]:
    """Yield the newest picture every `every` seconds, forever; a lost camera is reported, and reopened."""
    events: SimpleQueue[CameraEvent] = SimpleQueue()
    number = 0
    unmet: tuple[UnmetSetting, ...] = ()
    lost: CameraLost | None = None
    world = SimulatedTable()  # the simulated table stays the same when its camera is reopened
    with CameraFeed(lambda: open_camera(address, world=world), events.put) as feed:
        while True:
            frame = feed.wait(number, max(every, _PATIENCE_S))
            for event in _waiting(events):
                lost = event if isinstance(event, CameraLost) else None
                unmet = event.unmet if isinstance(event, CameraOpened) else unmet
                if lost is not None and frame is not None:
                    yield CameraShot("camera", lost)  # although the camera is back already
            if frame is not None:
                number = frame.number
                yield CameraShot(str(number), frame.picture, unmet)
            elif lost is not None:
                yield CameraShot("camera", lost)
            threading.Event().wait(every)


def _waiting(events: "SimpleQueue[CameraEvent]") -> Iterator[CameraEvent]:
    while True:
        try:
            yield events.get_nowait()
        except Empty:
            return


def _name(camera: Camera, number: int) -> str:
    return camera.shown.name if camera.shown is not None else str(number)
