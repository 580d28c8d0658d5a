"""What the tables' facts add up to, apart from results: times, seats, and visits of arbiters. Pure.

A Pi has no battery behind its clock, and a hall often has no time server, so a table's clock may be a day off. A table
that was offline sends its facts late; then its clock knows better than ours when they happened.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from broker.event import Event
from broker.protocol import (
    ARBITER_FACTS,
    AnyArbiterFact,
    Call,
    Confirmed,
    LogMessage,
    Paused,
    PlayerId,
    Restored,
    Result,
    Seat,
    Seated,
)


class Since(NamedTuple):
    """What began at a moment, in which round."""

    at: int
    """Ms since 1970; of a table that was offline by its own clock as far as that can be right (`FactTimes`)."""
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
        """Return the tables whose call is open, the oldest first."""
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


PlayKey = tuple[int, int]
"""Table and round."""


class Seatings:
    """A fold over facts: who sat where in each play, and who has played which deal."""

    def __init__(self) -> None:
        self._told: dict[PlayKey, dict[int, Mapping[Seat, PlayerId]]] = {}
        """Of each play what was told, by the number of the fact."""
        self._counted: dict[PlayKey, Result] = {}
        self._of_deal: defaultdict[int, dict[PlayKey, Result]] = defaultdict(dict)
        self._have_played: dict[int, Counter[PlayerId]] = {}
        """Who has played each deal, how often: counted when somebody asks."""

    def remember(self, message: LogMessage) -> None:
        """Add one accepted message; what is not about seats changes nothing."""
        fact, key = message.fact, (message.table, message.fact.round)
        if isinstance(fact, Seated):
            self._told.setdefault(key, {})[message.seq] = fact.players
        elif isinstance(fact, Result):
            if before := self._counted.get(key):
                del self._of_deal[before.deal][key]
                self._have_played.pop(before.deal, None)
            self._counted[key] = self._of_deal[fact.deal][key] = fact
            self._have_played.pop(fact.deal, None)

    def _with(self, deal: int) -> Counter[PlayerId]:
        if deal not in self._have_played:
            results = self._of_deal.get(deal, {}).values()
            self._have_played[deal] = Counter(player for one in results for player in one.players.values())
        return self._have_played[deal]

    def of(self, key: PlayKey) -> Mapping[Seat, PlayerId] | None:
        """Return the table's last word on who sits there; None where it has not said."""
        told = self._told.get(key)
        return told[max(told)] if told else None

    def repeating(self, key: PlayKey, deal: int, players: Iterable[PlayerId]) -> tuple[PlayerId, ...]:
        """Name those of these players who have a result with this deal in another play."""
        had = self._with(deal)
        counted = self._counted.get(key)
        own = counted.players.values() if counted else ()
        return tuple(sorted(one for one in players if had[one] - (one in own) > 0))

    def repeated(self, event: Event) -> set[int]:
        """Return the deals with which somebody has two results, or to which somebody has sat down once more."""
        found = set()
        for deal, results in self._of_deal.items():
            players = [one.players.values() for one in results.values()]
            if len(set[PlayerId]().union(*players)) < sum(map(len, players)):
                found.add(deal)
        begun = ((key, event.bookings[key].deal) for key in self._told.keys() - self._counted.keys())
        return found | {deal for key, deal in begun if self.repeating(key, deal, (self.of(key) or {}).values())}

    def to_come(
        self, event: Event, table: int, replanned: Mapping[int, int] = MappingProxyType({})
    ) -> dict[int, tuple[PlayerId, ...]]:
        """Name, by round, who is to play at a table what they have played already; rounds with a result are over."""
        coming = [one for one in event.plays_at(table) if (table, one.round) not in self._counted]
        deals = {one.round: replanned.get(one.round, one.deal) for one in coming}
        found = {
            one.round: self.repeating((table, one.round), deals[one.round], one.players.values()) for one in coming
        }
        return {round_: players for round_, players in found.items() if players}


class Visit(Struct, frozen=True):
    """One such fact, and when it was (ms since 1970) by its table's clock as far as that can be right."""

    at: int
    table: int
    seq: int
    id: str
    fact: AnyArbiterFact

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


VISIT_KINDS = ("paused", "resumed", "time_added", "let_in", "left", "pin_wrong")


class Visits:
    """A fold over accepted facts, in whatever order they come."""

    def __init__(self) -> None:
        self._told: list[Visit] = []

    def hear(self, message: LogMessage) -> None:
        """Take a fact in, whose time is believed."""
        if isinstance(message.fact, ARBITER_FACTS):
            self._told.append(Visit(message.at, message.table, message.seq, message.id, message.fact))

    def oldest_first(self) -> list[Visit]:
        """Return them by when they were."""
        return sorted(self._told, key=lambda one: (one.at, one.table, one.seq))


class FactTimes:
    """A fold over accepted facts, in the order in which they were taken."""

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        """Of each table when its last fact was, ms since 1970."""

    def believed(self, message: LogMessage, received_at: int) -> LogMessage:
        """Return the message with the time at which it was: between the table's fact before it and its being heard.

        `received_at` in ms since 1970, by the scorer's clock. Of a table's first fact nothing vouches for its clock.
        """
        before = self._before.get(message.table)
        right = before is not None and before <= message.at <= received_at
        at = self._before[message.table] = message.at if right else received_at
        return message if right else replace(message, at=at)
