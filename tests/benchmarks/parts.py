"""Run the requested parts of a benchmark, after printing the machine and its load."""

import os
import platform
from collections.abc import Callable, Mapping


def run(parts: Mapping[str, Callable[[], None]], asked: list[str]) -> None:
    """Measure the requested parts, or all; an unknown part ends the program before anything is measured."""
    if unknown := [name for name in asked if name not in parts]:
        raise SystemExit(f"no part {unknown[0]!r}; there are {', '.join(parts)}")
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load}")
    for name in asked or parts:
        print(f"\n{name}", flush=True)
        parts[name]()
