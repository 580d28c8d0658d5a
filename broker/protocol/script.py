"""What the people at a simulated table do: a JSON file written by the demo and read by a simulated kiosk."""

from msgspec import Struct

from broker.protocol.facts import LaidSeat
from broker.protocol.types import RiichiEvent, Seat, WinKind


class TrayMistake(Struct, frozen=True, forbid_unknown_fields=True):
    """A mistake in laying one tray: two tiles are swapped. Positions are (row, column)."""

    seat: Seat
    one: tuple[int, int]
    other: tuple[int, int]


class ScriptedPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """The course of one play."""

    round: int
    win: WinKind
    winners: dict[Seat, int] = {}
    discarder: Seat | None = None
    false_hu: dict[Seat, int] = {}
    """Seats that falsely declare hu before the play ends, and the fine for each in IMP."""
    slips: tuple[TrayMistake, ...] = ()
    laid: dict[Seat, LaidSeat] = {}
    """The tiles on the table at the end, if the players keep a record of the play."""


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """All plays of one table, or the hands of its riichi session. `reaction_ms`: how long people take to react."""

    plays: tuple[ScriptedPlay, ...] = ()
    reaction_ms: int = 1200
    hands: tuple[RiichiEvent, ...] = ()
    """How each hand of a session ends, including who declared `riichi` before. The session is stopped after the last
    one."""
    pin: str = ""
    """PIN with which the arbiter is let in to rule a hu false."""

    def course(self, round_: int) -> ScriptedPlay | None:
        """Return the course of one play."""
        return next((course for course in self.plays if course.round == round_), None)
