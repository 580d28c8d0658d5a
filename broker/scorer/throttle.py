"""How often a thing is made that shows all of a large event."""

from collections.abc import Callable
from typing import Final

REST: Final = 9
"""So many times as long as it took a thing rests that takes the longer the larger an event is."""

LONGEST_REST_S: Final = 30.0


class Throttle:
    """Lets a thing that was asked for happen at most once in `pause_s`, and in a tenth of the time; 0: each time."""

    def __init__(self, pause_s: float, seconds: Callable[[], float], spent: Callable[[], float] | None = None) -> None:
        """`spent`: the processor time (s) of who does it; None: as `seconds`.

        A thing that is waited for is measured by it: on a busy machine it would take longer, and then rest longer too.
        """
        self._pause_s, self._seconds, self._spent = pause_s, seconds, spent or seconds
        self._earliest = self._began = 0.0
        self.waiting = False

    def ask(self) -> None:
        """Ask for it."""
        self.waiting = True

    def hurry(self) -> None:
        """Let the next one happen at once."""
        self._earliest = 0.0

    def due(self) -> bool:
        """Return whether it is to happen now; if so, the pause begins."""
        if not self.waiting or self._seconds() < self._earliest:
            return False
        self.waiting, self._began = False, self._spent()
        self._earliest = self._seconds() + self._pause_s if self._pause_s else 0.0
        return True

    def done(self) -> None:
        """Take in that it has happened now."""
        if self._pause_s:
            rest = min(REST * (self._spent() - self._began), LONGEST_REST_S)
            self._earliest = max(self._earliest, self._seconds() + rest)
