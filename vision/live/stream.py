"""Feed frames to the watcher, and read pictures for it in a separate thread."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from broker.closing import Closing
from vision.geometry import Picture
from vision.live.exposure import light_of_unread
from vision.live.watcher import TableWatcher, WatchedTable, sketch
from vision.picture import check_picture
from vision.reading import PictureReading


class BackgroundStream(Closing):
    """Reads a table over time; `read` reads one picture.

    `see` never waits for a reading: for each frame it only makes a sketch, and one frame at a time is read in the other
    thread. A reading counts only if nothing has moved since its frame was taken. Otherwise two tiles that were swapped
    while a slow machine was reading would be verified as they lay before.
    """

    def __init__(self, read: Callable[[Picture], PictureReading]) -> None:
        self._read = read
        self._watcher = TableWatcher()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._reading: Future[tuple[PictureReading, int]] | None = None
        self._scene = self._exposure = 0
        """The scene being read, and the exposure of its frame."""

    @property
    def watched(self) -> WatchedTable:
        """What is known of the table."""
        return self._watcher.watched

    @property
    def exposure(self) -> int:
        """The exposure to request from the camera, in stops relative to its own."""
        return self._watcher.exposure

    def see(self, at: float, picture: Picture, exposure: int | None = 0) -> WatchedTable:
        """Process a frame (BGR, shape (height, width, 3), uint8), taken at `at` seconds of any clock.

        `exposure` is in stops relative to the camera's own, None while it is changing.

        Raises PictureError, without any effect, if the array is not a picture. Errors of the reader are raised here,
        too; the next frame is then read again.
        """
        wanted = self._watcher.see(at, sketch(check_picture(picture)), exposure)
        if self._reading is not None and self._reading.done():
            done, self._reading = self._reading, None
            if self._scene == self._watcher.scene:
                reading, light = done.result()
                self._watcher.take(reading, self._exposure, light)
        elif wanted and self._reading is None:
            self._scene, self._exposure = self._watcher.scene, exposure or 0
            self._reading = self._reader.submit(self._read_with_light, picture)
        return self.watched

    def _read_with_light(self, picture: Picture) -> tuple[PictureReading, int]:
        reading = self._read(picture)
        return reading, light_of_unread(picture, reading)

    def lose(self) -> WatchedTable:
        """Record that the camera was lost."""
        self._watcher.lose()
        return self.watched

    def wait(self) -> None:
        """Wait until the reader is idle."""
        if self._reading is not None:
            self._reading.exception()

    def close(self) -> None:
        """Stop the thread after the current reading."""
        self._reader.shutdown(cancel_futures=True)
