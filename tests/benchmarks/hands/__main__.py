"""Everything about the things in players' hands: `make bench-hands` or `python -m tests.benchmarks.hands [PART...]`.

Parts: `journal` (a press on the disk), `pins` and `box` (presses in order, garbage, a year of the box's clock),
`scanner` (garbage, scans, plugging). The machine and how busy it is stand at the head: figures of a loaded one are its
own, so each part measures its named alternative beside itself.
"""

import os
import platform
import sys
from collections.abc import Callable, Mapping
from typing import Final

from tests.benchmarks.hands import box, journal, pins, scanner

PARTS: Final[Mapping[str, Callable[[], None]]] = {
    "journal": journal.main,
    "pins": pins.main,
    "box": box.main,
    "scanner": scanner.main,
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
