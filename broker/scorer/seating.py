"""Who really sat where: told by the table with each play, before a tile was touched, and kept with it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
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


def concerns(event: Event, seatings: Seatings, message: LogMessage) -> Iterable[Concern]:
    """Give what an arbiter must know of who sits where, and of what was let go on at the table."""
    fact, table = message.fact, message.table
    if isinstance(fact, Overridden):
        text = f"table {table}: deal {fact.deal} goes on in spite of {', '.join(fact.guards)}: {fact.reason}"
        values: dict[str, int | str] = {"deal": fact.deal, "guards": ", ".join(fact.guards), "reason": fact.reason}
        yield Concern("overridden", text, table, about=message.seq, values=values)
    if not isinstance(fact, Seated | Result):
        return
    known = seatings.of((table, fact.round)) or event.bookings[table, fact.round].players
    expected = event.bookings[table, fact.round].players if isinstance(fact, Seated) else known
    if dict(fact.players) != dict(expected):
        text = f"table {table}: not seated as planned for deal {fact.deal}"
        yield Concern("seating_differs", text, table, about=message.seq, values={"deal": fact.deal})
    if again := seatings.repeating((table, fact.round), fact.deal, fact.players.values()):
        names = ", ".join(event.players[one].name for one in again)
        text = f"table {table}: {names} had deal {fact.deal} before"
        again_with: dict[str, int | str] = {"names": names, "deal": fact.deal}
        yield Concern("player_repeats_deal", text, table, about=message.seq, values=again_with)
