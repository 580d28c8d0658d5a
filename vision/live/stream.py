"""Frames in, what lies on the table out: the watcher, and a reader of single pictures in its own thread."""

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

    `see` never waits for a reading: a frame costs a sketch, and one at a time is read in the other thread. A reading
    counts only if nothing has moved since its frame was taken: two tiles that were exchanged while a slow machine was
    reading must not be verified as they lay before.
    """

    def __init__(self, read: Callable[[Picture], PictureReading]) -> None:
        self._read = read
        self._watcher = TableWatcher()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._reading: Future[tuple[PictureReading, int]] | None = None
        self._scene = self._exposure = 0
        """The scene that is being read, and the exposure of its frame."""

    @property
    def watched(self) -> WatchedTable:
        """What is known of the table."""
        return self._watcher.watched

    @property
    def exposure(self) -> int:
        """The exposure that the camera is asked for, in stops from its own."""
        return self._watcher.exposure

    def see(self, at: float, picture: Picture, exposure: int | None = 0) -> WatchedTable:
        """Take in a frame, BGR, shape (height, width, 3), uint8, taken at `at` seconds of any clock.

        `exposure` is in stops from the camera's own, None while it changes.

        Raises PictureError for an array that is no picture; then nothing has changed. What the reader raises passes
        through, and the next frame is read again.
        """
        wanted = self._watcher.see(at, sketch(check_picture(picture)), exposure)
        if self._reading is not None and self._reading.done():
            done, self._reading = self._reading, None
            if self._scene == self._watcher.scene:
                reading, light = done.result()
                self._watcher.take(reading, self._exposure, light)
        elif wanted and self._reading is None:
            self._scene, self._exposure = self._watcher.scene, exposure or 0
            self._reading = self._reader.submit(self._look, picture)
        return self.watched

    def _look(self, picture: Picture) -> tuple[PictureReading, int]:
        reading = self._read(picture)
        return reading, light_of_unread(picture, reading)

    def lose(self) -> WatchedTable:
        """Take in that the camera was lost."""
        self._watcher.lose()
        return self.watched

    def wait(self) -> None:
        """Wait until nothing is being read."""
        if self._reading is not None:
            self._reading.exception()

    def close(self) -> None:
        """End the thread, when it has read what it is reading."""
        self._reader.shutdown(cancel_futures=True)
