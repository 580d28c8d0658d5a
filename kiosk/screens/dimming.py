"""When the screen is darker: after a while in which nothing new was shown and nobody touched or typed. Pure; times, ns.

It follows from what is shown, and from fingers on screen and keys, which everybody sees. A seat's button neither wakes
it nor keeps it awake, so it tells of no press. It never locks: the touch that wakes it counts.
"""

from dataclasses import replace
from typing import Final

from kiosk.screens.shown import Shown

S: Final = 1_000_000_000


class Dimming:
    """One screen. `after_s`: seconds until it is darker; 0: never."""

    def __init__(self, after_s: int) -> None:
        self._after = after_s * S
        self._since = 0
        self._said: Shown | None = None

    def shown(self, shown: Shown, now: int) -> None:
        """Take in what is shown; that a minute has passed is nothing new."""
        said = replace(shown, line=replace(shown.line, clock=""))
        if said != self._said:
            self._said, self._since = said, now

    def woken(self, now: int) -> None:
        """Take in that somebody touched the screen or a key."""
        self._since = now

    def dark(self, now: int) -> bool:
        """Say whether it is to be darker now."""
        return 0 < self._after <= now - self._since
