"""The camera at the table: looks at its target on a thread of its own, and reports to the loop."""

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

RETRY_S: Final = 1.0
"""Seconds before another try after looking has failed."""


class CameraThread:
    """Looks at one target at a time: the trays of a play, a winner's hand, or the picture itself.

    `tell` is called on the camera's threads, and only queues.
    """

    def __init__(
        self,
        camera: "Callable[[], Camera]",
        tell: Callable[[CameraReport], None],
        clock: Callable[[], int],
        size: tuple[int, int] = DEFAULT_VIEW,
        enrolled: Path | None = None,
    ) -> None:
        """Take the camera, the receiver, a clock, the size of views, and the folder of enrolled sets."""
        self._camera, self._tell, self._clock, self._size = camera, tell, clock, size
        self._enrolled = enrolled
        self._target: CameraTarget | None = None
        self._health_reported = False
        """Whether the camera's health has been reported once."""
        self._awake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)

    def start(self) -> None:
        """Start by reporting whether there is a camera; nothing is looked at before `look_for`."""
        self._awake.set()
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; may be called twice."""
        self._stopped.set()
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=20)

    def look_for(self, target: CameraTarget | None) -> None:
        """Change the target; None stops looking."""
        self._target = target
        if target is not None:
            self._awake.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._awake.wait()
            self._awake.clear()
            try:
                self._look()
            except Exception:  # a picture that breaks the reader must not leave the table blind for good
                log.exception("camera_thread_failed")
                self._tell(CameraHealth("camera_failed"))
                self._stopped.wait(RETRY_S)
                self._awake.set()

    def _look(self) -> None:
        """Look while there is a target. The camera is closed while tiles are being played."""
        from kiosk.camera.loop import run_camera  # noqa: PLC0415 - OpenCV and networks: half a second, on this thread

        while not self._stopped.is_set() and ((target := self._target) is not None or not self._health_reported):
            over = partial(self._is_over, target)
            run_camera(self._camera, target, self._size, self._clock, self._report, over, self._enrolled)

    def _is_over(self, target: CameraTarget | None) -> bool:
        """Return whether a target is no longer wanted; with none, whether the camera's health has been reported."""
        return self._stopped.is_set() or self._target != target or (target is None and self._health_reported)

    def _report(self, seen: CameraReport) -> None:
        self._health_reported = self._health_reported or isinstance(seen, CameraHealth)
        self._tell(seen)
