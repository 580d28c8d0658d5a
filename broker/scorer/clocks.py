"""When facts happened: by their table's clock as far as that can be right, else by when they were heard. Pure.

A Pi has no battery behind its clock, and a hall often no time server: a table's clock may be a day off. A table that
was offline tells its facts late; then its clock knows better than ours when they were.
"""

from msgspec.structs import replace

from broker.contract.messages import LogMessage


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
