"""A kiosk started from nothing, as in a hall: `python -m tests.kiosk.cuts.cold FOLDER` reports its first picture.

It writes the first picture and its time to standard output, as a pickle, and ends.
"""

import pickle
import sys
import threading
import time
from pathlib import Path
from typing import Any

from kiosk.command import serve
from kiosk.config import KioskSettings
from kiosk.screens import ScreenView, ScreenWindow


def main(folder: Path) -> None:
    """Start the program, and stop it once it has shown something."""
    stop, told = threading.Event(), list[tuple[ScreenView, int]]()
    real = ScreenWindow.show

    def show(window: ScreenWindow, shown: ScreenView) -> bool:
        new = real(window, shown)
        told.append((shown, time.monotonic_ns()))
        stop.set()
        return new

    setattr(ScreenWindow, "show", show)  # noqa: B010 - mypy knows it for a method
    serve(KioskSettings(folder / "table.toml"), stop)
    first: Any = told[0]
    sys.stdout.buffer.write(pickle.dumps(first))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
