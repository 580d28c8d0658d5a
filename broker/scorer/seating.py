"""Who really sat where: told by the table with each play, before a tile was touched, and kept with it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from broker.contract.facts import Overridden, Result, Seated
from broker.contract.messages import LogMessage
from broker.contract.words import PlayerId, Seat
from broker.scorer.alerts import Concern
from broker.scorer.event import Event

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
        """Give the table's last word on who sits there; None where it has not said."""
        told = self._told.get(key)
        return told[max(told)] if told else None

    def repeating(self, key: PlayKey, deal: int, players: Iterable[PlayerId]) -> tuple[PlayerId, ...]:
        """Name those of these players who have a result with this deal in another play."""
        had = self._with(deal)
        counted = self._counted.get(key)
        own = counted.players.values() if counted else ()
        return tuple(sorted(one for one in players if had[one] - (one in own) > 0))

    def repeated(self, event: Event) -> set[int]:
        """Give the deals with which somebody has two results, or to which somebody has sat down once more."""
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


def overridden(table: int, seq: int, fact: Overridden) -> Iterator[Concern]:
    """Give what an arbiter must know of what was let go on at a table."""
    text = f"table {table}: deal {fact.deal} goes on in spite of {', '.join(fact.guards)}: {fact.reason}"
    values: dict[str, int | str] = {"deal": fact.deal, "guards": ", ".join(fact.guards), "reason": fact.reason}
    yield Concern("overridden", text, table, about=seq, values=values)


def differing(event: Event, seatings: Seatings, message: LogMessage, fact: Seated | Result) -> tuple[Concern, ...]:
    """Give what an arbiter must know of who sits where: not as planned, or not as was told before."""
    key = message.table, fact.round
    known = seatings.of(key) if isinstance(fact, Result) else None
    if fact.players == (known or event.bookings[key].players):
        return ()
    text = f"table {message.table}: not seated as planned for deal {fact.deal}"
    return (Concern("seating_differs", text, message.table, about=message.seq, values={"deal": fact.deal}),)


def repeats(event: Event, seatings: Seatings, message: LogMessage, fact: Seated | Result) -> Iterator[Concern]:
    """Give what an arbiter must know of those who had this deal before."""
    if again := seatings.repeating((message.table, fact.round), fact.deal, fact.players.values()):
        names = ", ".join(event.players[one].name for one in again)
        text = f"table {message.table}: {names} had deal {fact.deal} before"
        values: dict[str, int | str] = {"names": names, "deal": fact.deal}
        yield Concern("player_repeats_deal", text, message.table, about=message.seq, values=values)
