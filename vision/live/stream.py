"""Frames in, what lies on the table out: the watcher with a still reader behind it."""

from collections.abc import Callable, Iterator

from vision.geometry import Picture
from vision.live.camera import check_frame
from vision.live.feed import Feed, Frame
from vision.live.motion import sketch
from vision.live.watcher import Watched, Watcher
from vision.reading import Reading


class Stream:
    """Reads a table over time; `read` is the still reader. A frame costs a sketch, and at most one still reading."""

    def __init__(self, read: Callable[[Picture], Reading]) -> None:
        self._read = read
        self._watcher = Watcher()

    @property
    def watched(self) -> Watched:
        """What is known of the table."""
        return self._watcher.watched

    def see(self, at: float, picture: Picture) -> Watched:
        """Take in a frame, BGR, shape (height, width, 3), uint8, taken at `at` seconds of any clock.

        Raises PictureError for an array that is no picture; then nothing has changed. What the reader raises passes
        through, and the next frame is read anew.
        """
        if self._watcher.see(at, sketch(check_frame(picture))):
            self._watcher.take(self._read(picture))
        return self.watched

    def lose(self) -> Watched:
        """Take in that the camera was lost."""
        self._watcher.lose()
        return self.watched


def follow(feed: Feed, stream: Stream, timeout: float = 1.0) -> Iterator[tuple[Frame | None, Watched]]:
    """Give what is known after each new frame of a feed, until it ends.

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
