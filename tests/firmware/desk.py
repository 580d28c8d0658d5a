"""Four buttons on mock pins, and a clock that stands still until it is told to go."""

from collections.abc import Iterator
from contextlib import contextmanager

import gpiozero.pins.mock
import pytest
from gpiozero.pins.mock import MockFactory

from firmware.buttons import SeatButtons
from firmware.twins.fingers import PINS

MS = 1_000_000


class Clock:
    """Monotonic time in the test's hand. Binary fractions of seconds only, so that floats lose nothing."""

    def __init__(self) -> None:
        self.ns = 4_000_000_000_000

    def seconds(self) -> float:
        """Give the time as gpiozero wants it."""
        return self.ns / 1e9

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.ns += round(seconds * 1e9)


class Late(MockFactory):  # type: ignore[misc] # gpiozero ships no types
    """Pins whose edges are told late: what reads the clock in a callback reads another time than the edge's."""

    def __init__(self, clock: Clock, late_ns: int) -> None:
        super().__init__()
        self._clock, self._late_ns = clock, late_ns

    def ticks(self) -> float:
        """Give the time at which a callback runs."""
        return (self._clock.ns + self._late_ns) / 1e9


class Desk:
    """What a test presses and what came of it."""

    def __init__(self, clock: Clock, late_ns: int = 0) -> None:
        self.clock, self.pressed = clock, list[tuple[str, int]]()
        self.factory = Late(clock, late_ns)
        self.buttons = SeatButtons(
            PINS, self._take, factory=self.factory, clock_ns=lambda: clock.ns + late_ns, debounce_ms=40
        )

    def _take(self, seat: str, edge: int) -> None:
        self.pressed.append((seat, edge))

    def drive(self, seat: str, *edges: tuple[int, int]) -> None:
        """Drive a pin: to each level (0 is pressed) after so many ms."""
        pin = self.factory.pin(PINS[seat])
        for after_ms, level in edges:
            self.clock.ns += after_ms * MS
            pin.drive_high() if level else pin.drive_low()

    def rest(self) -> None:
        """Let all buttons go, and a while pass; forget what was pressed."""
        self.clock.ns += 1000 * MS
        for seat in PINS:
            self.drive(seat, (0, 1))
        self.clock.ns += 1000 * MS
        self.pressed.clear()


@contextmanager
def desk(late_ns: int = 0) -> Iterator[Desk]:
    """Give a desk whose mock pins live in the clock's time. Closing takes gpiozero's threads half a second."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        clock = Clock()
        monkeypatch.setattr(gpiozero.pins.mock, "monotonic", clock.seconds)
        made = Desk(clock, late_ns)
        with made.buttons:
            yield made
