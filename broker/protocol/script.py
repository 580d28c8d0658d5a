"""What the people at a simulated table do: a JSON file that the demo writes and a simulated kiosk reads."""

from msgspec import Struct

from broker.protocol.facts import LaidSeat
from broker.protocol.types import RiichiEvent, Seat, WinKind


class TrayMistake(Struct, frozen=True, forbid_unknown_fields=True):
    """A mistake in laying one tray: two places exchanged, as (row, column)."""

    seat: Seat
    one: tuple[int, int]
    other: tuple[int, int]


class ScriptedPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """One play."""

    round: int
    win: WinKind
    winners: dict[Seat, int] = {}
    discarder: Seat | None = None
    false_hu: dict[Seat, int] = {}
    """Who declares falsely before the play ends, and what it costs in IMP."""
    slips: tuple[TrayMistake, ...] = ()
    laid: dict[Seat, LaidSeat] = {}
    """What lies there at the end, where people keep the play."""


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """All plays of one table, or the hands of its riichi session. `reaction_ms`: how long people take."""

    plays: tuple[ScriptedPlay, ...] = ()
    reaction_ms: int = 1200
    hands: tuple[RiichiEvent, ...] = ()
    """How each hand of a session ends, `riichi` by whom before; after the last one the session is stopped."""
    pin: str = ""
    """By which the arbiter is let in who rules a hu false."""

    def course(self, round_: int) -> ScriptedPlay | None:
        """Return one play's course."""
        return next((course for course in self.plays if course.round == round_), None)
