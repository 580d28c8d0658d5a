"""Boxes in CPython and in real MicroPython."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.sim.pico import SimulatedPico
from tests.firmware.box.world import Start
from tests.firmware.micropython.flashed import flash
from tests.firmware.micropython.process import MicroPython


@pytest.fixture(scope="session")
def flashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the files that are on a box."""
    return flash(tmp_path_factory.mktemp("box"))


@pytest.fixture(scope="session")
def micropython(flashed: Path) -> Iterator[MicroPython]:
    with MicroPython(flashed) as process:
        yield process


@pytest.fixture(params=["cpython", "micropython"])
def start(request: pytest.FixtureRequest) -> Start:
    if request.param == "cpython":
        return SimulatedPico
    process: MicroPython = request.getfixturevalue("micropython")
    return process.start
