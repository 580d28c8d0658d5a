"""Boxes in CPython and in real MicroPython."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.firmware.box.world import Start
from tests.firmware.micropython.flashed import flash
from tests.firmware.micropython.process import MicroPython, RecordedBox


@pytest.fixture(scope="session")
def flashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of files on a flashed box."""
    return flash(tmp_path_factory.mktemp("box"))


@pytest.fixture(scope="session")
def micropython(flashed: Path) -> Iterator[MicroPython]:
    with MicroPython(flashed) as process:
        yield process


@pytest.fixture
def start(micropython: MicroPython) -> Iterator[Start]:
    """Return a function that starts boxes in CPython. At the end MicroPython must send the same bytes."""
    boxes: list[RecordedBox] = []

    def begin(ticks_us: Callable[[], int], boot: int, closed: tuple[int, ...] = ()) -> RecordedBox:
        boxes.append(RecordedBox(ticks_us, boot, closed))
        return boxes[-1]

    yield begin
    for box in boxes:
        box.repeat_in(micropython)
