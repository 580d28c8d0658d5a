"""The 40 pins of a Raspberry Pi's header: what each is, and what else than a button it may be needed for.

Where the pins lie is gpiozero's knowledge (`PiBoardInfo`); what the Pi does with them at start and what commonly
switches them over is from Raspberry Pi's documentation ("GPIO and the 40-pin header", "The config.txt file").
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpiozero.pins.pi import PiBoardInfo

REVISIONS: Final[Mapping[str, int]] = {"4B": 0xC03111, "5B": 0xD04170}
"""Revision codes of the boards that we support, by gpiozero's name of the model. Their headers are alike."""

RESERVED: Final[Mapping[int, str]] = dict.fromkeys(
    (0, 1), "the identification chip of a board put on top (ID_SD, ID_SC)"
)
"""BCM numbers that no button may have: the Pi itself talks on them when it starts."""


@dataclass(frozen=True, slots=True)
class Function:
    """What else pins can be switched over to. `signs` are the files that are there when it is on, by model."""

    name: str
    pins: frozenset[int]
    signs: Mapping[str, str]
    off: str

    def is_on(self, model: str, root: Path) -> bool:
        """Say whether it is on here; of a model that we do not know nothing is known."""
        return model in self.signs and (root / self.signs[model]).exists()


def _both(sign: str) -> Mapping[str, str]:
    return dict.fromkeys(REVISIONS, sign)


FUNCTIONS: Final = (
    Function("I2C", frozenset((2, 3)), _both("dev/i2c-1"), "dtparam=i2c_arm=off"),
    Function("SPI", frozenset(range(7, 12)), _both("dev/spidev0.0"), "dtparam=spi=off"),
    Function(
        "serial console",
        frozenset((14, 15)),
        {"4B": "dev/serial0", "5B": "dev/ttyAMA0"},  # serial0 of a Pi 5 is the connector between its HDMI sockets
        "enable_uart=0 (on a Pi 5 dtparam=uart0=off)",
    ),
)


@dataclass(frozen=True, slots=True)
class HeaderPin:
    """One pin: position 1 to 40, its name ("GPIO5", "GND", "3V3", "5V"), and its BCM number where it has one."""

    position: int
    name: str
    gpio: int | None

    @property
    def also(self) -> str:
        """What else it is for, as a text; empty where nothing is."""
        if self.gpio is None:
            return ""
        names = [function.name for function in FUNCTIONS if self.gpio in function.pins]
        return RESERVED.get(self.gpio) or ", ".join(names)


def header(model: str = "5B") -> tuple[HeaderPin, ...]:
    """Give the header's pins by position."""
    pins = PiBoardInfo.from_revision(REVISIONS[model]).headers["J8"].pins
    return tuple(_pin(position, pins[position].name) for position in sorted(pins))


def _pin(position: int, name: str) -> HeaderPin:
    return HeaderPin(position, name, int(name[4:]) if name.startswith("GPIO") else None)


HEADER: Final = header()
BY_GPIO: Final[Mapping[int, HeaderPin]] = {pin.gpio: pin for pin in HEADER if pin.gpio is not None}


def ground_beside(position: int) -> int:
    """Give the ground pin that is nearest to a position, by rows and then across."""
    grounds = [pin.position for pin in HEADER if pin.name == "GND"]
    return min(grounds, key=lambda one: (abs((one - 1) // 2 - (position - 1) // 2), (one - position) % 2, one))


def taken(pins: Iterable[int], model: str, root: Path = Path("/")) -> list[str]:
    """Name each of these pins that is switched over to something else here, and what would switch it back."""
    return [
        f"GPIO{pin} belongs to {function.name} here: {function.off} in /boot/firmware/config.txt, or another pin"
        for pin in sorted(pins)
        for function in FUNCTIONS
        if pin in function.pins and function.is_on(model, root)
    ]
