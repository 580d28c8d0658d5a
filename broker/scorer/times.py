"""Since when a table plays, calls, and stands still in a pause: for clocks and the queue of calls."""

from typing import NamedTuple

from broker.contract.facts import Call, Confirmed, Paused, Result
from broker.contract.messages import LogMessage


class Since(NamedTuple):
    """What began at a moment, in which round."""

    at: int
    """Ms since 1970; of a table that was offline by its own clock as far as that can be right (`clocks.py`)."""
    round: int


class TableTimes:
    """A fold over accepted facts. The scorer's thread changes it; single values may be read from any thread."""

    def __init__(self) -> None:
        self.playing: dict[int, Since] = {}
        self.calling: dict[int, Since] = {}
        self.pausing: dict[int, Since] = {}

    def queue(self) -> list[int]:
        """Give the tables whose call is open, the oldest first. From any thread."""
        return [table for _, table in sorted((one.at, table) for table, one in self.calling.copy().items())]

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
            if fact.open:
                self.calling.setdefault(table, Since(message.at, fact.round))
            else:
                self.calling.pop(table, None)
        elif isinstance(fact, Paused):
            if fact.begin:
                self.pausing.setdefault(table, Since(message.at, fact.round))
            else:
                self.pausing.pop(table, None)
