"""The seconds of a play from a first press until its claim window closes, frame by frame, on a clock set by hand.

Everything visible at the table is recorded: the pixels of the real window, when it was drawn, the lamps and the log.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker.i18n import Translator

os.environ["SDL_VIDEODRIVER"] = "dummy"

import pygame
import pytest

from firmware.reports import Health, Held, Lamp, Pressed, Released, Report, Seat
from kiosk.camera.thread import CameraThread
from kiosk.config import ScreenSettings
from kiosk.loop import LoopRound
from kiosk.screens import ScreenWindow
from kiosk.table import Phase
from tests.kiosk.screens.pixels import shown_pixels
from tests.kiosk.standing import Standing, since, standing
from tests.kiosk.tables import HOLD, MS, WINDOW
from vision.cameras.addresses import open_camera

TICK: Final = 100 * MS
"""The loop makes ten rounds for each second of the clock set by hand, as fast as it can."""

FIRST: Final = 2
"""The tick of the first press."""

TICKS: Final = FIRST + WINDOW // TICK
"""Number of ticks until just before the window of the first press closes."""

MINUTE: Final = FIRST + 13
"""The tick at which a minute ends."""

DIM_S: Final = 2
"""Seconds after which the screen dims: within these seconds, or later if something was shown."""

Hands = Mapping[int, tuple[Report, ...]]
"""Reports by tick. Their times are in ns after the beginning."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What can be seen at one tick."""

    pixels: bytes
    drawn: int
    lamps: tuple[tuple[Seat, Lamp], ...]
    log: tuple[str, ...]
    metrics: str = field(compare=False)
    """The metrics of the device."""


def tap(seat: Seat, tick: int, ms: int = 60) -> dict[int, tuple[Report, ...]]:
    """Press and let go within a tick."""
    at = tick * TICK
    return {tick: (Pressed(seat, at), Released(seat, at + ms * MS))}


def hold(seat: Seat, tick: int) -> dict[int, tuple[Report, ...]]:
    """Press until the arbiter is called, and let go half a second later."""
    at, called = tick * TICK, tick + HOLD // TICK
    return {tick: (Pressed(seat, at),), called: (Held(seat, at),), called + 5: (Released(seat, at + HOLD + 5 * TICK),)}


def stuck(seat: Seat, tick: int) -> dict[int, tuple[Report, ...]]:
    """Press and never let go; meanwhile the button is found to be stuck."""
    return {**hold(seat, tick), tick + 25: (Health(f"button-{seat}", "button_stuck"),)}


def chattering(seat: Seat, tick: int) -> dict[int, tuple[Report, ...]]:
    """Press a button whose contact is then found to chatter."""
    at = tick * TICK
    chatters = Health(f"contact-{seat}", "button_chatters")
    return {tick: (chatters, Pressed(seat, at), Released(seat, at + 60 * MS))}


def together(*hands: Hands) -> Hands:
    """Combine these actions."""
    ticks = sorted({tick for one in hands for tick in one})
    return {tick: tuple(report for one in hands for report in one.get(tick, ())) for tick in ticks}


class Watching:
    """Records everything that a table shows and sends."""

    def __init__(self, table: Standing, round_: LoopRound, lamps: list[tuple[Seat, Lamp]]) -> None:
        self.table, self._round, self._lamps = table, round_, lamps
        self.drawn = 0
        self.log: list[str] = []

    def watch(self, hands: Hands, keys: Mapping[int, str]) -> list[Frame]:
        """Let the seconds pass, and return what could be seen."""
        began = self.table.time.now
        return [self._tick(began, tick, hands.get(tick, ()), keys.get(tick)) for tick in range(TICKS)]

    def _tick(self, began: int, tick: int, reports: tuple[Report, ...], key: str | None) -> Frame:
        self.table.time.now = began + (tick + 1) * TICK - 1
        for report in reports:
            self.table.program.report(since(began, report))
        self.table.program.step(timeout=0)
        if key:
            self.table.program.key(key)
        self._round()
        frame = Frame(shown_pixels(), self.drawn, tuple(self._lamps), tuple(self.log), self._metrics())
        self.drawn = 0
        self._lamps.clear()
        self.log.clear()
        return frame

    def _metrics(self) -> str:
        return str([(one.name, one.samples) for one in self.table.program.metrics.collect()])


@contextmanager
def watching(folder: Path, watched: pytest.MonkeyPatch, spares: Sequence[Path] = ()) -> Iterator[Watching]:
    """Bring a table to a play, with everything recorded."""
    lamps: list[tuple[Seat, Lamp]] = []
    with standing(folder, spares=spares) as table, _window(table) as window:
        camera = CameraThread(lambda: open_camera("sim://tray"), table.program.observe, table.time)
        round_ = LoopRound(
            table.program, window, camera, lambda seat, lamp: lamps.append((seat, lamp)), threading.Event()
        )
        made = Watching(table, round_, lamps)
        table.come_to(Phase.PLAYING)
        minute = 60_000 * MS
        table.time.wait(2 * minute - (table.time.now + MINUTE * TICK) % minute)
        round_()
        with _counting(made, watched), _hearing(made):
            lamps.clear()
            yield made


def _window(table: Standing) -> ScreenWindow:
    return ScreenWindow(ScreenSettings(driver="dummy", dim_after_s=DIM_S), Translator("en"), table.time)


@contextmanager
def _counting(made: Watching, watched: pytest.MonkeyPatch) -> Iterator[None]:
    """Count drawing, through every function by which pygame draws."""
    for name in ("flip", "update"):
        watched.setattr(pygame.display, name, _counted(made, getattr(pygame.display, name)))
    yield


def _counted(made: Watching, real: Callable[..., None]) -> Callable[..., None]:
    def draw(*where: object) -> None:
        made.drawn += 1
        real(*where)

    return draw


@contextmanager
def _hearing(made: Watching) -> Iterator[None]:
    """Hear every logger at every level."""

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            made.log.append(record.getMessage())

    ear, root = Ear(level=logging.DEBUG), logging.getLogger()
    level = root.level
    root.addHandler(ear)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(ear)
        root.setLevel(level)
