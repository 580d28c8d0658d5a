"""The pins that the four buttons are wired to, checked against the header of a Raspberry Pi.

`east=5,south=6,west=13,north=19` are contacts that close when pressed. `east=5/17` adds a lamp on GPIO17, and
`east=5+12/17` a second contact that opens when pressed, which distinguishes an unplugged cable from an idle button.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from gpiozero.pins.pi import PiBoardInfo

from firmware.errors import BadAddress, PinInUse, PinReserved
from firmware.reports import SEATS, Seat

REVISIONS: Final[Mapping[str, int]] = {"4B": 0xC03111, "5B": 0xD04170}
"""Revision codes of the supported boards, by gpiozero's model name. Their headers are identical."""

RESERVED: Final[Mapping[int, str]] = dict.fromkeys(
    (0, 1), "the identification chip of a board put on top (ID_SD, ID_SC)"
)
"""BCM numbers that no button may use: the Pi itself communicates on them at startup."""


@dataclass(frozen=True, slots=True)
class PinFunction:
    """An alternative function of pins. `signs` are files that exist while it is on, by model; `off` disables it."""

    name: str
    pins: frozenset[int]
    signs: Mapping[str, str]
    off: str

    def is_on(self, model: str, root: Path) -> bool:
        """Return whether the function is on. For an unknown model the answer is no."""
        return model in self.signs and (root / self.signs[model]).exists()


def _both(sign: str) -> Mapping[str, str]:
    return dict.fromkeys(REVISIONS, sign)


PIN_FUNCTIONS: Final = (
    PinFunction("I2C", frozenset((2, 3)), _both("dev/i2c-1"), "dtparam=i2c_arm=off"),
    PinFunction("SPI", frozenset(range(7, 12)), _both("dev/spidev0.0"), "dtparam=spi=off"),
    PinFunction(
        "serial console",
        frozenset((14, 15)),
        {"4B": "dev/serial0", "5B": "dev/ttyAMA0"},  # on a Pi 5, serial0 is the connector between the HDMI sockets
        "enable_uart=0 (on a Pi 5 dtparam=uart0=off)",
    ),
)


@dataclass(frozen=True, slots=True)
class HeaderPin:
    """One pin: position 1 to 40, its name ("GPIO5", "GND", "3V3", "5V"), and its BCM number if it has one."""

    position: int
    name: str
    gpio: int | None

    @property
    def also(self) -> str:
        """The pin's other functions, as text; empty if it has none."""
        if self.gpio is None:
            return ""
        names = [function.name for function in PIN_FUNCTIONS if self.gpio in function.pins]
        return RESERVED.get(self.gpio) or ", ".join(names)


def header(model: str = "5B") -> tuple[HeaderPin, ...]:
    """Return the header's pins by position."""
    pins = PiBoardInfo.from_revision(REVISIONS[model]).headers["J8"].pins
    return tuple(_pin(position, pins[position].name) for position in sorted(pins))


def _pin(position: int, name: str) -> HeaderPin:
    return HeaderPin(position, name, int(name[4:]) if name.startswith("GPIO") else None)


HEADER: Final = header()
BY_GPIO: Final[Mapping[int, HeaderPin]] = {pin.gpio: pin for pin in HEADER if pin.gpio is not None}


def ground_beside(position: int) -> int:
    """Return the ground pin nearest to a position: first by rows, then across."""
    grounds = [pin.position for pin in HEADER if pin.name == "GND"]
    return min(grounds, key=lambda one: (abs((one - 1) // 2 - (position - 1) // 2), (one - position) % 2, one))


def pins_in_use(pins: Iterable[int], model: str, root: Path = Path("/")) -> list[str]:
    """Describe each of these pins that has an alternative function switched on, and how to switch it off."""
    return [
        f"GPIO{pin} belongs to {function.name} here: {function.off} in /boot/firmware/config.txt, or another pin"
        for pin in sorted(pins)
        for function in PIN_FUNCTIONS
        if pin in function.pins and function.is_on(model, root)
    ]


_SEAT_WIRING: Final = re.compile(
    r"(?P<seat>[a-z]+)=(?P<closes>[0-9]{1,3})(?:\+(?P<opens>[0-9]{1,3}))?(?:/(?P<lamp>[0-9]{1,3}))?"
)


@dataclass(frozen=True, slots=True)
class SeatPins:
    """BCM numbers of one button: the contact that closes when pressed, the one that opens, the lamp."""

    closes: int
    opens: int | None = None
    lamp: int | None = None

    def used(self) -> dict[str, int]:
        """Return the pins in use, by purpose."""
        named = {"button": self.closes, "second contact": self.opens, "lamp": self.lamp}
        return {what: pin for what, pin in named.items() if pin is not None}


Wiring = Mapping[Seat, SeatPins]
"""All four seats, in the order of SEATS."""


def read_wiring(text: str) -> Wiring:
    """Parse a wiring. Raises BadAddress, PinReserved, PinInUse."""
    found: dict[Seat, SeatPins] = {}
    for part in text.split(","):
        seat, pins = _read_part(part.strip())
        if seat in found:
            raise BadAddress(f"{part.strip()!r}: {seat} is wired twice")
        found[seat] = pins
    if missing := [seat for seat in SEATS if seat not in found]:
        raise BadAddress(f"no pin for {', '.join(missing)}")
    wiring = {seat: found[seat] for seat in SEATS}
    _check(wiring)
    return wiring


def _read_part(part: str) -> tuple[Seat, SeatPins]:
    read = _SEAT_WIRING.fullmatch(part)
    if read is None or read["seat"] not in SEATS:
        raise BadAddress(f"{part!r}: expected one of {', '.join(SEATS)} and pins: east=5, east=5/17 or east=5+12/17")
    opens, lamp = (int(read[name]) if read[name] else None for name in ("opens", "lamp"))
    return cast("Seat", read["seat"]), SeatPins(int(read["closes"]), opens, lamp)


def _check(wiring: Wiring) -> None:
    """Refuse what cannot work on any Pi. Raises BadAddress, PinReserved, PinInUse."""
    users: dict[int, list[str]] = {}
    for seat, pins in wiring.items():
        for what, pin in pins.used().items():
            users.setdefault(pin, []).append(f"{seat}'s {what}")
    for pin, names in users.items():
        if pin not in BY_GPIO:
            raise BadAddress(f"there is no pin GPIO{pin} on the header: 2 to 27")
        if pin in RESERVED:
            raise PinReserved(f"GPIO{pin} ({names[0]}) is kept for {RESERVED[pin]}")
        if len(names) > 1:
            raise PinInUse(f"GPIO{pin} is wired to {' and '.join(names)}")


FULL_WIRING: Final = read_wiring("east=5+12/17,south=6+16/27,west=13+20/22,north=19+21/23")
"""Two contacts and a lamp for each seat, as in docs/wiring.md, on pins without another function."""
