"""A table's program from its start until it is told to stop."""

import threading
from collections.abc import Callable

from kiosk.program import Program


def run(program: Program, stop: threading.Event, each_round: Callable[[], float]) -> None:
    """Work until told to stop: a round when a device or the network has something, or when the last one wished it."""
    program.start()
    try:
        pause = 0.0
        while not stop.is_set():
            program.step(timeout=pause)
            pause = each_round()
    finally:
        program.stop()
