"""Readings over time, in a thread of their own, and how soon they come."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event

import numpy as np
import pytest

from tests.patience import PATIENCE_S
from tests.vision.live.tables import FULL, Table, WaitingStream, frame, reading
from vision.cameras.addresses import open_camera
from vision.errors import PictureError
from vision.geometry import Picture
from vision.live.stream import BackgroundStream
from vision.live.watcher import Stillness, WatchedTable
from vision.reader import read_picture
from vision.reading import PictureReading
from vision.sim.table import SimulatedTable, deal_tiles

OTHER = FULL.laid(0, 35).laid(34 - 1, 1)


class Slow:
    """A stream with a reader that waits until the test lets it return."""

    def __init__(self) -> None:
        self.may, self.says, self.reads = Event(), FULL, 0
        self.may.set()
        self.stream = BackgroundStream(self._read)
        self._frames = 0

    def _read(self, _: Picture) -> PictureReading:
        self.reads += 1
        said = self.says  # the table when the frame was taken
        assert self.may.wait(PATIENCE_S)
        return reading(said)

    def see(self, table: Table, *, wait: bool = True) -> WatchedTable:
        """Process one frame, and wait for its reading unless `wait` is false."""
        self._frames += 1
        sketch = frame(table, self._frames)
        picture = np.repeat(np.repeat(sketch, 4, axis=0), 4, axis=1)
        watched = self.stream.see(self._frames / 10, np.dstack([picture] * 3))
        if wait:
            self.stream.wait()
        return watched

    def look(self, table: Table, frames: int) -> WatchedTable:
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


def test_a_still_table_settles_as_with_a_synchronous_reader() -> None:
    with slow() as made:
        watched = made.look(FULL, 8)
        assert (watched.stillness, made.reads) == (Stillness.SETTLED, 2)
        assert watched.shown is not None
        assert watched.shown.rows == reading(FULL).rows


def test_frames_are_processed_during_a_slow_reading_and_one_is_read_at_a_time() -> None:
    with slow() as made:
        made.may.clear()
        states = [made.see(FULL, wait=False).stillness for _ in range(12)]
        assert states == [Stillness.MOVING, *[Stillness.SETTLING] * 11]
        assert made.reads == 1


def test_tiles_exchanged_during_a_slow_reading_are_never_settled_as_before() -> None:
    with slow() as made:
        made.look(FULL, 3)
        made.may.clear()
        made.see(FULL, wait=False)
        made.see(FULL.under(0, 1, 2, 3), wait=False)
        made.says = OTHER
        made.see(OTHER, wait=False)
        made.may.set()
        watched = made.look(OTHER, 8)
        assert watched.stillness is Stillness.SETTLED
        assert watched.shown is not None
        assert watched.shown.rows == reading(OTHER).rows


def test_a_readers_error_is_raised_and_the_next_frame_read() -> None:
    with slow() as made:
        broken = made.stream._read
        made.stream._read = _breaks
        made.see(FULL)
        made.see(FULL)
        with pytest.raises(PictureError):
            made.see(FULL)
        made.stream._read = broken
        assert made.look(FULL, 6).stillness is Stillness.SETTLED


def _breaks(_: Picture) -> PictureReading:
    raise PictureError("torn")


FPS = 10
COME, GONE = 5, 9  # the first frames with and without the hand


@dataclass
class Clock:
    """Milliseconds from the last hand; a reading takes some of them."""

    now: int = 0


def hand_moves(world: SimulatedTable, frame: int) -> None:
    """A hand appears in frame `COME`, moves in every frame, and is gone in frame `GONE`."""
    world.cover(covered=COME <= frame < GONE, at=0.2 + 0.05 * frame)


@pytest.mark.parametrize(("reader_ms", "most_ms"), [(0, 300), (100, 300), (400, 1000)])
def test_a_tray_is_read_soon_after_the_last_hand(reader_ms: int, most_ms: int) -> None:
    clock, world = Clock(), SimulatedTable(deal_tiles(3))

    def read(_: Picture) -> PictureReading:
        clock.now += reader_ms
        return reading(FULL)

    stream = WaitingStream(read)
    with open_camera("sim://tray?seed=2&width=640&height=360", world=world) as camera:
        watched, last = stream.watched, -1
        while clock.now < 4000 and not (watched.stillness is Stillness.SETTLED and watched.at * FPS >= GONE):
            frame = clock.now * FPS // 1000  # the newest frame, skipping those that came during a reading
            if frame > last:
                hand_moves(world, frame)
                watched, last = stream.see(frame / FPS, camera.frame()), frame
            clock.now += 0 if clock.now * FPS // 1000 > last else 10
    assert clock.now - GONE * 1000 // FPS <= most_ms


def test_a_passing_hand_changes_nothing_and_costs_two_readings() -> None:
    world, costs = SimulatedTable(deal_tiles(5)), []

    def read(picture: Picture) -> PictureReading:
        costs.append(1)
        return read_picture(picture)

    stream, told = WaitingStream(read), list[tuple[Stillness, PictureReading | None]]()
    with open_camera("sim://tray?seed=2&noise=3", world=world) as camera:
        for frame in range(16):
            hand_moves(world, frame)
            watched: WatchedTable = stream.see(frame / FPS, camera.frame())
            told.append((watched.stillness, watched.shown))
    rows = tuple(tuple(tile.serial if tile else None for tile in row) for row in world.view.rows)
    assert {shown.rows for _, shown in told if shown is not None} == {rows}
    assert [stillness for stillness, _ in told[2:COME]] == [Stillness.SETTLED] * 3
    assert [stillness for stillness, _ in told[COME : GONE + 1]] == [Stillness.MOVING] * (GONE + 1 - COME)
    assert [stillness for stillness, _ in told[GONE + 1 :]] == [Stillness.SETTLING, *[Stillness.SETTLED] * 5]
    assert len(costs) == 4


def test_a_frame_that_is_not_a_picture_changes_nothing() -> None:
    with BackgroundStream(read_picture) as stream:
        before = stream.watched
        with pytest.raises(PictureError):
            stream.see(1.0, "no picture")  # type: ignore[arg-type]  # as a driver may do
        assert stream.watched is before
