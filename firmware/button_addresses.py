"""Open buttons by their address in the configuration.

`gpio:east=5,south=6,west=13,north=19` names the pins (BCM numbers) of a Pi (`wiring.py` describes the syntax);
`sim://buttons?bounces=2&seed=7` simulates them, with the same driver code.
`box:/dev/serial/by-id/usb-MicroPython_Board_in_FS_mode_e66...-if00` names the serial device of a button box;
`sim://box?delay_ms=5&lost=2` is a simulated box on a pseudo-terminal, with the same code on both sides.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints
from urllib.parse import parse_qsl, urlsplit

from firmware.box.box import ButtonBox
from firmware.buttons import SeatButtons, ignore_pulse
from firmware.errors import BadAddress
from firmware.reports import OnReport, TooShort
from firmware.sim.box import BoxFingers, BoxSimulator
from firmware.sim.buttons import ButtonFingers, read_seats
from firmware.sim.cable import LineFaults
from firmware.wiring import read_wiring

Settings = Mapping[str, tuple[int | str, str]]
"""The default of each setting (a text is a list of seats) and its meaning."""

_FINGERS: Final[Settings] = {
    "bounces": (2, "Most bounces of a contact when it closes or opens."),
    "hold_ms": (120, "How long a finger stays down, in ms."),
    "seed": (0, "Seed of the random numbers."),
    "stuck": ("", "Seats whose buttons stay down once pressed: `east,west`."),
}
_FAULTS: Final[Settings] = {
    name: (0, hint.__metadata__[0]) for name, hint in get_type_hints(LineFaults, include_extras=True).items()
}
_ACCIDENTS: Final[Settings] = {
    "unplugged_ms": (0, "The cable is unplugged after this many ms; 0: never."),
    "away_ms": (3000, "How long it stays unplugged, in ms."),
    "reset_ms": (0, "Time between two power cuts, in ms; 0: never."),
}
BOX_SETTINGS: Final[Settings] = {
    **_FINGERS,
    **_FAULTS,
    **_ACCIDENTS,
    "ppm": (0, "How much too fast its clock runs, in ppm."),
}
BUTTON_SETTINGS: Final[Settings] = {
    **_FINGERS,
    "cut": ("", "Seats whose cable is unplugged."),
    "cut_ms": (0, "How long the cable stays unplugged, in ms; 0: for good."),
    "late_ms": (0, "Delay with which edges are delivered, in ms."),
    "sparks": (0, "Most pulses too short for a finger before each press."),
    "swap": ("", "Two seats whose plugs are swapped."),
}

_NUMBER: Final = re.compile(r"[0-9]{1,6}")


def _settings(address: str, known: Settings) -> dict[str, Any]:
    """Return the settings in a simulation's address: numbers and sets of seats. Raises BadAddress."""
    defaults = {name: value for name, (value, _) in known.items()}
    settings: dict[str, Any] = {name: one if isinstance(one, int) else frozenset() for name, one in defaults.items()}
    for name, value in parse_qsl(urlsplit(address).query, keep_blank_values=True):
        if name not in defaults:
            raise BadAddress(f"{address!r}: no setting {name!r}; there are {', '.join(sorted(defaults))}")
        if isinstance(defaults[name], str):
            try:
                settings[name] = read_seats(value)
            except ValueError as error:
                raise BadAddress(f"{address!r}: {error}") from None
        elif _NUMBER.fullmatch(value):
            settings[name] = int(value)
        else:
            raise BadAddress(f"{address!r}: {name} is no number of at most six digits")
    return settings


class SimulatedBox(ButtonBox):
    """A simulated box that ends when it is closed."""

    def __init__(self, box: BoxSimulator, on_report: OnReport, on_short: Callable[[TooShort], None]) -> None:
        self._simulator = box
        super().__init__(str(box.path), on_report, on_short=on_short)

    def close(self) -> None:
        """Close the line, then the simulation. May be called twice."""
        super().close()
        self._simulator.close()


def box_path(rest: str) -> str:
    """Parse the part after `box:`. Raises BadAddress."""
    if not rest.startswith("/") or "\0" in rest:
        raise BadAddress(f"{rest!r} is no path of a serial device: box:/dev/serial/by-id/...")
    return rest


def simulate_box(address: str) -> BoxFingers:
    """Create the box that `sim://box?...` describes, with simulated fingers. Raises BadAddress."""
    values = _settings(address, BOX_SETTINGS)
    faults = LineFaults(**{name: values[name] for name in _FAULTS})
    box = BoxSimulator(faults, ppm=values["ppm"], seed=values["seed"])
    box.schedule_accidents(**{name: values[name] for name in _ACCIDENTS})
    hold_s = values["hold_ms"] / 1000
    return BoxFingers(box, bounces=values["bounces"], hold_s=hold_s, stuck=values["stuck"], seed=values["seed"])


@dataclass(frozen=True, slots=True)
class OpenedButtons:
    """The buttons, and the fingers to press them if they are simulated."""

    buttons: SeatButtons | ButtonBox
    fingers: ButtonFingers | BoxFingers | None


def open_buttons(
    address: str, on_report: OnReport, on_short: Callable[[TooShort], None] = ignore_pulse
) -> OpenedButtons:
    """Open the buttons that an address names. Raises BadAddress, PinInUse, PinReserved, DeviceMissing."""
    scheme, _, rest = address.partition(":")
    if scheme == "gpio":
        return OpenedButtons(SeatButtons(read_wiring(rest), on_report, on_short=on_short), None)
    if scheme == "sim" and rest.partition("?")[0] == "//buttons":
        fingers = _simulated_buttons(address)
        buttons = SeatButtons(fingers.wiring, on_report, on_short=on_short, factory=fingers.factory)
        return OpenedButtons(buttons, fingers)
    if scheme == "box":
        return OpenedButtons(ButtonBox(box_path(rest), on_report, on_short=on_short), None)
    if scheme == "sim" and rest.partition("?")[0] == "//box":
        box_fingers = simulate_box(address)
        return OpenedButtons(SimulatedBox(box_fingers.box, on_report, on_short), box_fingers)
    raise BadAddress(f"{address!r} is no address of buttons: gpio:east=5,..., box:/dev/..., sim://buttons or sim://box")


def _simulated_buttons(address: str) -> ButtonFingers:
    values = _settings(address, BUTTON_SETTINGS)
    return ButtonFingers(
        bounces=values["bounces"],
        hold_s=values["hold_ms"] / 1000,
        late_s=values["late_ms"] / 1000,
        sparks=values["sparks"],
        seed=values["seed"],
        cut=values["cut"],
        cut_s=values["cut_ms"] / 1000,
        stuck=values["stuck"],
        swap=values["swap"],
    )
