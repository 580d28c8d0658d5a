"""The room as the journal tells it: a fold over accepted messages. What it says does not depend on their order."""

from collections import Counter
from collections.abc import Iterable
from types import MappingProxyType

from broker.contract.messages import LogMessage, Restored, Result
from broker.rules.profile import Profile
from broker.scorer.event import Event
from broker.scorer.moment import Moment
from broker.scorer.riichi import Sessions
from broker.scorer.seating import Seatings
from broker.scoring.compare import Group
from broker.scoring.ledger import Ledger
from broker.scoring.plays import ScoredPlay
from broker.scoring.ranking import Ranking

PlayKey = tuple[int, int]
"""Table and round."""


class Room:
    """Results and forms of all plays so far, compared as they come."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self.results: dict[PlayKey, LogMessage] = {}
        self._of_deal: Counter[int] = Counter()
        self._at_table: Counter[int] = Counter()
        self._forms: dict[PlayKey, tuple[tuple[int, str], ...]] = {}
        """Of each play the forms that were restored, with the number of the fact."""
        self.seatings = Seatings()
        self.riichi = Sessions()
        self._ledger = Ledger.of((), event.profile, event.players)
        self._moment: Moment | None = None

    def load(self, messages: Iterable[LogMessage]) -> None:
        """Add a whole journal: compared once at its end, not after each play."""
        for message in messages:
            self._remember(message)
        plays = [self._scored(key, message) for key, message in self.results.items()]
        self._ledger = Ledger.of(plays, self._event.profile, self._event.players)

    def apply(self, message: LogMessage) -> None:
        """Add one accepted message."""
        key = message.table, message.fact.round
        self._remember(message)
        if key in self.results and isinstance(message.fact, Result | Restored):
            self._ledger = self._ledger.with_play(self._scored(key, self.results[key]))

    def _remember(self, message: LogMessage) -> None:
        key = message.table, message.fact.round
        self.seatings.remember(message)
        self.riichi.hear(message)
        if isinstance(message.fact, Result):
            if key not in self.results:
                self._of_deal[message.fact.deal] += 1
                self._at_table[message.table] += 1
            self.results[key] = message
        elif isinstance(message.fact, Restored):
            self._forms[key] = (*self._forms.get(key, ()), (message.seq, message.fact.form))

    @property
    def profile(self) -> Profile:
        """The rules of the event."""
        return self._event.profile

    @property
    def final(self) -> bool:
        """Whether every play has its result."""
        return len(self.results) == len(self._event.plan.plays)

    def plays_of(self, deal: int) -> int:
        """How many results a deal has."""
        return self._of_deal[deal]

    def plays_at(self, table: int) -> int:
        """How many results a table has."""
        return self._at_table[table]

    def complete(self, deal: int) -> bool:
        """Whether every table has played the deal."""
        return self.plays_of(deal) == self._event.expected[deal]

    def moment(self) -> Moment:
        """Give all plays as they are now: the same object until a play has changed, with all that was made of it."""
        if self._moment is None or self._moment.ledger is not self._ledger:
            complete = frozenset(deal for deal in self._event.expected if self.complete(deal))
            self._moment = Moment(self._event, self._ledger, MappingProxyType(self.results), complete)
        return self._moment

    def groups(self) -> tuple[Group, ...]:
        """Compare all plays; where a table's restore record is not there yet, the deal's own form is assumed."""
        return self._ledger.groups

    def standings(self) -> Ranking:
        """Rank all players of the event."""
        return self.moment().ranking

    def _scored(self, key: PlayKey, message: LogMessage) -> ScoredPlay:
        result = _result(message)
        return ScoredPlay(
            deal=result.deal,
            table=message.table,
            players=result.players,
            points=result.points,
            fines={seat: fine.imp for seat, fine in result.fines.items()},
            form=self._form(key, message),
        )

    def _form(self, key: PlayKey, result: LogMessage) -> str:
        """Give the table's last word on how the tiles lay, before the result: what is said after it changes no IMP."""
        told = [one for one in self._forms.get(key, ()) if one[0] < result.seq]
        return max(told)[1] if told else self._event.form(result.fact.deal)


def _result(message: LogMessage) -> Result:
    if not isinstance(message.fact, Result):
        raise TypeError(f"not a result: {message.id}")
    return message.fact
