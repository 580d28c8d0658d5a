"""What a table's program takes: `make bench-kiosk` or `python -m tests.benchmarks.kiosk [PART...]`.

Parts: `start` (process to first picture), `idle` (share of a core while nothing happens), `camera` (pictures read and
drawn), `touch` (a finger to the changed picture). Drawn in software, on SDL's driver that shows nothing; a Pi's panel
adds its own time. How busy the machine was stands at the head: times on the clock suffer from it.
"""

import os
import platform
import sys
from collections.abc import Callable, Mapping
from typing import Final

from tests.benchmarks.kiosk import camera, processes, touch

PARTS: Final[Mapping[str, Callable[[], None]]] = {
    "start": processes.start,
    "idle": processes.idle,
    "camera": camera.main,
    "touch": touch.main,
}


def main(asked: list[str]) -> None:
    """Measure what is asked for, or everything."""
    if unknown := [name for name in asked if name not in PARTS]:
        raise SystemExit(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load}")
    for name in asked or PARTS:
        print(f"\n{name}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
