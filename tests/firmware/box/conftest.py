"""Boxes for tests: the same program in CPython and in real MicroPython."""

from collections.abc import Iterator

import pytest

from firmware.twins.pico import Pico
from tests.firmware.box.world import Start
from tests.firmware.micropython.process import MicroPython


@pytest.fixture(scope="session")
def micropython() -> Iterator[MicroPython]:
    with MicroPython() as process:
        yield process


@pytest.fixture(params=["cpython", "micropython"])
def start(request: pytest.FixtureRequest) -> Start:
    if request.param == "cpython":
        return Pico
    process: MicroPython = request.getfixturevalue("micropython")
    return process.start
