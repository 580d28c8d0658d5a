"""Run a program with a shifted wall clock: `python -m tests.chaos.clock FILE PROGRAM ARGUMENTS...`.

PROGRAM is `homologue` or a module.

libfaketime could do this for any program, but with it Python's `time.sleep` fails if the monotonic clock is left alone
(seen with 0.9.10 and Python 3.11).
"""

import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path


class WallClock:
    """The machine's wall clock, shifted by the seconds in a file, which may change at any time."""

    def __init__(self, path: Path, real_ns: Callable[[], int] = time.time_ns) -> None:
        self._path, self._real_ns = path, real_ns

    def off_s(self) -> int:
        """Return the shift."""
        try:
            return int(self._path.read_text(encoding="ascii") or 0)
        except OSError:
            return 0

    def time_ns(self) -> int:
        """Return the shifted time, as `time.time_ns` does."""
        return self._real_ns() + self.off_s() * 1_000_000_000

    def time(self) -> float:
        """Return the shifted time, as `time.time` does."""
        return self.time_ns() / 1e9


def main(file: str, program: str, *arguments: str) -> None:
    """Run a program with that clock."""
    wall = WallClock(Path(file))
    time.time_ns, time.time = wall.time_ns, wall.time  # replaces the clock in the whole process
    sys.argv = [program, *arguments]
    if program == "homologue":
        from broker.cli.main import homologue  # noqa: PLC0415 - after the clock was replaced

        homologue()
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
