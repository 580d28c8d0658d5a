"""Measure from a touch to the changed picture (limit: 50 ms for 99 of 100): the program's loop, real mouse events."""

import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, Final

from broker.i18n import Translator

os.environ["SDL_VIDEODRIVER"] = "dummy"

import pygame

from kiosk.camera.thread import CameraThread
from kiosk.config import ScreenSettings
from kiosk.loop import LoopRound
from kiosk.screens import ScreenView, ScreenWindow
from kiosk.table import Phase
from tests.benchmarks.hands.pins import percentile
from tests.kiosk.standing import standing
from vision.cameras.addresses import open_camera

TOUCHES: Final = 200
PATIENCE_S: Final = 2
MOST_REFUSED: Final = 10
"""Touches that may be ignored, and are not timed, because the button had just appeared."""


class Seen(ScreenWindow):
    """A window that records when each picture was shown."""

    def __init__(self, *settings: Any) -> None:  # noqa: ANN401 - passed on unchanged
        super().__init__(*settings)
        self.drawn = threading.Event()
        self.at = 0

    def show(self, shown: ScreenView) -> bool:
        """Show a picture, and record the time."""
        new = super().show(shown)
        if new:
            self.at = time.monotonic_ns()
            self.drawn.set()
        return new


def main() -> None:
    """Touch digits, which only fill in a form, and the call button, which first writes to the disk."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        table = opened.enter_context(standing(Path(folder)))
        window = Seen(ScreenSettings(driver="dummy"), Translator("en"))
        opened.callback(window.close)
        camera = CameraThread(lambda: open_camera("sim://tray"), table.program.observe, table.time)
        table.come_to(Phase.DECLARED)
        stop = threading.Event()
        round_ = LoopRound(table.program, window, camera, lambda *_: None, stop)
        pause = round_()
        boxes = {target.key: target.box.center for target in window._screen.targets(table.program.view())}
        fingers = opened.enter_context(ThreadPoolExecutor(1))
        opened.callback(stop.set)
        touched = fingers.submit(_touch, window, boxes, stop)
        while not stop.is_set():
            table.program.step(timeout=pause)
            pause = round_()
        touched.result()


def _touch(window: Seen, boxes: dict[str, tuple[int, int]], stop: threading.Event) -> None:
    try:
        for name, keys in (("a digit", ("7", "clear")), ("a call", ("c",))):
            found = [_once(window, boxes[keys[number % len(keys)]], number, stop) for number in range(TOUCHES)]
            took = [ms for ms in found if ms is not None]
            if len(found) - len(took) > MOST_REFUSED:
                raise RuntimeError(f"{len(found) - len(took)} of {len(found)} touches showed nothing")
            half, most = percentile(took, 0.5), percentile(took, 0.99)
            print(f"  {name:<8} {half:.0f} ms at the median, {most:.0f} ms p99, {len(found) - len(took)} refused")
    finally:
        stop.set()


def _once(window: Seen, at: tuple[int, int], number: int, stop: threading.Event) -> float | None:
    """Touch a button that has been shown for long enough; return the ms from release to the picture, if one came."""
    if stop.is_set():
        raise RuntimeError("the window was closed")
    time.sleep(0.45 + Random(number).random() / 30)
    for kind in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
        window.drawn.clear()
        began = time.monotonic_ns()
        pygame.event.post(pygame.event.Event(kind, pos=at, button=pygame.BUTTON_LEFT, touch=True))
    return (window.at - began) / 1e6 if window.drawn.wait(PATIENCE_S) else None


if __name__ == "__main__":
    main()
