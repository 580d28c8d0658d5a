"""The demo's event, made once for many tests, as playing its hands takes a second."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from broker.event.movement import NumberedPlay
from broker.sim.demo_event import make_event

MakeEvent = Callable[[Path, int], tuple[NumberedPlay, ...]]
"""Writes an event with a number of rounds into a folder, and returns its plays."""


def maker(originals: Path) -> MakeEvent:
    """Return a function that copies events; each is made on first use."""

    @cache
    def made(rounds: int) -> tuple[Path, tuple[NumberedPlay, ...]]:
        folder = originals / f"{rounds} rounds"
        return folder, make_event(folder, rounds=rounds, seed=20)

    def put(folder: Path, rounds: int) -> tuple[NumberedPlay, ...]:
        original, bookings = made(rounds)
        shutil.copytree(original, folder, dirs_exist_ok=True)
        return bookings

    return put


def exchange_two_tiles(folder: Path, number: int) -> None:
    """Exchange two tiles of different faces in a deal of `deals.json`, which stays valid."""
    deals = json.loads((folder / "deals.json").read_text(encoding="utf-8"))
    (deal,) = (one for one in deals if one["number"] == number)
    east, south = deal["faces"]["east"], deal["faces"]["south"]
    other = next(at for at, face in enumerate(south) if face != east[0])
    east[0], south[other] = south[other], east[0]
    (folder / "deals.json").write_text(json.dumps(deals), encoding="utf-8")
