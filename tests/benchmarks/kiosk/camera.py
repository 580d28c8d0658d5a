"""Trays and a heap watched at ten pictures a second while hands pass: what looking, reading and drawing take.

The bar is 80 % of a core. A tray is a simulated camera's; a heap is drawn on a board of its own, read and labelled anew
whenever a hand has gone: once in four seconds, and in two where it is being sorted. What is counted is
the processor's time for so many pictures; a machine that is busy with other things does not change it.
"""

import os
import time
from collections.abc import Iterator
from typing import Final

os.environ["SDL_VIDEODRIVER"] = "dummy"

import cv2
import numpy as np

from kiosk.bench import Bench, saw
from kiosk.config import Screen
from kiosk.looking import Looking
from kiosk.screens.shown import Line, in_restoring, shown
from kiosk.screens.window import Window
from kiosk.screens.words import Words
from kiosk.sight import Sight
from kiosk.table.events import TrayChecked
from kiosk.table.state import Phase
from tests.kiosk.tables import TABLE, sitting_in
from vision.geometry import Picture
from vision.live.background import BackgroundStream
from vision.live.cameras import open_camera
from vision.live.feed import Frame
from vision.reader import read_picture
from vision.twins.stamps import stamp
from vision.twins.world import Laid, TrayTwin

SECONDS: Final = 15
A_SECOND: Final = 10
STILL: Final = 25
"""Pictures in which nothing moves, of `ROUND`."""
ROUND: Final = 40


def trays() -> Iterator[Picture]:
    """A tray with two tiles exchanged, and a hand over it from time to time."""
    world = TrayTwin()
    rows = [[*row] for row in sitting_in(Phase.RESTORING).play.order["east"]]
    rows[0][0], rows[1][1] = rows[1][1], rows[0][0]
    world.lay([[Laid(set=1, serial=serial) for serial in row] for row in rows])
    with open_camera("sim://tray", world=world) as camera:
        while True:
            for number in range(ROUND):
                world.cover(covered=number >= STILL, at=number / ROUND)
                yield camera.frame()


def heaps(every: int = ROUND) -> Iterator[Picture]:
    """Sixty tiles face down, and a hand over them in the last of so many pictures."""
    chance = np.random.default_rng(1)
    board = np.full((1080, 1920, 3), (48, 70, 60), dtype=np.uint8)
    for serial in range(1, 61):
        tile = stamp(Laid(1, serial))
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


def share(frames: Iterator[Picture], window: Window) -> tuple[float, int]:
    """Give the share of a core that the kiosk takes for these frames, and how many were shown."""
    sitting, bench, views = sitting_in(Phase.RESTORING), Bench(), 0
    looking = Looking(sitting.play, (800, 330))
    recorded = [frame for frame, _ in zip(frames, range(ROUND), strict=False)]
    with BackgroundStream(read_picture) as stream:
        began, used = time.monotonic(), time.process_time()
        for number in range(SECONDS * A_SECOND):
            now = time.monotonic()
            frame = Frame(number + 1, now, recorded[number % ROUND])
            for seen in looking.see(stream.see(now, frame.picture), frame, sitting.wait(1)):
                if isinstance(seen, TrayChecked):
                    sitting.take(seen)
                elif isinstance(seen, Sight):
                    bench = saw(bench, seen)
            base = shown(TABLE, sitting.table, None, Line(), None)
            views += window.show(in_restoring(base, sitting.table, bench))
            time.sleep(max(0.0, began + (number + 1) / A_SECOND - time.monotonic()))
        return (time.process_time() - used) / SECONDS, views


def main() -> None:
    """Watch both."""
    with Window(Screen(driver="dummy"), Words("en")) as window:
        for name, frames in (("tray", trays()), ("heap of 60", heaps()), ("heap of 60, sorted", heaps(2 * A_SECOND))):
            read_picture(next(frames))  # networks and fonts are loaded
            used, views = share(frames, window)
            print(f"  {name}: {used:.0%} of a core at {A_SECOND} a second; {views} screens drawn in {SECONDS} s")
