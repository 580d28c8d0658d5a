"""The button box by its address in the configuration.

`box:/dev/serial/by-id/usb-MicroPython_Board_in_FS_mode_e66...-if00` names a serial device; `sim://box?delay_ms=5&lost=2`
is a twin on a pseudo-terminal, with the same code before and behind it.
"""

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from firmware.box.box import ButtonBox
from firmware.contact import TooShort
from firmware.errors import BadAddress
from firmware.reports import Tell
from firmware.twins.box import BoxTwin
from firmware.twins.box_fingers import BoxFingers
from firmware.twins.fingers import read_seats
from firmware.twins.noise import Faults

FAULTS: Final = tuple(field.name for field in fields(Faults))

ACCIDENTS: Final = {"unplugged_ms": 0, "away_ms": 3000, "reset_ms": 0}

SETTINGS: Final = dict.fromkeys(FAULTS, 0) | ACCIDENTS | {"bounces": 2, "hold_ms": 120, "ppm": 0, "seed": 0}
"""What can be said of a simulated box and its fingers in numbers, and what is taken where it is not."""

STUCK: Final = "stuck"
"""Whose buttons stay down: names of seats."""

NUMBER: Final = re.compile(r"[0-9]{1,6}")


class SimulatedBox(ButtonBox):
    """A box that ends with the program that has opened it."""

    def __init__(self, twin: BoxTwin, tell: Tell, on_short: Callable[[TooShort], None]) -> None:
        self._twin = twin
        super().__init__(str(twin.path), tell, on_short=on_short)

    def close(self) -> None:
        """Let the line go, then take the box away; may be called twice."""
        super().close()
        self._twin.close()


def read_path(rest: str) -> str:
    """Read what comes after `box:`. Raises BadAddress."""
    if not rest.startswith("/") or "\0" in rest:
        raise BadAddress(f"{rest!r} is no path of a serial device: box:/dev/serial/by-id/...")
    return rest


def simulated(address: str) -> BoxFingers:
    """Make the box that `sim://box?...` describes, with the fingers at it. Raises BadAddress."""
    told = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
    try:
        stuck = read_seats(told.pop(STUCK, ""))
    except ValueError as error:
        raise BadAddress(f"{address!r}: {error}") from None
    settings = SETTINGS | {name: _number(address, name, value) for name, value in told.items()}
    faults = Faults(**{name: settings[name] for name in FAULTS})
    twin = BoxTwin(faults, ppm=settings["ppm"], seed=settings["seed"])
    twin.have_accidents(**{name: settings[name] for name in ACCIDENTS})
    return BoxFingers(
        twin, bounces=settings["bounces"], hold_s=settings["hold_ms"] / 1000, stuck=stuck, seed=settings["seed"]
    )


def _number(address: str, name: str, value: str) -> int:
    if name not in SETTINGS:
        raise BadAddress(f"{address!r}: no setting {name!r}; there are {', '.join(sorted((*SETTINGS, STUCK)))}")
    if not NUMBER.fullmatch(value):
        raise BadAddress(f"{address!r}: {name} is no number of at most six digits")
    return int(value)
