"""Fingers on the contacts of a simulated button box: they bounce when they close and when they open."""

import random
import time
from collections.abc import Callable, Iterable
from typing import Final

from firmware.reports import Seat
from firmware.twins.box import BoxTwin

NS: Final = 1_000_000_000

BOUNCE_NS: Final = 1_000_000
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
        stuck: Iterable[Seat] = (),
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.box, self.stuck = box, set(stuck)
        """Buttons in `stuck` stay down once pressed."""
        self._bounces, self._hold_s, self._sleep, self._clock_ns = bounces, hold_s, sleep, clock_ns
        self._random = random.Random(seed)  # noqa: S311 - a twin's shaking hand, no secret

    def press(self, seat: Seat, hold_s: float | None = None) -> None:
        """Press one button and let it go."""
        at = self._move(seat, self._clock_ns(), closed=True)
        if seat not in self.stuck:
            at = self._move(seat, at + round((self._hold_s if hold_s is None else hold_s) * NS), closed=False)
        self._sleep((at - self._clock_ns()) / NS)

    def call(self, seat: Seat) -> None:
        """Call the arbiter: the long press."""
        self.press(seat, LONG_S)

    def _move(self, seat: Seat, at: int, *, closed: bool) -> int:
        """Change a contact, not cleanly, from a time on; give the time of its last edge."""
        for _ in range(self._random.randint(0, self._bounces)):
            self.box.touch(seat, closed=closed, at=at)
            self.box.touch(seat, closed=not closed, at=at + BOUNCE_NS)
            at += 2 * BOUNCE_NS
        self.box.touch(seat, closed=closed, at=at)
        return at
