"""Open buttons by their address in the configuration.

`gpio:east=5,south=6,west=13,north=19` names the pins (BCM numbers) of a Pi (`wiring.py` describes the syntax);
`sim://buttons?bounces=2&seed=7` is a simulation with the same code behind it.
`box:/dev/serial/by-id/usb-MicroPython_Board_in_FS_mode_e66...-if00` names the serial device of a button box;
`sim://box?delay_ms=5&lost=2` is a simulated box on a pseudo-terminal, with the same code before and behind it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from firmware.box.box import ButtonBox
from firmware.buttons import SeatButtons, ignore_pulse
from firmware.errors import BadAddress
from firmware.presses import TooShort
from firmware.reports import OnReport
from firmware.sim.box import BoxFingers, BoxSimulator
from firmware.sim.buttons import ButtonFingers, read_seats
from firmware.sim.cable import LineFaults
from firmware.wiring import read_wiring

_FAULTS: Final = tuple(field.name for field in fields(LineFaults))

_ACCIDENTS: Final = {"unplugged_ms": 0, "away_ms": 3000, "reset_ms": 0}

BOX_SETTINGS: Final = dict.fromkeys(_FAULTS, 0) | _ACCIDENTS | {"bounces": 2, "hold_ms": 120, "ppm": 0, "seed": 0}
"""What can be said of a simulated box and its fingers in numbers, and what is taken where it is not."""

_STUCK: Final = "stuck"
"""Whose buttons stay down: names of seats."""

_NUMBER: Final = re.compile(r"[0-9]{1,6}")


class SimulatedBox(ButtonBox):
    """A box that ends with the program that has opened it."""

    def __init__(self, twin: BoxSimulator, tell: OnReport, on_short: Callable[[TooShort], None]) -> None:
        self._twin = twin
        super().__init__(str(twin.path), tell, on_short=on_short)

    def close(self) -> None:
        """Let the line go, then take the box away; may be called twice."""
        super().close()
        self._twin.close()


def box_path(rest: str) -> str:
    """Read what comes after `box:`. Raises BadAddress."""
    if not rest.startswith("/") or "\0" in rest:
        raise BadAddress(f"{rest!r} is no path of a serial device: box:/dev/serial/by-id/...")
    return rest


def simulate_box(address: str) -> BoxFingers:
    """Make the box that `sim://box?...` describes, with the fingers at it. Raises BadAddress."""
    told = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
    try:
        stuck = read_seats(told.pop(_STUCK, ""))
    except ValueError as error:
        raise BadAddress(f"{address!r}: {error}") from None
    settings = BOX_SETTINGS | {name: _box_number(address, name, value) for name, value in told.items()}
    faults = LineFaults(**{name: settings[name] for name in _FAULTS})
    twin = BoxSimulator(faults, ppm=settings["ppm"], seed=settings["seed"])
    twin.have_accidents(**{name: settings[name] for name in _ACCIDENTS})
    return BoxFingers(
        twin, bounces=settings["bounces"], hold_s=settings["hold_ms"] / 1000, stuck=stuck, seed=settings["seed"]
    )


def _box_number(address: str, name: str, value: str) -> int:
    if name not in BOX_SETTINGS:
        raise BadAddress(f"{address!r}: no setting {name!r}; there are {', '.join(sorted((*BOX_SETTINGS, _STUCK)))}")
    if not _NUMBER.fullmatch(value):
        raise BadAddress(f"{address!r}: {name} is no number of at most six digits")
    return int(value)


BUTTON_SETTINGS: Final = {
    "bounces": "2",
    "cut": "",
    "cut_ms": "0",
    "hold_ms": "120",
    "late_ms": "0",
    "seed": "0",
    "sparks": "0",
    "stuck": "",
    "swap": "",
}
"""What can be said of simulated fingers, and what is taken where it is not."""


@dataclass(frozen=True, slots=True)
class OpenedButtons:
    """The buttons, and the fingers of their twin where they are simulated."""

    buttons: SeatButtons | ButtonBox
    fingers: ButtonFingers | BoxFingers | None


def open_buttons(address: str, tell: OnReport, on_short: Callable[[TooShort], None] = ignore_pulse) -> OpenedButtons:
    """Open what an address names. Raises BadAddress, PinInUse, PinReserved, DeviceMissing."""
    scheme, _, rest = address.partition(":")
    if scheme == "gpio":
        return OpenedButtons(SeatButtons(read_wiring(rest), tell, on_short=on_short), None)
    if scheme == "sim" and rest.partition("?")[0] == "//buttons":
        fingers = _simulated_buttons(address)
        buttons = SeatButtons(fingers.wiring, tell, on_short=on_short, factory=fingers.factory)
        return OpenedButtons(buttons, fingers)
    if scheme == "box":
        return OpenedButtons(ButtonBox(box_path(rest), tell, on_short=on_short), None)
    if scheme == "sim" and rest.partition("?")[0] == "//box":
        at_box = simulate_box(address)
        return OpenedButtons(SimulatedBox(at_box.box, tell, on_short), at_box)
    raise BadAddress(f"{address!r} is no address of buttons: gpio:east=5,..., box:/dev/..., sim://buttons or sim://box")


def _simulated_buttons(address: str) -> ButtonFingers:
    told = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
    if unknown := [name for name in told if name not in BUTTON_SETTINGS]:
        raise BadAddress(f"{address!r}: no setting {unknown[0]!r}; there are {', '.join(BUTTON_SETTINGS)}")
    options = BUTTON_SETTINGS | told
    try:
        cut, stuck, swap = (read_seats(options.pop(name)) for name in ("cut", "stuck", "swap"))
    except ValueError as error:
        raise BadAddress(f"{address!r}: {error}") from None
    numbers = {name: _button_number(address, name, value) for name, value in options.items()}
    return ButtonFingers(
        bounces=numbers["bounces"],
        hold_s=numbers["hold_ms"] / 1000,
        late_s=numbers["late_ms"] / 1000,
        sparks=numbers["sparks"],
        seed=numbers["seed"],
        cut=cut,
        cut_s=numbers["cut_ms"] / 1000,
        stuck=stuck,
        swap=swap,
    )


def _button_number(address: str, name: str, value: str) -> int:
    if not _NUMBER.fullmatch(value):
        raise BadAddress(f"{address!r}: {name} is no number of at most six digits")
    return int(value)
