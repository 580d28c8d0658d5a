"""The actions of people, devices and the scorer at a table: plain values, so that every run of a day is the same."""

from dataclasses import dataclass
from typing import Final, Literal

from broker.protocol import Assignment, Command, Seat
from kiosk.input.panel import Act

HOUSE_PIN: Final = "4812"

Seen = Literal["right", "swapped", "unread", "strange"]


@dataclass(frozen=True, slots=True)
class Press:
    """A seat button goes down, this many ns after the previous action."""

    seat: Seat
    wait: int


@dataclass(frozen=True, slots=True)
class Release:
    """The last finger that came down lets go."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Hold:
    """The last finger that came down has held for two seconds."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Tap:
    """A seat button goes down and up again, as one action where a press agrees to something."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys are typed; more than one only if nothing of the first may be stored: a PIN."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """The arbiter chooses a ruling on the panel."""

    act: Act


@dataclass(frozen=True, slots=True)
class Look:
    """The camera sees a tray of a round's deal."""

    round: int
    seat: Seat
    seen: Seen = "right"


@dataclass(frozen=True, slots=True)
class Scan:
    """A tile of a round's deal is scanned: the one that belongs at this place of the tray, counted from 0."""

    round: int
    seat: Seat
    place: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The scorer sends a plan."""

    assignment: Assignment


@dataclass(frozen=True, slots=True)
class Receipt:
    """The scorer acknowledges all facts so far."""


@dataclass(frozen=True, slots=True)
class Give:
    """The arbiter's desk gives its next order."""

    seq: int
    command: Command
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class WindowOver:
    """Time passes until the claim window can be closed."""


@dataclass(frozen=True, slots=True)
class Doubted:
    """Time passes until the screen asks whether hu was meant."""


Action = Tap | Press | Release | Hold | Keys | Choose | Look | Scan | Plan | Receipt | Give | WindowOver | Doubted

Day = tuple[Action, ...]
"""The actions at a table from its first plan on."""
