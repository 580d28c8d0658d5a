"""Since when a table plays, calls, and stands still in a pause: for clocks and the queue of calls."""

from typing import Final, NamedTuple

from broker.contract.facts import Call, Confirmed, Paused, Result
from broker.contract.messages import LogMessage

TELLING: Final = (Confirmed, Result, Call, Paused)
"""Facts by which something begins or ends."""


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
        if not isinstance(message.fact, TELLING):
            return
        since = Since(message.at, message.fact.round)
        match message.fact:
            case Confirmed():
                self.playing[message.table] = since
            case Result(round=round_) if self.playing.get(message.table, since).round <= round_:
                self.playing.pop(message.table, None)
            case Call(open=True):
                self.calling.setdefault(message.table, since)
            case Call():
                self.calling.pop(message.table, None)
            case Paused(begin=True):
                self.pausing.setdefault(message.table, since)
            case Paused():
                self.pausing.pop(message.table, None)
            case _:
                pass
