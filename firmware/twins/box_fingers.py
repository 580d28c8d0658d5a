"""Fingers on the contacts of a simulated button box: they bounce when they close and when they open."""

import random
import time
from collections.abc import Callable
from typing import Final

from firmware.reports import Seat
from firmware.twins.box import BoxTwin

BOUNCE_S: Final = 0.001
"""Between two edges of a bouncing contact."""

LONG_S: Final = 2.2
"""The long press that calls the arbiter."""


class BoxFingers:
    """What four players can do to the buttons of a box. Closing it takes the box away."""

    def __init__(
        self,
        box: BoxTwin,
        *,
        bounces: int = 2,
        hold_s: float = 0.12,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.box = box
        self._bounces, self._hold_s, self._sleep = bounces, hold_s, sleep
        self._random = random.Random(seed)  # noqa: S311 - a twin's shaking hand, no secret

    def press(self, seat: Seat, hold_s: float | None = None) -> None:
        """Press one button and let it go."""
        self._move(seat, closed=True)
        self._sleep(self._hold_s if hold_s is None else hold_s)
        self._move(seat, closed=False)

    def call(self, seat: Seat) -> None:
        """Call the arbiter: the long press."""
        self.press(seat, LONG_S)

    def _move(self, seat: Seat, *, closed: bool) -> None:
        """Change a contact, not cleanly."""
        for _ in range(self._random.randint(0, self._bounces)):
            self.box.touch(seat, closed=closed)
            self._sleep(BOUNCE_S)
            self.box.touch(seat, closed=not closed)
            self._sleep(BOUNCE_S)
        self.box.touch(seat, closed=closed)
