"""A thread that lets time pass for a pure machine: it sleeps until something is due, or for ever while nothing is."""

import threading
from collections.abc import Callable
from typing import Final

AGAIN_S: Final = 0.001
"""What is due and was not done is tried again after this: an edge was on its way."""

NS: Final = 1_000_000_000


class Ticker:
    """Calls `pass_time` when `due` says so. Who has changed what is due calls `look`."""

    def __init__(
        self, name: str, due: Callable[[], int | None], pass_time: Callable[[], None], clock_ns: Callable[[], int]
    ) -> None:
        self._due, self._pass_time, self._clock_ns = due, pass_time, clock_ns
        self._changed = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def look(self) -> None:
        """Look anew at what is due."""
        self._changed.set()

    def stop(self) -> None:
        """End, and wait for the thread unless this is it; may be called twice, and before the start."""
        self._stopped = True
        self._changed.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            self._changed.clear()
            self._changed.wait(self._left())

    def _left(self) -> float | None:
        """Do what is due, and give for how many seconds there is nothing to do. None: until `look`."""
        when = self._due()
        while when is not None and when <= self._clock_ns() and not self._stopped:
            self._pass_time()
            done, when = when, self._due()
            if when == done:
                return AGAIN_S
        return None if when is None else max(0.0, (when - self._clock_ns()) / NS)
