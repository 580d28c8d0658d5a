"""The lamps in the buttons. What they show is the kiosk's to say; in a claim window that is: nothing new."""

from collections.abc import Mapping
from typing import Final

import gpiozero
from gpiozero.pins import Factory

from firmware.reports import Lamp, Seat

BLINK_S: Final = 0.5
"""On for so long, then off for so long."""


class Lamps:
    """A lamp for each seat that has one. A lamp between pin and ground is lit when the pin is high."""

    def __init__(self, pins: Mapping[Seat, int], factory: Factory) -> None:
        """Raise what gpiozero and lgpio raise where a pin is not to be had; nothing is kept open then."""
        self._shown: dict[Seat, Lamp] = {}
        self._leds: dict[Seat, gpiozero.LED] = {}
        try:
            for seat, pin in pins.items():
                self._leds[seat] = gpiozero.LED(pin, pin_factory=factory)
        except BaseException:
            self.close()
            raise

    def show(self, seat: Seat, lamp: Lamp) -> None:
        """Show something. What is shown already goes on as it is: a lamp that blinks keeps its beat."""
        led = self._leds.get(seat)
        if led is None or self._shown.get(seat) == lamp:
            return
        self._shown[seat] = lamp
        if lamp == "blink":
            led.blink(BLINK_S, BLINK_S)
        else:
            led.value = lamp == "on"

    def close(self) -> None:
        """Put all lamps out and let their pins go; may be called twice."""
        for led in self._leds.values():
            if not led.closed:
                led.off()
                led.close()
