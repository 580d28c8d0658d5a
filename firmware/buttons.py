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
"""A contact bounces for a few ms when it closes and when it opens; no finger presses again within 40 ms."""

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
        """The latest edge of each seat, up or down."""
        self._lock = threading.Lock()
        self._buttons: dict[str, gpiozero.Button] = {}
        try:
            for seat, pin in pins.items():
                self._buttons[seat] = self._wire(seat, pin, factory)
        except Exception as error:  # noqa: BLE001 - lgpio's own error (a busy pin) derives from Exception alone
            self.close()
            raise DeviceMissing(f"hu button at pin {pin} ({seat}): {error}") from None

    def _wire(self, seat: str, pin: int, factory: Factory | None) -> gpiozero.Button:
        button = gpiozero.Button(pin, pull_up=True, pin_factory=factory)
        button.when_pressed = lambda: self._pressed(seat, button)
        button.when_released = lambda: self._released(seat, button)
        return button

    def _pressed(self, seat: str, button: gpiozero.Button) -> None:
        """Report the first edge of a press; the bounces after it, and those of letting go, report nothing."""
        edge = self._edge(button.active_time)
        if self._quiet_before(seat, edge) >= self._debounce_ns:
            self._on_press(seat, edge)

    def _released(self, seat: str, button: gpiozero.Button) -> None:
        """Keep the time only: a contact that opens bounces too, which after a long press would be a second one."""
        self._quiet_before(seat, self._edge(button.inactive_time))

    def _edge(self, ago: float | None) -> int:
        """Give the time of an edge that was so many seconds ago."""
        return self._clock_ns() - int((ago or 0) * NS)

    def _quiet_before(self, seat: str, edge: int) -> int:
        """Take in an edge and give for how long, in ns, there was none before it."""
        with self._lock:
            before = self._last.get(seat, edge - self._debounce_ns)
            self._last[seat] = edge
        return edge - before

    def close(self) -> None:
        """Let the pins go; may be called twice."""
        for button in self._buttons.values():
            button.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
