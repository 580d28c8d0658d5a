"""What the things on a table report.

Every device is opened with a `tell` that takes reports, from the device's own thread; a report is told once. Times are
ns of this machine's monotonic clock: for a press the time of the contact's edge, not that of a callback or of a byte's
arrival.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Seat = Literal["east", "south", "west", "north"]
SEATS: tuple[Seat, ...] = get_args(Seat)

Lamp = Literal["off", "on", "blink"]


@dataclass(frozen=True, slots=True)
class Pressed:
    """A finger has pressed; told at once, for nobody knows yet how long it will hold."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Released:
    """A finger has let go."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Held:
    """A finger has held for two seconds: the player calls the arbiter. `at` is when it pressed, as `Pressed` said."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class TooShort:
    """A pulse that was no finger's: first edge, and for how many ns the contact was closed at the longest."""

    seat: Seat
    at: int
    lasted_ns: int


@dataclass(frozen=True, slots=True)
class Scanned:
    """A scanner has read a tile. `set_text` is the set's letter or two digits, None where the code names no set."""

    serial: int
    set_text: str | None
    at: int


@dataclass(frozen=True, slots=True)
class NotScanned:
    """A scanner has read something that is no tile of ours; `code` says why, `text` what."""

    code: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Health:
    """How a device is: `code` None is well.

    `part` is "buttons", "button-east" ..., "contact-east" ... (that button's contact, which chatters), "lamps" or
    "scanner".
    """

    part: str
    code: str | None
    text: str = ""


Report = Pressed | Released | Held | Scanned | NotScanned | Health
OnReport = Callable[[Report], None]
