"""The demo's event, made once for many tests: its hands are really played, which takes a second."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from broker.event.movement import NumberedPlay
from broker.sim.demo_event import make_event

MakeEvent = Callable[[Path, int], tuple[NumberedPlay, ...]]
"""Puts an event of so many rounds into a folder, and gives its plays."""


def maker(originals: Path) -> MakeEvent:
    """Return what copies events; each is made when it is first asked for."""

    @cache
    def made(rounds: int) -> tuple[Path, tuple[NumberedPlay, ...]]:
        folder = originals / f"{rounds} rounds"
        return folder, make_event(folder, rounds=rounds, seed=20)

    def put(folder: Path, rounds: int) -> tuple[NumberedPlay, ...]:
        original, bookings = made(rounds)
        shutil.copytree(original, folder, dirs_exist_ok=True)
        return bookings

    return put
