"""A program whose wall clock is off by what a file says: `python -m tests.chaos.clock FILE PROGRAM ARGUMENTS...`.

PROGRAM is `homologue` or a module.

(libfaketime does the same for any program; with it Python's `time.sleep` fails as soon as the monotonic clock is left
alone, as seen with 0.9.10 and Python 3.11.)
"""

import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path


class WallClock:
    """The machine's wall clock, and how far it is off: seconds, in a file that may change at any time."""

    def __init__(self, path: Path, real_ns: Callable[[], int] = time.time_ns) -> None:
        self._path, self._real_ns = path, real_ns

    def off_s(self) -> int:
        """Return how far it is off."""
        try:
            return int(self._path.read_text(encoding="ascii") or 0)
        except OSError:
            return 0

    def time_ns(self) -> int:
        """Return it, as `time.time_ns` does."""
        return self._real_ns() + self.off_s() * 1_000_000_000

    def time(self) -> float:
        """Return it, as `time.time` does."""
        return self.time_ns() / 1e9


def main(file: str, program: str, *arguments: str) -> None:
    """Run a program with that clock."""
    wall = WallClock(Path(file))
    time.time_ns, time.time = wall.time_ns, wall.time  # the whole process has it
    sys.argv = [program, *arguments]
    if program == "homologue":
        from broker.cli.main import homologue  # noqa: PLC0415 - with the clock as it is now

        homologue()
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
