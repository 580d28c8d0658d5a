"""A stream whose reader has a thread of its own: motion is watched at the camera's pace, however slow the reader."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from vision.geometry import Picture
from vision.live.camera import check_frame
from vision.live.motion import sketch
from vision.live.watcher import Watched, Watcher
from vision.reading import Reading


class BackgroundStream:
    """As `Stream`, but `see` never waits for a reading. Context-managed; `close` may be called twice.

    A reading counts only if nothing has moved since its frame was taken: two tiles that were exchanged while a slow
    machine was reading must not be verified as they lay before.
    """

    def __init__(self, read: Callable[[Picture], Reading]) -> None:
        self._read = read
        self._watcher = Watcher()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._reading: Future[Reading] | None = None
        self._scene = 0
        """The scene that is being read."""

    @property
    def watched(self) -> Watched:
        """What is known of the table."""
        return self._watcher.watched

    def see(self, at: float, picture: Picture) -> Watched:
        """Take in a frame, BGR, shape (height, width, 3), uint8, taken at `at` seconds of any clock.

        Raises PictureError for an array that is no picture; then nothing has changed. What the reader raises passes
        through, and the next frame is read anew.
        """
        wanted = self._watcher.see(at, sketch(check_frame(picture)))
        if self._reading is not None and self._reading.done():
            done, self._reading = self._reading, None
            if self._scene == self._watcher.scene:
                self._watcher.take(done.result())
        elif wanted and self._reading is None:
            self._scene = self._watcher.scene
            self._reading = self._reader.submit(self._read, picture)
        return self.watched

    def lose(self) -> Watched:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
