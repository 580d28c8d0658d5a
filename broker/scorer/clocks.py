"""Tables' clocks: when facts happened as far as a clock can be right, and whose clock is far off. Pure.

A Pi has no battery behind its clock, and a hall often no time server: a table's clock may be a day off. A table that
was offline tells its facts late; then its clock knows better than ours when they were.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from broker.contract.clock import off_by
from broker.contract.messages import LogMessage, TableState
from broker.scorer.alerts import GONE, Concern

MINUTE_MS: Final = 60_000


class FactTimes:
    """A fold over accepted facts, in the order in which they were taken."""

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        """Of each table when its last fact was, ms since 1970."""

    def believed(self, message: LogMessage, received_at: int) -> LogMessage:
        """Give the message with the time at which it was: between the table's fact before it and its being heard.

        `received_at` in ms since 1970, by the scorer's clock. Of a table's first fact nothing vouches for its clock.
        """
        before = self._before.get(message.table)
        right = before is not None and before <= message.at <= received_at
        at = self._before[message.table] = message.at if right else received_at
        return message if right else replace(message, at=at)


class ClockWatch:
    """Tells once when a table's clock is far off, and once when it is right again."""

    def __init__(self) -> None:
        self._told: dict[int, str] = {}
        self._news: dict[int, Concern] = {}

    def hear(self, state: TableState, now: int) -> None:
        """Take in what a table that is there says of itself at a moment, ms since 1970 by our clock."""
        off = None if state.lifecycle in GONE else off_by(state, now)
        if off is None:
            return
        concern = _concern(state.table, off)
        self._news.pop(state.table, None)
        if concern.code != self._told.get(state.table, "clock_right"):
            self._news[state.table] = concern

    def concerns(self) -> list[Concern]:
        """Give what is news, one concern a table; the same again until `told` has taken it."""
        return list(self._news.values())

    def told(self, concerns: Iterable[Concern]) -> None:
        """Take in which concerns were told, among others."""
        for concern in concerns:
            if concern.table is not None and self._news.get(concern.table) is concern:
                self._told[concern.table] = self._news.pop(concern.table).code


def _concern(table: int, off: int) -> Concern:
    if not off:
        return Concern("clock_right", f"table {table}: its clock is right again", table)
    hours, minutes = divmod(round(abs(off) / MINUTE_MS), 60)
    span = f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
    if off > 0:
        text = f"table {table}: its clock is {span} ahead of the scorer's"
        return Concern("clock_ahead", text, table, values={"span": span})
    text = f"table {table}: its clock is {span} behind the scorer's"
    return Concern("clock_behind", text, table, values={"span": span})
