"""What people, devices and the scorer do to a table: plain values, so that every run of a day does the same."""

from dataclasses import dataclass
from typing import Final, Literal

from broker.protocol import Assignment, Command, Seat
from kiosk.input.panel import Act

HOUSE_PIN: Final = "4812"

Seen = Literal["right", "swapped", "unread", "strange"]


@dataclass(frozen=True, slots=True)
class Press:
    """A seat button goes down, so many ns after what was before."""

    seat: Seat
    wait: int


@dataclass(frozen=True, slots=True)
class Release:
    """The finger that pressed last lets go."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Hold:
    """The finger that pressed last has held for two seconds."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Tap:
    """A seat button goes down and up again: where a press agrees to something, that is one thing."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys are typed. More than one only where nothing of the first may be kept: a PIN."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """The arbiter chooses on the panel what is to be ruled."""

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
    """The scorer says what is played here."""

    assignment: Assignment


@dataclass(frozen=True, slots=True)
class Receipt:
    """The scorer says that it has all facts up to now."""


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
"""What happens at a table from its first plan on."""
