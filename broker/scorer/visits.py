"""What arbiters have done at the tables beside their rulings, and what was tried there: as the tables have told it."""

from msgspec import Struct

from broker.contract.facts import OF_ARBITERS, AnyByArbiter, Paused
from broker.contract.messages import LogMessage


class Visit(Struct, frozen=True):
    """One such fact, and when it was (ms since 1970) by its table's clock as far as that can be right."""

    at: int
    table: int
    seq: int
    id: str
    fact: AnyByArbiter

    @property
    def kind(self) -> str:
        """The word for what was done: the fact's tag, but of the end of a pause."""
        if isinstance(self.fact, Paused) and not self.fact.begin:
            return "resumed"
        return str(self.fact.__struct_config__.tag)

    @property
    def author(self) -> str:
        """Who did it; empty where nobody knows."""
        return getattr(self.fact, "author", "")

    @property
    def reason(self) -> str:
        """Why; empty where none was asked for, and where it was ordered."""
        return getattr(self.fact, "reason", "")

    @property
    def ordered(self) -> bool:
        """Whether the desk has ordered it: who does it at the table is asked for a reason."""
        return self.kind in {"paused", "time_added"} and not self.reason


KINDS = ("paused", "resumed", "time_added", "let_in", "left", "pin_wrong")


class Visits:
    """A fold over accepted facts, in whatever order they come."""

    def __init__(self) -> None:
        self._told: list[Visit] = []

    def hear(self, message: LogMessage) -> None:
        """Take a fact in, whose time is believed."""
        if isinstance(message.fact, OF_ARBITERS):
            self._told.append(Visit(message.at, message.table, message.seq, message.id, message.fact))

    def oldest_first(self) -> list[Visit]:
        """Give them by when they were."""
        return sorted(self._told, key=lambda one: (one.at, one.table, one.seq))
