"""Everything about the things in players' hands: `make bench-hands` or `python -m tests.benchmarks.hands [PART...]`.

Parts: `journal` (a press on the disk), `pins` and `box` (presses in order, garbage, a year of the box's clock),
`scanner` (garbage, scans, plugging). The machine and how busy it is stand at the head: figures of a loaded one are its
own, so each part measures its named alternative beside itself.
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
