"""A kiosk as it is started in a hall, from nothing: `python -m tests.kiosk.cuts.cold FOLDER` tells its first picture.

It writes what was shown first, and when, as a pickle on standard output, and ends.
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
    """Start it, and stop it when it has shown something."""
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
