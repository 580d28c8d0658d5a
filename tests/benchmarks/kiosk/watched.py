"""Run `homologue` and report its first picture: `python -m tests.benchmarks.kiosk.watched kiosk CONFIG`."""

import sys
import time
from typing import Any

from broker.cli.main import homologue


def main() -> None:
    """Run it; the window's module is loaded by the program at its usual time."""

    class Watch:
        """Intercepts the import of the window's module."""

        def find_spec(self, name: str, *_: object) -> None:
            if name == "kiosk.loop":  # imports the window, and is imported after it
                sys.meta_path.remove(self)
                _tell_first_picture()

    sys.meta_path.insert(0, Watch())
    homologue()


def _tell_first_picture() -> None:
    from kiosk.screens.window import ScreenWindow  # noqa: PLC0415 - only when the program imports it

    real, told = ScreenWindow.show, list[bool]()

    def show(self: ScreenWindow, *shown: Any) -> bool:  # noqa: ANN401 - passed on unchanged
        new = real(self, *shown)
        if not told:
            told.append(True)
            print(f"first picture {time.monotonic_ns()} {time.process_time():.3f}", flush=True)
        return new

    setattr(ScreenWindow, "show", show)  # noqa: B010 - mypy knows it as a method


if __name__ == "__main__":
    main()
