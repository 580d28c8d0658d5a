"""Measure the devices in players' hands: `make bench-hands` or `python -m tests.benchmarks.hands [PART...]`.

Parts: `journal` (from a press to the disk), `pins` and `box` (the order of presses, garbage, a year of the box's
clock), `scanner` (garbage, scans, plugging). The machine and its load are printed first. A busy machine is slow, so
each part measures a named alternative at the same time.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Final

from tests.benchmarks.hands import box, journal, pins, scanner
from tests.benchmarks.parts import run

PARTS: Final[Mapping[str, Callable[[], None]]] = {
    "journal": journal.main,
    "pins": pins.main,
    "box": box.main,
    "scanner": scanner.main,
}


if __name__ == "__main__":
    run(PARTS, sys.argv[1:])
