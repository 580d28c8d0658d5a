"""Buttons by their address in the configuration.

`gpio:east=5,south=6,west=13,north=19` names the pins (BCM numbers) of a Pi (`wiring.py` has the whole of it);
`sim://buttons?bounces=2&seed=7` is a twin with the same code behind it, whose `fingers` press. `box:...` and `sim://box`
are a button box on a cable, and its twin (`box/address.py`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from firmware.box.address import SimulatedBox, read_path, simulated
from firmware.box.box import ButtonBox
from firmware.buttons import SeatButtons, ignore
from firmware.contact import TooShort
from firmware.errors import BadAddress
from firmware.reports import Tell
from firmware.twins.box_fingers import BoxFingers
from firmware.twins.fingers import Fingers, read_seats
from firmware.wiring import read_wiring

FINGERS: Final = {
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

NUMBER: Final = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class OpenedButtons:
    """The buttons, and the fingers of their twin where they are simulated."""

    buttons: SeatButtons | ButtonBox
    fingers: Fingers | BoxFingers | None


def open_buttons(address: str, tell: Tell, on_short: Callable[[TooShort], None] = ignore) -> OpenedButtons:
    """Open what an address names. Raises BadAddress, PinInUse, PinReserved, DeviceMissing."""
    scheme, _, rest = address.partition(":")
    if scheme == "gpio":
        return OpenedButtons(SeatButtons(read_wiring(rest), tell, on_short=on_short), None)
    if scheme == "sim" and rest.partition("?")[0] == "//buttons":
        fingers = _fingers(address)
        buttons = SeatButtons(fingers.wiring, tell, on_short=on_short, factory=fingers.factory)
        return OpenedButtons(buttons, fingers)
    if scheme == "box":
        return OpenedButtons(ButtonBox(read_path(rest), tell, on_short=on_short), None)
    if scheme == "sim" and rest.partition("?")[0] == "//box":
        at_box = simulated(address)
        return OpenedButtons(SimulatedBox(at_box.box, tell, on_short), at_box)
    raise BadAddress(f"{address!r} is no address of buttons: gpio:east=5,..., box:/dev/..., sim://buttons or sim://box")


def _fingers(address: str) -> Fingers:
    told = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
    if unknown := [name for name in told if name not in FINGERS]:
        raise BadAddress(f"{address!r}: no setting {unknown[0]!r}; there are {', '.join(FINGERS)}")
    options = FINGERS | told
    try:
        cut, stuck, swap = (read_seats(options.pop(name)) for name in ("cut", "stuck", "swap"))
    except ValueError as error:
        raise BadAddress(f"{address!r}: {error}") from None
    numbers = {name: _number(address, name, value) for name, value in options.items()}
    return Fingers(
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


def _number(address: str, name: str, value: str) -> int:
    if not NUMBER.fullmatch(value):
        raise BadAddress(f"{address!r}: {name} is no number of at most six digits")
    return int(value)
