"""How often the window is asked for touches: more often while somebody is at the screen. Pure; times, ns.

A finger that has just touched touches again soon: then rounds of 16 ms would be most of the time between a finger and
the changed picture. It follows from screen and keys alone, never from a seat's button.
"""

from typing import Final

ROUND_S: Final = 1 / 60
"""Between two rounds while nobody is at the screen."""

QUICK_S: Final = 1 / 200

QUICK_FOR_NS: Final = 3_000_000_000


class Pace:
    """One screen's pace."""

    def __init__(self) -> None:
        self._quick_until = 0

    def touched(self, now: int) -> None:
        """Take in that somebody touched the screen or a key."""
        self._quick_until = now + QUICK_FOR_NS

    def pause(self, now: int) -> float:
        """Give the seconds until the next round at the latest."""
        return QUICK_S if now < self._quick_until else ROUND_S
