"""Fingers on gpiozero's mock pins: a contact bounces when it closes and when it opens, as a real one does."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Final

from gpiozero.pins.mock import MockFactory

PINS: Final[Mapping[str, int]] = {"east": 5, "south": 6, "west": 13, "north": 19}

BOUNCE_S: Final = 0.002
"""Between two edges of a bouncing contact."""


class Fingers:
    """What four players can do to four buttons."""

    def __init__(
        self,
        *,
        bounces: int = 2,
        hold_s: float = 0.12,
        seed: int = 0,
        pins: Mapping[str, int] = PINS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.factory = MockFactory()
        self.pins = dict(pins)
        self._bounces, self._hold_s, self._sleep = bounces, hold_s, sleep
        self._random = random.Random(seed)  # noqa: S311 - a twin's shaking hand, no secret

    def press(self, seat: str) -> None:
        """Press one button and let it go."""
        pin = self.factory.pin(self.pins[seat])
        self._bounce(pin.drive_low, pin.drive_high)
        self._sleep(self._hold_s)
        self._bounce(pin.drive_high, pin.drive_low)

    def _bounce(self, there: Callable[[], None], back: Callable[[], None]) -> None:
        """Change a contact, not cleanly."""
        for _ in range(self._random.randint(0, self._bounces)):
            there()
            self._sleep(BOUNCE_S)
            back()
            self._sleep(BOUNCE_S)
        there()
