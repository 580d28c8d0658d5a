"""Reports from the devices on the table.

Every device is opened with a callback `on_report`, which receives each report once, on the device's own thread. Times
are ns of this machine's monotonic clock. For a press it is the time of the contact's edge, not that of a callback or of
a byte's arrival.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Seat = Literal["east", "south", "west", "north"]
SEATS: tuple[Seat, ...] = get_args(Seat)

Lamp = Literal["off", "on", "blink"]


@dataclass(frozen=True, slots=True)
class Pressed:
    """A finger has pressed. Reported at once, before it is known how long it will hold."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Released:
    """A finger has let go."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Held:
    """A button was held for two seconds: the player calls the arbiter. `at` is that of the `Pressed` report."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class TooShort:
    """A pulse too short for a finger: its first edge, and the longest time that the contact was closed, in ns."""

    seat: Seat
    at: int
    lasted_ns: int


@dataclass(frozen=True, slots=True)
class Scanned:
    """A scanner has read a tile. `set_text` is the set's letter or two digits, None if the code names no set."""

    serial: int
    set_text: str | None
    at: int


@dataclass(frozen=True, slots=True)
class NotScanned:
    """A scanner has read something that is not one of our tiles; `code` gives the reason, `text` what it read."""

    code: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Health:
    """The condition of a device; `code` is None if it is well.

    `part` is "buttons", "button-east" ..., "contact-east" ... (that button's contact, which chatters), "lamps" or
    "scanner".
    """

    part: str
    code: str | None
    text: str = ""


Report = Pressed | Released | Held | Scanned | NotScanned | Health
OnReport = Callable[[Report], None]
