"""Real MicroPython in its own process, controlled line by line."""

import json
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final, Self

from firmware.sim.pico import SimulatedPico
from tests.patience import PATIENCE_S

HERE: Final = Path(__file__).parent
INSTALLED: Final = HERE / "node_modules" / ".package-lock.json"

AT_ONCE: Final = 20
"""Steps in one command. More would fill the box's memory, as garbage is collected only between commands."""


class MicroPython:
    """The process. Its boxes are numbered."""

    def __init__(self, flashed: Path) -> None:
        """Start it with the files of a flashed box."""
        assert INSTALLED.exists(), f"MicroPython for the tests is not installed: npm ci --prefix {HERE}"
        self._process = subprocess.Popen(
            ["node", str(HERE / "run.mjs"), str(flashed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.numbers = count(1)

    def ask(self, name: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON
        """Run one command of `serve.py`. Raises AssertionError with MicroPython's exception."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([name, *arguments]) + "\n")
        process.stdin.flush()
        word, result = json.loads(process.stdout.readline())
        assert word == "ok", result
        return result

    def start(self, ticks_us: Callable[[], int], boot: int, closed: tuple[int, ...] = ()) -> "RealBox":
        """Return a newly started box."""
        return RealBox(self, ticks_us, boot, closed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        assert self._process.stdout is not None
        self._process.stdout.close()


class RealBox:
    """The flashed program, running in MicroPython."""

    def __init__(
        self, micropython: MicroPython, ticks_us: Callable[[], int], boot: int, closed: tuple[int, ...]
    ) -> None:
        self._micropython, self._ticks_us, self._number = micropython, ticks_us, next(micropython.numbers)
        self._ask("start", boot, closed)

    def _ask(self, name: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON
        return self._micropython.ask(name, self._number, self._ticks_us(), *arguments)

    def turn(self, incoming: bytes = b"") -> bytes:
        """Run the main loop once."""
        return bytes.fromhex(self._ask("turn", incoming.hex()))

    def touch(self, seat: int, closed: int) -> None:
        """Move a contact."""
        self._ask("touch", seat, closed)

    def lamps(self) -> list[int]:
        """Return which lamps are lit."""
        lit: list[int] = self._micropython.ask("lamps", self._number)
        return lit


class RecordedBox:
    """A box in CPython that records its steps and results, to repeat them in MicroPython."""

    def __init__(self, ticks_us: Callable[[], int], boot: int, closed: tuple[int, ...]) -> None:
        self._ticks_us, self._now = ticks_us, ticks_us()
        self._pico = SimulatedPico(lambda: self._now, boot, closed)
        self._steps: list[tuple[object, ...]] = [("start", self._now, boot, closed)]
        self._said: list[object] = [None]

    def turn(self, incoming: bytes = b"") -> bytes:
        """Run the main loop once."""
        self._now = self._ticks_us()
        said = self._pico.turn(incoming)
        self._note(said.hex(), "turn", self._now, incoming.hex())
        return said

    def touch(self, seat: int, closed: int) -> None:
        """Move a contact."""
        self._now = self._ticks_us()
        self._pico.touch(seat, closed)
        self._note(None, "touch", self._now, seat, closed)

    def lamps(self) -> list[int]:
        """Return which lamps are lit."""
        lit = self._pico.lamps()
        self._note(lit, "lamps")
        return lit

    def _note(self, said: object, *step: object) -> None:
        self._steps.append(step)
        self._said.append(said)

    def repeat_in(self, micropython: MicroPython) -> None:
        """Repeat the steps in MicroPython. Raises AssertionError if a result differs."""
        number = next(micropython.numbers)
        for at in range(0, len(self._steps), AT_ONCE):
            said = micropython.ask("repeat", number, self._steps[at : at + AT_ONCE])
            assert said == self._said[at : at + AT_ONCE]
