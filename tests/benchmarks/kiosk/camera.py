"""Processor time of watching, reading and drawing trays and a heap at ten pictures a second while hands pass.

The limit is 80 % of a core. A tray is a simulated camera's; a heap is drawn, and read again whenever a hand has gone:
once in four seconds, or in two while it is being sorted. Pictures are decoded from JPEG, as from a USB camera.

Measured is this process's processor time, all threads, for a number of pictures, by the pictures' own times; a reading
that was begun is waited for. So a busy machine changes neither the work nor the result; otherwise a slow reader would
be spared readings.
"""

import os
import time
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from broker.i18n import Translator

os.environ["SDL_VIDEODRIVER"] = "dummy"

import cv2
import numpy as np

from kiosk.camera.loop import TrayWatcher
from kiosk.camera.observations import TableObservation
from kiosk.config import ScreenSettings
from kiosk.restoring import Restoring, with_observation
from kiosk.screens import ScreenWindow, StatusLine, screen_view
from kiosk.table import Phase
from kiosk.table.events import TrayChecked
from tests.kiosk.tables import TABLE, sitting_in
from vision.cameras.addresses import open_camera
from vision.cameras.feed import CameraFrame
from vision.geometry import Picture
from vision.live.stream import BackgroundStream
from vision.reader import read_picture
from vision.reading import PictureReading
from vision.sim.scene import tile_stamp
from vision.sim.table import SimulatedTable, SimulatedTile

SECONDS: Final = 15
A_SECOND: Final = 10
STILL: Final = 25
"""Pictures without motion, out of `ROUND`."""
ROUND: Final = 40


def trays() -> Iterator[Picture]:
    """A tray with two exchanged tiles, and a hand over it from time to time."""
    world = SimulatedTable()
    rows = [[*row] for row in sitting_in(Phase.RESTORING).play.order["east"]]
    rows[0][0], rows[1][1] = rows[1][1], rows[0][0]
    world.lay([[SimulatedTile(set=1, serial=serial) for serial in row] for row in rows])
    with open_camera("sim://tray", world=world) as camera:
        while True:
            for number in range(ROUND):
                world.cover(covered=number >= STILL, at=number / ROUND)
                yield camera.frame()


def heaps(every: int = ROUND) -> Iterator[Picture]:
    """Sixty tiles face down, with a hand over them in the last pictures of each period."""
    chance = np.random.default_rng(1)
    board = np.full((1080, 1920, 3), (48, 70, 60), dtype=np.uint8)
    for serial in range(1, 61):
        tile = tile_stamp(SimulatedTile(1, serial))
        spot = (140 + (serial - 1) % 10 * 182, 90 + (serial - 1) // 10 * 178)
        turn = cv2.getRotationMatrix2D((55, 75), float(chance.uniform(0, 360)), 0.8)
        turn = turn + np.array([[0.0, 0.0, spot[0] - 55.0], [0.0, 0.0, spot[1] - 75.0]])
        laid = cv2.warpAffine(tile, turn, (1920, 1080))
        mask = cv2.warpAffine(np.full(tile.shape[:2], 255, dtype=np.uint8), turn, (1920, 1080))
        board[mask > 0] = laid[mask > 0]
    noise = [chance.integers(-3, 4, board.shape, dtype=np.int16) for _ in range(5)]
    while True:
        for number in range(ROUND):
            frame = np.clip(board + noise[number % 5], 0, 255).astype(np.uint8)
            if number % every >= STILL * every // ROUND:
                cv2.ellipse(frame, (number * 40, 800), (180, 420), 0, 0, 360, (140, 170, 220), -1)
            yield frame


class Reader:
    """The reader, with the number of its readings."""

    def __init__(self) -> None:
        self.readings = 0

    def __call__(self, picture: Picture) -> PictureReading:
        """Read a picture."""
        self.readings += 1
        return read_picture(picture)


class Used(NamedTuple):
    """Results for a number of pictures: total processor time, that of decoding, and what was done."""

    whole: float
    unpacking: float
    readings: int
    screens: int


def used(frames: Iterator[Picture], window: ScreenWindow) -> Used:
    """Pass these frames to the kiosk."""
    sitting, restoring, screens, unpacking = sitting_in(Phase.RESTORING), Restoring(), 0, 0.0
    looking, read = TrayWatcher(sitting.play, (800, 330)), Reader()
    sent = [cv2.imencode(".jpg", frame)[1] for frame in islice(frames, ROUND)]
    with BackgroundStream(read) as stream:
        began = time.process_time()
        for number in range(SECONDS * A_SECOND):
            at, before = number / A_SECOND, time.process_time()
            frame = CameraFrame(
                number + 1, at, np.asarray(cv2.imdecode(sent[number % ROUND], cv2.IMREAD_COLOR), np.uint8)
            )
            unpacking += time.process_time() - before
            for seen in looking.see(stream.see(at, frame.picture), frame, sitting.wait(1)):
                if isinstance(seen, TrayChecked):
                    sitting.take(seen)
                elif isinstance(seen, TableObservation):
                    restoring = with_observation(restoring, seen, "")
            view = screen_view(TABLE, sitting.table, None, StatusLine(), None, restoring=restoring)
            screens += window.show(view)
            stream.wait()
        return Used(time.process_time() - began, unpacking, read.readings, screens)


def main() -> None:
    """Measure both."""
    with ScreenWindow(ScreenSettings(driver="dummy"), Translator("en")) as window:
        for name, frames in (("tray", trays()), ("heap of 60", heaps()), ("heap of 60, sorted", heaps(2 * A_SECOND))):
            read_picture(next(frames))  # loads networks and fonts
            took = used(frames, window)
            share, unpacked = took.whole / SECONDS, took.unpacking / SECONDS
            print(
                f"  {name}: {share:.0%} of a core at {A_SECOND} a second, {unpacked:.0%} for unpacking JPEG; ", end=""
            )
            print(f"{took.readings} readings and {took.screens} screens in {SECONDS} s")
