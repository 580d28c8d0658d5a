"""How long after the last hand a tray is told: counted in frames and readings, on a simulated clock."""

from dataclasses import dataclass

import pytest

from tests.vision.live.tables import FULL, reading
from vision.errors import PictureError
from vision.geometry import Picture
from vision.live.cameras import open_camera
from vision.live.stream import Stream
from vision.live.watcher import Stir, Watched
from vision.reader import read_picture
from vision.reading import Reading
from vision.twins.world import TrayTwin, deal_tiles

FPS = 10
COME, GONE = 5, 9  # the first frames with the hand, and without it


@dataclass
class Clock:
    """Milliseconds; a reading takes some."""

    now: int = 0


def hand_moves(world: TrayTwin, frame: int) -> None:
    """A hand comes in with frame `COME`, moves with every frame, and is gone with frame `GONE`."""
    world.cover(covered=COME <= frame < GONE, at=0.2 + 0.05 * frame)


@pytest.mark.parametrize(("reader_ms", "most_ms"), [(0, 300), (100, 300), (400, 1000)])
def test_a_tray_is_told_soon_after_the_last_hand(reader_ms: int, most_ms: int) -> None:
    clock, world = Clock(), TrayTwin(deal_tiles(3))

    def read(_: Picture) -> Reading:
        clock.now += reader_ms
        return reading(FULL)

    stream = Stream(read)
    with open_camera("sim://tray?seed=2&width=640&height=360", world=world) as camera:
        watched, last = stream.watched, -1
        while clock.now < 4000 and not (watched.stir is Stir.SETTLED and watched.at * FPS >= GONE):
            frame = clock.now * FPS // 1000  # the newest frame: those that came while one was read are left out
            if frame > last:
                hand_moves(world, frame)
                watched, last = stream.see(frame / FPS, camera.frame()), frame
            clock.now += 0 if clock.now * FPS // 1000 > last else 10
    assert clock.now - GONE * 1000 // FPS <= most_ms


def test_with_the_real_reader_a_hand_that_passes_changes_nothing_and_costs_two_readings() -> None:
    world, costs = TrayTwin(deal_tiles(5)), []

    def read(picture: Picture) -> Reading:
        costs.append(1)
        return read_picture(picture)

    stream, told = Stream(read), list[tuple[Stir, Reading | None]]()
    with open_camera("sim://tray?seed=2&noise=3", world=world) as camera:
        for frame in range(16):
            hand_moves(world, frame)
            watched: Watched = stream.see(frame / FPS, camera.frame())
            told.append((watched.stir, watched.shown))
    rows = tuple(tuple(tile.serial if tile else None for tile in row) for row in world.view.rows)
    assert {shown.rows for _, shown in told if shown is not None} == {rows}
    assert [stir for stir, _ in told[2:COME]] == [Stir.SETTLED] * 3
    assert [stir for stir, _ in told[COME : GONE + 1]] == [Stir.MOVING] * (GONE + 1 - COME)
    assert [stir for stir, _ in told[GONE + 1 :]] == [Stir.SETTLING, *[Stir.SETTLED] * 5]
    assert len(costs) == 4


def test_a_frame_that_is_no_picture_changes_nothing() -> None:
    stream = Stream(read_picture)
    before = stream.watched
    with pytest.raises(PictureError):
        stream.see(1.0, "no picture")  # type: ignore[arg-type]  # what a driver may give
    assert stream.watched is before
