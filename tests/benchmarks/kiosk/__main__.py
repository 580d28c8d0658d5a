"""What a table's program takes: `make bench-kiosk` or `python -m tests.benchmarks.kiosk [PART...]`.

Parts: `start` (process to first picture), `killed` (how soon a table is back), `idle` (share of a core while nothing
happens), `camera` (pictures read and drawn), `touch` (a finger to the changed picture). Drawn in software, on SDL's
driver that shows nothing; a Pi's panel adds its own time. How busy the machine was stands at the head: times
on the clock suffer from it.
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
