"""Input pins whose edges are timed by the kernel, through gpiozero.

gpiozero's own `Button` reads the clock when its callback runs, and keeps a thread a button. What lgpio's pins hand on
(`Pin.when_changed`: ticks and level) is the kernel's time stamp of the edge, on CLOCK_MONOTONIC; so is `ticks()` of
gpiozero's local pins. lgpio's debounce is left alone: it compares that stamp with the time of day
(github.com/joan2937/lg/issues/19).
"""

import os
from collections.abc import Callable
from typing import Final

import gpiozero
from gpiozero.pins import Factory

from firmware.errors import DeviceMissing

NS: Final = 1_000_000_000

OnEdge = Callable[[int, bool], None]
"""Time of the edge in ns of our clock, and whether the contact is closed since."""


def kernel_pins() -> Factory:
    """Give the pins of this machine: lgpio's, unless somebody chose others. Raises DeviceMissing.

    gpiozero alone would fall back to pins that are timed worse, with a warning that nobody reads.
    """
    try:
        if gpiozero.Device.pin_factory is None and not os.environ.get("GPIOZERO_PIN_FACTORY"):
            from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415 - lgpio is there on a Pi only

            gpiozero.Device.pin_factory = LGPIOFactory()
        gpiozero.Device.ensure_pin_factory()
    except Exception as error:  # noqa: BLE001 - lgpio's own error derives from Exception alone
        raise DeviceMissing(f"no pins here: {error}") from None
    return gpiozero.Device.pin_factory


def offset_ns(factory: Factory, clock_ns: Callable[[], int]) -> int:
    """Give what to add to the ticks of pins, in ns, to have our clock.

    One number for all pins and for good: were it measured anew for each edge, two edges could change their order.
    """
    trials: list[tuple[int, int]] = []
    for _ in range(5):
        before, ticks, after = clock_ns(), factory.ticks(), clock_ns()
        trials.append((after - before, (before + after) // 2 - round(ticks * NS)))
    _, offset = min(trials)
    return offset


class Line:
    """One contact between a pin and ground: closed is low, the Pi's own resistor pulls up."""

    def __init__(self, pin: int, factory: Factory, offset: int, on_edge: OnEdge) -> None:
        self._offset, self._on_edge = offset, on_edge
        self._device = gpiozero.InputDevice(pin, pull_up=True, pin_factory=factory)
        self._device.pin.edges = "both"
        self._device.pin.when_changed = self._changed

    def _changed(self, ticks: float, level: int) -> None:
        self._on_edge(round(ticks * NS) + self._offset, not level)

    @property
    def is_closed(self) -> bool:
        """Where the contact is now. An edge may be on its way that was not told yet."""
        return bool(self._device.is_active)

    def close(self) -> None:
        """Let the pin go; may be called twice."""
        if not self._device.closed:
            self._device.pin.when_changed = None
            self._device.close()
