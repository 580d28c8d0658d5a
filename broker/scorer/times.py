"""Since when a table plays, calls, and stands still in a pause, and how its walls stand: for clocks and calls."""

from typing import NamedTuple

from broker.contract.facts import Call, Confirmed, Paused, Restored, Result
from broker.contract.messages import LogMessage


class Since(NamedTuple):
    """What began at a moment, in which round."""

    at: int
    """Ms since 1970; of a table that was offline by its own clock as far as that can be right (`clocks.py`)."""
    round: int


class TableTimes:
    """A fold over accepted facts, for the scorer's thread alone."""

    def __init__(self) -> None:
        self.playing: dict[int, Since] = {}
        self.calling: dict[int, Since] = {}
        self.pausing: dict[int, Since] = {}
        self.restored: dict[int, Restored] = {}
        """What each table has restored last."""

    def queue(self) -> list[int]:
        """Give the tables whose call is open, the oldest first."""
        return [table for _, table in sorted((one.at, table) for table, one in self.calling.items())]

    def hear(self, message: LogMessage) -> None:
        """Take a fact in, whose time is believed."""
        fact, table = message.fact, message.table
        if isinstance(fact, Confirmed):
            self.playing[table] = Since(message.at, fact.round)
        elif isinstance(fact, Result):
            began = self.playing.get(table)
            if began is not None and began.round <= fact.round:
                del self.playing[table]
        elif isinstance(fact, Call):
            _keep(self.calling, message, begins=fact.open)
        elif isinstance(fact, Restored):
            self.restored[table] = fact
        elif isinstance(fact, Paused):
            _keep(self.pausing, message, begins=fact.begin)


def _keep(since: dict[int, Since], message: LogMessage, *, begins: bool) -> None:
    """Keep when something began first, until it ends."""
    if begins:
        since.setdefault(message.table, Since(message.at, message.fact.round))
    else:
        since.pop(message.table, None)
