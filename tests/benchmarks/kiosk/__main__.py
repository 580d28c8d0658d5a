"""Measure a table's program: `make bench-kiosk` or `python -m tests.benchmarks.kiosk [PART...]`.

Parts: `start` (from the process to the first picture), `killed` (until a table is back), `idle` (share of a core while
nothing happens), `camera` (pictures read and drawn), `touch` (from a finger to the changed picture). Drawing is in
software, on SDL's dummy driver; a Pi's panel adds its own time. The machine's load is printed first, since it delays
everything.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Final

from tests.benchmarks.kiosk import camera, processes, touch
from tests.benchmarks.parts import run

PARTS: Final[Mapping[str, Callable[[], None]]] = {
    "start": processes.start,
    "killed": processes.killed,
    "idle": processes.idle,
    "camera": camera.main,
    "touch": touch.main,
}


if __name__ == "__main__":
    run(PARTS, sys.argv[1:])
