"""A slow reader holds nothing up, and what it has read of a scene that is over counts for nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import numpy as np
import pytest

from tests.vision.live.tables import FULL, Table, frame, reading
from vision.errors import PictureError
from vision.geometry import Picture
from vision.live.background import BackgroundStream
from vision.live.watcher import Stir, Watched
from vision.reading import Reading

OTHER = FULL.laid(0, 35).laid(34 - 1, 1)


class Slow:
    """A reader that waits until it may say what it was told of the table, and a stream on it."""

    def __init__(self) -> None:
        self.may, self.says, self.reads = Event(), FULL, 0
        self.may.set()
        self.stream = BackgroundStream(self._read)
        self._frames = 0

    def _read(self, _: Picture) -> Reading:
        self.reads += 1
        said = self.says  # what was under the camera when the frame was taken
        assert self.may.wait(60)
        return reading(said)

    def see(self, table: Table, *, wait: bool = True) -> Watched:
        """See one frame; what is being read is waited for, unless the reader is held up."""
        self._frames += 1
        sketch = frame(table, self._frames)
        picture = np.repeat(np.repeat(sketch, 4, axis=0), 4, axis=1)
        watched = self.stream.see(self._frames / 10, np.dstack([picture] * 3))
        if wait:
            self.stream.wait()
        return watched

    def look(self, table: Table, frames: int) -> Watched:
        for _ in range(frames):
            watched = self.see(table)
        return watched


@contextmanager
def slow() -> Iterator[Slow]:
    made = Slow()
    with made.stream:
        try:
            yield made
        finally:
            made.may.set()


def test_a_still_table_settles_as_with_a_reader_that_is_waited_for() -> None:
    with slow() as made:
        watched = made.look(FULL, 8)
        assert (watched.stir, made.reads) == (Stir.SETTLED, 2)
        assert watched.shown is not None
        assert watched.shown.rows == reading(FULL).rows


def test_frames_are_seen_while_a_reading_takes_long_and_only_one_is_read_at_a_time() -> None:
    with slow() as made:
        made.may.clear()
        stirs = [made.see(FULL, wait=False).stir for _ in range(12)]
        assert stirs == [Stir.MOVING, *[Stir.SETTLING] * 11]
        assert made.reads == 1


def test_tiles_that_were_exchanged_during_a_slow_reading_are_never_settled_as_they_lay_before() -> None:
    with slow() as made:
        made.look(FULL, 3)
        made.may.clear()
        made.see(FULL, wait=False)
        made.see(FULL.under(0, 1, 2, 3), wait=False)
        made.says = OTHER
        made.see(OTHER, wait=False)
        made.may.set()
        watched = made.look(OTHER, 8)
        assert watched.stir is Stir.SETTLED
        assert watched.shown is not None
        assert watched.shown.rows == reading(OTHER).rows


def test_what_a_reader_raises_is_raised_and_the_next_frame_read_anew() -> None:
    with slow() as made:
        broken = made.stream._read
        made.stream._read = _breaks
        made.see(FULL)
        made.see(FULL)
        with pytest.raises(PictureError):
            made.see(FULL)
        made.stream._read = broken
        assert made.look(FULL, 6).stir is Stir.SETTLED


def _breaks(_: Picture) -> Reading:
    raise PictureError("torn")
