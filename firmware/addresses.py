"""Buttons by their address in the configuration.

`gpio:east=5,south=6,west=13,north=19` names the pins (BCM numbers) of a Pi; `sim://buttons?bounces=2&seed=7`
is a twin with the same code behind it, whose `fingers` press.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from firmware.buttons import OnPress, SeatButtons
from firmware.errors import BadAddress, PinInUse
from firmware.twins.fingers import Fingers

SEATS: Final = ("east", "south", "west", "north")

GPIO_PINS: Final = range(2, 28)
"""The BCM numbers on the header of every 40-pin Pi."""

FINGERS: Final = {"bounces": 2, "hold_ms": 120, "seed": 0}
"""What can be said of simulated fingers, and what is taken where it is not."""

NUMBER: Final = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class OpenedButtons:
    """The buttons, and the fingers of their twin where they are simulated."""

    buttons: SeatButtons
    fingers: Fingers | None


def open_buttons(address: str, on_press: OnPress) -> OpenedButtons:
    """Open what an address names. Raises BadAddress, PinInUse, DeviceMissing."""
    scheme, _, rest = address.partition(":")
    if scheme == "gpio":
        return OpenedButtons(SeatButtons(pins_of(rest), on_press), None)
    if scheme == "sim" and rest.partition("?")[0] == "//buttons":
        fingers = _fingers(address)
        return OpenedButtons(SeatButtons(fingers.pins, on_press, factory=fingers.factory), fingers)
    raise BadAddress(f"{address!r} is no address of buttons: gpio:east=5,... or sim://buttons")


def _fingers(address: str) -> Fingers:
    options = dict(FINGERS)
    for key, value in parse_qsl(urlsplit(address).query, keep_blank_values=True):
        if key not in FINGERS:
            raise BadAddress(f"{address!r}: no setting {key!r}; there are {', '.join(FINGERS)}")
        if not NUMBER.fullmatch(value):
            raise BadAddress(f"{address!r}: {key} is no number of at most six digits")
        options[key] = int(value)
    return Fingers(bounces=options["bounces"], hold_s=options["hold_ms"] / 1000, seed=options["seed"])


def pins_of(text: str) -> dict[str, int]:
    """Read `east=5,south=6,west=13,north=19`. Raises BadAddress, PinInUse."""
    pins: dict[str, int] = {}
    for part in text.split(","):
        seat, _, number = part.strip().partition("=")
        if seat not in SEATS or seat in pins or not NUMBER.fullmatch(number):
            raise BadAddress(f"{part.strip()!r}: expected one of {', '.join(SEATS)}, each once, and a pin number")
        if int(number) not in GPIO_PINS:
            raise BadAddress(f"there is no pin GPIO{number} on the header: 2 to 27")
        pins[seat] = int(number)
    if missing := [seat for seat in SEATS if seat not in pins]:
        raise BadAddress(f"no pin for {', '.join(missing)}")
    for seat, pin in pins.items():
        if sharing := [other for other in pins if pins[other] == pin and other != seat]:
            raise PinInUse(f"GPIO{pin} is wired to {seat} and {', '.join(sharing)}")
    return pins
