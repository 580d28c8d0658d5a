"""What happens at a simulated table, play by play: read from a JSON file."""

from pathlib import Path

import msgspec
from msgspec import Struct

from broker.contract.riichi import RiichiEvent
from broker.contract.words import Seat, WinKind
from kiosk.errors import BadConfiguration


class Slip(Struct, frozen=True, forbid_unknown_fields=True):
    """A mistake in laying one tray: two places exchanged, as (row, column)."""

    seat: Seat
    one: tuple[int, int]
    other: tuple[int, int]


class Course(Struct, frozen=True, forbid_unknown_fields=True):
    """One play."""

    round: int
    win: WinKind
    winners: dict[Seat, int] = {}
    discarder: Seat | None = None
    false_hu: dict[Seat, int] = {}
    """Who declares falsely before the play ends, and what it costs in IMP."""
    slips: tuple[Slip, ...] = ()


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """All plays of one table, or the hands of its riichi session. `reaction_ms`: how long people take."""

    plays: tuple[Course, ...] = ()
    reaction_ms: int = 1200
    hands: tuple[RiichiEvent, ...] = ()
    """How each hand of a session ends, `riichi` by whom before; after the last one the session is stopped."""
    pin: str = ""
    """By which the arbiter is let in who rules a hu false."""

    def course(self, round_: int) -> Course | None:
        """Give one play's course."""
        return next((course for course in self.plays if course.round == round_), None)


def read_script(path: Path) -> Script:
    """Read a script. Raises BadConfiguration."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Script)
    except (OSError, msgspec.DecodeError) as error:
        raise BadConfiguration(f"{path}: {error}") from None
