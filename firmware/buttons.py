"""The four silent hu buttons, through gpiozero.

A press is timed by the kernel's edge, not by when a callback runs: gpiozero says how long the pin has been
active, and that is taken off the clock.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, Self

import gpiozero
from gpiozero.pins import Factory

from firmware.errors import DeviceMissing

OnPress = Callable[[str, int], None]
"""Seat, and the time of the edge in ns of the monotonic clock."""

DEBOUNCE_MS: Final = 40
"""A contact that bounces falls and rises within a few ms; no finger presses twice within 40 ms."""

NS: Final = 1_000_000_000


class SeatButtons:
    """Four buttons between a pin and ground, one a seat. Callbacks come on the pins' own threads."""

    def __init__(
        self,
        pins: Mapping[str, int],
        on_press: OnPress,
        *,
        debounce_ms: int = DEBOUNCE_MS,
        factory: Factory | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Raise DeviceMissing where there are no such pins or they belong to somebody else."""
        self._on_press, self._debounce_ns, self._clock_ns = on_press, debounce_ms * 1_000_000, clock_ns
        self._last: dict[str, int] = {}
        self._lock = threading.Lock()
        self._buttons: dict[str, gpiozero.Button] = {}
        try:
            for seat, pin in pins.items():
                self._buttons[seat] = self._wire(seat, pin, factory)
        except (gpiozero.GPIOZeroError, OSError) as error:
            self.close()
            raise DeviceMissing(f"hu button at pin {pin} ({seat}): {error}") from None

    def _wire(self, seat: str, pin: int, factory: Factory | None) -> gpiozero.Button:
        button = gpiozero.Button(pin, pull_up=True, pin_factory=factory)
        button.when_pressed = lambda: self._pressed(seat, button)
        return button

    def _pressed(self, seat: str, button: gpiozero.Button) -> None:
        """Report the first edge of a press; the bounces after it keep its time."""
        edge = self._clock_ns() - int((button.active_time or 0) * NS)
        with self._lock:
            bounced = seat in self._last and edge - self._last[seat] < self._debounce_ns
            self._last[seat] = edge
        if not bounced:
            self._on_press(seat, edge)

    def close(self) -> None:
        """Let the pins go; may be called twice."""
        for button in self._buttons.values():
            button.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
