"""Which pins the four buttons are on, as the configuration says it, checked against the Pi's header.

`east=5,south=6,west=13,north=19` are contacts that close when pressed. `east=5/17` adds a lamp on GPIO17,
`east=5+12/17` a second contact that opens when pressed: with it a cable that is off can be told from a button that
nobody presses.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from firmware.errors import BadAddress, PinInUse, PinReserved
from firmware.pinout import BY_GPIO, RESERVED
from firmware.reports import SEATS, Seat

PART: Final = re.compile(
    r"(?P<seat>[a-z]+)=(?P<closes>[0-9]{1,3})(?:\+(?P<opens>[0-9]{1,3}))?(?:/(?P<lamp>[0-9]{1,3}))?"
)


@dataclass(frozen=True, slots=True)
class SeatPins:
    """BCM numbers of one button: the contact that closes when pressed, the one that opens, the lamp."""

    closes: int
    opens: int | None = None
    lamp: int | None = None

    def used(self) -> dict[str, int]:
        """Give what each pin is for."""
        named = {"button": self.closes, "second contact": self.opens, "lamp": self.lamp}
        return {what: pin for what, pin in named.items() if pin is not None}


Wiring = Mapping[Seat, SeatPins]
"""All four seats, in the order of SEATS."""


def read_wiring(text: str) -> Wiring:
    """Read a wiring. Raises BadAddress, PinReserved, PinInUse."""
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
    read = PART.fullmatch(part)
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


FULL: Final = read_wiring("east=5+12/17,south=6+16/27,west=13+20/22,north=19+21/23")
"""Two contacts and a lamp for each seat, as docs/wiring.md has it: on pins that are for nothing else."""
