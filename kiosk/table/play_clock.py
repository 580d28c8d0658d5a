"""How much of a play's time is left: from the moment that the fourth player has confirmed the tiles.

It depends on the plan, the arbiter's pauses and extra time, and on no press: an open claim window shows what the play
before it would. Pure: the present comes in.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kiosk.table.state import Table

MINUTE_NS: Final = 60_000_000_000
MILLISECOND_NS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class PlayClock:
    """A play that is going on: when it was confirmed, and how long it stood still in pauses that are over, ns."""

    confirmed_at: int
    paused_ns: int = 0

    def after(self, pause_ns: int) -> "PlayClock":
        """Take in that a pause of this length is over."""
        return replace(self, paused_ns=self.paused_ns + pause_ns)

    def played_ns(self, until: int) -> int:
        """Give how long the play has gone on at a moment (ns), without the pauses that are over."""
        return max(0, until - self.confirmed_at - self.paused_ns)


def minutes_left(state: "Table", now: int) -> int | None:
    """Give the whole minutes that are left, one that has begun counted; below zero those that it is over.

    None where the plan gives a play no time, where none is going on, and where it is not known since when: the device
    was without power meanwhile, and nobody there can tell for how long.
    """
    clock, allowed = _running(state), minutes(state)
    if clock is None or allowed is None:
        return None
    until = state.pause.since if state.pause is not None and state.paused else now
    left = (allowed + state.extra_min) * MINUTE_NS - clock.played_ns(until)
    return -(-left // MINUTE_NS)


def minutes(state: "Table") -> int | None:
    """Give the time that the present play has, by the plan that the table goes by; None where it has no limit."""
    return state.assignment.minutes.get(state.play.round) if state.assignment and state.play else None


def stood_ms(state: "Table") -> int | None:
    """Give how long the play stood still in pauses that are over; None where no play's time runs, or is known."""
    clock = _running(state)
    return None if clock is None else clock.paused_ns // MILLISECOND_NS


def played_ms(state: "Table") -> int | None:
    """Give, in a pause, how long the play had gone on when it began; None where none is, or as above."""
    clock, pause = _running(state), state.pause
    if clock is None or pause is None or not state.paused:
        return None
    return clock.played_ns(pause.since) // MILLISECOND_NS


def _running(state: "Table") -> PlayClock | None:
    return state.play_clock if state.public in ("playing", "declared", "accepting") else None
