"""A camera on its own thread, lost and reopened. The tests wait for events rather than for time."""

import threading
from pathlib import Path
from queue import Queue
from typing import Any

import cv2
import numpy as np
import pytest

from tests.patience import PATIENCE_S
from vision.cameras.addresses import open_camera
from vision.cameras.camera import Camera, UnmetSetting
from vision.cameras.feed import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    CameraEvent,
    CameraFeed,
    CameraLost,
    CameraOpened,
    pause_after,
)
from vision.errors import CameraMissingError, CameraUnpluggedError, PictureError
from vision.sim.table import SimulatedTable

PICTURE = np.full((4, 6, 3), 90, dtype=np.uint8)


class Scripted(Camera):
    """A camera that returns pictures from a queue, or raises errors from it."""

    def __init__(self, script: "Queue[Any]") -> None:
        super().__init__()
        self._script = script

    def frame(self) -> np.ndarray:
        said = self._script.get(timeout=PATIENCE_S)
        if isinstance(said, Exception):
            raise said
        return said  # type: ignore[no-any-return]  # whatever the test put in


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.feed.pause_after", lambda _: 0.0)


def feed_of(*said: Any) -> tuple[CameraFeed, "Queue[Any]", "Queue[CameraEvent]"]:  # noqa: ANN401 -- pictures, errors, rubbish
    script: Queue[Any] = Queue()
    for one in said:
        script.put(one)
    told: Queue[CameraEvent] = Queue()
    return CameraFeed(lambda: Scripted(script), told.put), script, told


def finish(feed: CameraFeed, script: "Queue[Any]") -> None:
    feed._stopped.set()
    script.put(PICTURE)
    feed.close()


def test_an_unplugged_camera_is_reported_once_and_reopened() -> None:
    out = CameraUnpluggedError("out")
    feed, script, told = feed_of(PICTURE, out, CameraMissingError("gone"), CameraMissingError("gone"), PICTURE)
    with feed:
        codes = [told.get(timeout=PATIENCE_S) for _ in range(4)]
        finish(feed, script)
    assert codes == [
        CameraOpened(()), CameraLost("camera_unplugged", "out"), CameraLost("camera_missing", "gone"), CameraOpened(()),
    ]  # fmt: skip
    assert told.empty()


@pytest.mark.parametrize("rubbish", [None, "text", PICTURE[:, :, 0], PICTURE.astype(float), PICTURE[:0]])
def test_a_frame_that_is_not_a_picture_is_reported_and_the_next_one_taken(rubbish: object) -> None:
    feed, script, told = feed_of(rubbish, PICTURE)
    with feed:
        events = [told.get(timeout=PATIENCE_S) for _ in range(2)]
        finish(feed, script)
    assert [event.code if isinstance(event, CameraLost) else None for event in events] == [PictureError.code, None]


def test_an_error_in_a_driver_does_not_end_the_feed() -> None:
    feed, script, told = feed_of(ZeroDivisionError("driver"), PICTURE)
    with feed:
        events = [told.get(timeout=PATIENCE_S) for _ in range(2)]
        finish(feed, script)
    assert events == [CameraLost("camera_failed", "driver"), CameraOpened(())]


def test_a_hanging_camera_blocks_nobody() -> None:
    feed, script, _ = feed_of()
    with feed:
        assert feed.latest() is None
        assert feed.wait(0, timeout=0.0) is None
        finish(feed, script)


def test_only_the_newest_frame_is_stored_and_frames_are_numbered() -> None:
    feed, script, told = feed_of(PICTURE)
    with feed:
        told.get(timeout=PATIENCE_S)
        first = feed.wait(0, PATIENCE_S)
        script.put(PICTURE + 1)
        second = feed.wait(1, PATIENCE_S)
        finish(feed, script)
    assert first is not None
    assert second is not None
    assert (first.number, second.number, int(second.picture[0, 0, 0])) == (1, 2, 91)
    assert second.at >= first.at


def test_settings_that_were_not_accepted_are_reported() -> None:
    miss = UnmetSetting("focus", 3.0, None)
    script: Queue[Any] = Queue()
    script.put(PICTURE)
    told: Queue[CameraEvent] = Queue()

    def opened() -> Scripted:
        camera = Scripted(script)
        camera.unmet = (miss,)
        return camera

    with CameraFeed(opened, told.put) as feed:
        assert told.get(timeout=PATIENCE_S) == CameraOpened((miss,))
        finish(feed, script)


def test_a_feed_ends_with_its_folder(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), PICTURE)
    with CameraFeed(lambda: open_camera(f"pictures:{tmp_path}?fps=100"), lambda _: None) as feed:
        assert feed.wait(1, PATIENCE_S) is None
        assert (feed.ended, [frame.number for frame in [feed.latest()] if frame]) == (True, [1])


class Exposing(Scripted):
    """A camera with a few exposures, which records the requests."""

    def __init__(self, script: "Queue[Any]", has: range) -> None:
        super().__init__(script)
        self._has, self.asked, self.settling = has, list[int](), 2

    def expose(self, stops: int) -> bool:
        self.asked.append(stops)
        return stops in self._has


def exposures_of(has: range, *wanted: int) -> tuple[list[int | None], list[int]]:
    """Return the exposures of frames, four for each request, and the requests that a camera with `has` received."""
    script: Queue[Any] = Queue()
    camera = Exposing(script, has)
    number, seen = 0, list[int | None]()
    with CameraFeed(lambda: camera, lambda _: None) as feed:
        for stops in wanted:
            feed.expose(stops)
            for _ in range(4):
                script.put(PICTURE)
                frame = feed.wait(number, PATIENCE_S)
                assert frame is not None
                number += 1
                seen.append(frame.exposure)
        finish(feed, script)
    return seen, camera.asked


def test_frames_have_their_exposure_and_none_while_it_changes() -> None:
    seen, asked = exposures_of(range(-2, 3), -1, 0)
    assert seen[:1] in ([0], [None])  # the camera may already be waiting for its first picture
    assert (seen[3], seen[7]) == (-1, 0)
    assert seen[4:7].count(None) == 2
    assert asked == [-1, 0]


def test_a_camera_without_an_exposure_is_asked_once_and_keeps_its_own() -> None:
    seen, asked = exposures_of(range(1), -1)
    assert (set(seen) - {None}, seen[-1], asked) == ({0}, 0, [-1])


def test_a_feed_survives_the_simulated_cables_unplugging() -> None:
    world, told = SimulatedTable(), Queue[CameraEvent]()
    with CameraFeed(lambda: open_camera("sim://tray?width=320&height=180&fps=100", world=world), told.put):
        first = told.get(timeout=PATIENCE_S)
        world.unplug()
        second = told.get(timeout=PATIENCE_S)
        world.unplug(unplugged=False)
        third = told.get(timeout=PATIENCE_S)
    assert [type(event) for event in (first, second, third)] == [CameraOpened, CameraLost, CameraOpened]


def test_closing_ends_the_thread_and_may_be_done_twice() -> None:
    feed, script, _ = feed_of()
    with feed:
        finish(feed, script)
    feed.close()
    assert not any(thread is feed._thread for thread in threading.enumerate())


def test_pauses_grow_to_a_limit() -> None:
    pauses: list[float] = [pause_after(failures) for failures in range(2000)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[1], pauses[-1]) == (0.0, FIRST_PAUSE_S, LONGEST_PAUSE_S)
