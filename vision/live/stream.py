"""Frames in, what lies on the table out: the watcher with a still reader behind it, in this or another thread."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from broker.closing import Closing
from vision.cameras.camera import check_frame
from vision.cameras.feed import CameraFeed, CameraFrame
from vision.geometry import Picture
from vision.live.watcher import TableWatcher, WatchedTable, sketch
from vision.reading import PictureReading


class ReadingStream:
    """Reads a table over time; `read` is the still reader. A frame costs a sketch, and at most one still reading."""

    def __init__(self, read: Callable[[Picture], PictureReading]) -> None:
        self._read = read
        self._watcher = TableWatcher()

    @property
    def watched(self) -> WatchedTable:
        """What is known of the table."""
        return self._watcher.watched

    def see(self, at: float, picture: Picture) -> WatchedTable:
        """Take in a frame, BGR, shape (height, width, 3), uint8, taken at `at` seconds of any clock.

        Raises PictureError for an array that is no picture; then nothing has changed. What the reader raises passes
        through, and the next frame is read anew.
        """
        if self._watcher.see(at, sketch(check_frame(picture))):
            self._watcher.take(self._read(picture))
        return self.watched

    def lose(self) -> WatchedTable:
        """Take in that the camera was lost."""
        self._watcher.lose()
        return self.watched


def follow_feed(
    feed: CameraFeed, stream: ReadingStream, timeout: float = 1.0
) -> Iterator[tuple[CameraFrame | None, WatchedTable]]:
    """Return what is known after each new frame of a feed, until it ends.

    Frames that come while another is read are left out. After `timeout` seconds without a frame the camera is taken
    for lost, and (None, what was known) is given.
    """
    number = 0
    while True:
        frame = feed.wait(number, timeout)
        if frame is None:
            if feed.ended:
                return
            yield None, stream.lose()
            continue
        number = frame.number
        yield frame, stream.see(frame.at, frame.picture)


class BackgroundStream(ReadingStream, Closing):
    """As `ReadingStream`, but `see` never waits for a reading.

    A reading counts only if nothing has moved since its frame was taken: two tiles that were exchanged while a slow
    machine was reading must not be verified as they lay before.
    """

    def __init__(self, read: Callable[[Picture], PictureReading]) -> None:
        super().__init__(read)
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._reading: Future[PictureReading] | None = None
        self._scene = 0
        """The scene that is being read."""

    def see(self, at: float, picture: Picture) -> WatchedTable:
        """Take in a frame. As `ReadingStream.see`."""
        wanted = self._watcher.see(at, sketch(check_frame(picture)))
        if self._reading is not None and self._reading.done():
            done, self._reading = self._reading, None
            if self._scene == self._watcher.scene:
                self._watcher.take(done.result())
        elif wanted and self._reading is None:
            self._scene = self._watcher.scene
            self._reading = self._reader.submit(self._read, picture)
        return self.watched

    def wait(self) -> None:
        """Wait until nothing is being read."""
        if self._reading is not None:
            self._reading.exception()

    def close(self) -> None:
        """End the thread, when it has read what it is reading."""
        self._reader.shutdown(cancel_futures=True)
