"""How much of a play's time is left: from the moment that the fourth player has confirmed the tiles.

It depends on the plan, the arbiter's pauses and extra time, and on no press: an open claim window shows what the play
before it would. Pure: the present comes in.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kiosk.table.state import Table

MINUTE_NS: Final = 60_000_000_000


@dataclass(frozen=True, slots=True)
class PlayClock:
    """A play that is going on: when it was confirmed, and how long it stood still in pauses that are over, ns."""

    confirmed_at: int
    paused_ns: int = 0

    def after(self, pause_ns: int) -> "PlayClock":
        """Take in that a pause of this length is over."""
        return replace(self, paused_ns=self.paused_ns + pause_ns)


def minutes_left(state: "Table", now: int) -> int | None:
    """Give the whole minutes that are left, one that has begun counted; below zero those that it is over.

    None where the plan gives a play no time, where none is going on, and where it is not known since when: the device
    was without power meanwhile, and nobody there can tell for how long.
    """
    clock, play = state.play_clock, state.play
    minutes = state.assignment.minutes.get(play.round) if state.assignment and play else None
    if clock is None or minutes is None or state.public not in ("playing", "declared", "accepting"):
        return None
    until = state.pause.since if state.pause is not None and state.paused else now
    played = max(0, until - clock.confirmed_at - clock.paused_ns)
    left = (minutes + state.extra_min) * MINUTE_NS - played
    return -(-left // MINUTE_NS)
