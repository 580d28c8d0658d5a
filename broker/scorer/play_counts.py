"""How many plays are settled, and so which deals are complete: from then on they are under no embargo."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from itertools import takewhile

from broker.event import Event
from broker.rulings import CountedPlay, PlayKey


class PlayCounts:
    """How many plays of each deal and table are settled: by a result, or by a ruling in its place."""

    def __init__(self, event: Event, elsewhere: frozenset[int] | None = None) -> None:
        """`elsewhere`: in a hall among others, the deals that the other halls have played too; None: there are none."""
        self._event, self._elsewhere = event, elsewhere
        self.expected = Counter(event.expected)
        self.of_deal: Counter[int] = Counter()
        self.at_table: Counter[int] = Counter()
        self.of_round: Counter[int] = Counter()
        self._finished: frozenset[int] | None = None
        """The complete deals, once `all_complete` was called."""

    def copy(self) -> "PlayCounts":
        """Return an independent copy."""
        new = PlayCounts(self._event, self._elsewhere)
        new.expected, new.of_deal, new.at_table = map(Counter, (self.expected, self.of_deal, self.at_table))
        new.of_round = Counter(self.of_round)
        return new

    def load(self, played: Mapping[PlayKey, int]) -> None:
        """Count the plays that have a result in a whole journal, with their deals, before any ruling."""
        self._finished = None
        deals, bookings = [*played.values()], self._event.bookings
        self.of_deal.update(deals)
        self.at_table.update([table for table, _ in played])
        self.of_round.update([round_ for _, round_ in played])
        planned = [bookings[key].deal for key in played]
        if planned != deals:  # a table that had another plan has played by that
            self.expected.subtract(planned)
            self.expected.update(deals)

    def replace(self, before: CountedPlay, now: CountedPlay) -> None:
        """Count a play as it is now in place of what it was."""
        for one, sign in ((before, -1), (now, 1)):
            self.expected[one.deal] += sign
            self.of_deal[one.deal] += sign * one.settled
            self.at_table[one.table] += sign * one.settled
            self.of_round[one.round] += sign * one.settled
        if self._finished is not None:
            changed = {deal for deal in {before.deal, now.deal} if self.complete(deal) != (deal in self._finished)}
            self._finished ^= changed & self._event.expected.keys()

    def complete(self, deal: int) -> bool:
        """Whether every table has played the deal, those of other halls too."""
        return self.of_deal[deal] == self.expected[deal] and (self._elsewhere is None or deal in self._elsewhere)

    def release(self, elsewhere: frozenset[int]) -> frozenset[int]:
        """Take in which deals all halls have played; return those that are complete now and were not, or no longer."""
        before, self._finished = self.all_complete(), None
        self._elsewhere = elsewhere
        return before ^ self.all_complete()

    def rounds_over(self) -> int:
        """Return up to which round every planned play is settled; 0: not even those of the first."""
        over = takewhile(lambda one: self.of_round[one[0]] == one[1], self._planned_in_rounds)
        return max((round_ for round_, _ in over), default=0)

    @cached_property
    def _planned_in_rounds(self) -> list[tuple[int, int]]:
        return sorted(Counter(round_ for _, round_ in self._event.bookings).items())

    def all_complete(self) -> frozenset[int]:
        """Return the deals that every table has played; counted through once, and then kept up to date."""
        if self._finished is None:
            self._finished = frozenset(deal for deal in self._event.expected if self.complete(deal))
        return self._finished
