"""The camera at the table: looks on a thread of its own while walls are being restored, and tells the loop."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from broker.logs import get_logger
from kiosk.camera.observations import (
    DEFAULT_VIEW,
    CameraHealth,
    CameraReport,
    CameraTarget,
)

if TYPE_CHECKING:
    from vision.cameras.camera import Camera

log = get_logger("homologue.camera")

AGAIN_S: Final = 1.0
"""Between two tries where looking has failed."""


class CameraThread:
    """Looks at one thing at a time: the trays of a play, a winner's hand, or the picture itself.

    `tell` is called on its own threads: it only queues.
    """

    def __init__(
        self,
        camera: "Callable[[], Camera]",
        tell: Callable[[CameraReport], None],
        clock: Callable[[], int],
        view: tuple[int, int] = DEFAULT_VIEW,
        enrolled: Path | None = None,
    ) -> None:
        """Take the camera, where to tell, a clock, how large views are, and the folder of sets' own pictures."""
        self._camera, self._tell, self._clock, self._size = camera, tell, clock, view
        self._enrolled = enrolled
        self._target: CameraTarget | None = None
        self._known = False
        """Whether it was told once how the camera is."""
        self._awake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)

    def start(self) -> None:
        """Begin: see whether there is a camera; nothing is looked at until `look_for`."""
        self._awake.set()
        self._thread.start()

    def stop(self) -> None:
        """End; may be called twice."""
        self._stopped.set()
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=20)

    def look_for(self, target: CameraTarget | None) -> None:
        """Look at the tiles of this play, or this winner's, from now on, or at nothing."""
        self._target = target
        if target is not None:
            self._awake.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._awake.wait()
            self._awake.clear()
            try:
                self._look()
            except Exception:  # a picture that breaks the reader must not leave the table blind permanently
                log.exception("camera_thread_failed")
                self._tell(CameraHealth("camera_failed"))
                self._stopped.wait(AGAIN_S)
                self._awake.set()

    def _look(self) -> None:
        """Look while there is a target: the camera is closed while tiles are played with."""
        from kiosk.camera.loop import run_camera  # noqa: PLC0415 - OpenCV and networks: half a second, on this thread

        while not self._stopped.is_set() and ((one := self._target) is not None or not self._known):
            run_camera(self._camera, one, self._size, self._clock, self._news, partial(self._over, one), self._enrolled)

    def _over(self, one: CameraTarget | None) -> bool:
        """Return whether what is looked for is no longer asked for; where it is nothing, how the camera is."""
        return self._stopped.is_set() or self._target != one or (one is None and self._known)

    def _news(self, seen: CameraReport) -> None:
        self._known = self._known or isinstance(seen, CameraHealth)
        self._tell(seen)
