"""How many facts of a kind a table may tell of one play: more than people ever need, and an end for programs.

A table's own program stays within them, so what is refused here was told by another program, or by one that is broken.
The numbers of what is refused so are not missing: a table that tells something else afterwards is heard.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from broker.i18n import N_
from broker.protocol import ARBITER_FACTS, Fact, LogMessage, Refused, Ruled, TilesLaid

MOST_RULED: Final = 20
"""Rulings of a table on one play. A device speaks for whoever has its PIN: it shall not fill the book of rulings."""

MOST_LAID: Final = 8
"""Times that a table may tell of one play what lay there: each is searched, and answered."""

MOST_OF_A_KIND: Final = 200
"""Of any other kind in one play: a hundred calls, for one."""

MOST_IN_A_SESSION: Final = 2_000
"""The same in a session of riichi, which is one round: its hands, and calls, all evening."""

OF_ARBITERS: Final = "arbiters"
"""All that a table tells of its arbiters beside rulings counts together: a session is a round, and they come and go."""

OVER_QUOTA: Final = frozenset({"too_many_rulings", "too_many_facts"})
"""The codes of these refusals."""


def kind_of(fact: Fact) -> str:
    """Return what a fact is counted as."""
    return OF_ARBITERS if isinstance(fact, ARBITER_FACTS) else type(fact).__name__


class Quotas:
    """What each table has told of each of its plays, by kind. `taken` gives what was taken of a table in a round."""

    def __init__(self, taken: Callable[[int, int], Iterable[LogMessage]]) -> None:
        self._taken = taken
        self._told: dict[tuple[int, int], Counter[str]] = {}
        """By table and round, of those of which something was told since the start."""

    def count(self, message: LogMessage) -> None:
        """Take in a fact that was taken."""
        if (told := self._told.get((message.table, message.fact.round))) is not None:
            told[kind_of(message.fact)] += 1

    def _told_in(self, table: int, round_: int) -> Counter[str]:
        if (table, round_) not in self._told:
            self._told[table, round_] = Counter(kind_of(one.fact) for one in self._taken(table, round_))
        return self._told[table, round_]

    def check(self, message: LogMessage, *, session: bool) -> None:
        """Refuse one too many. `session`: the round is one of riichi. Raises Refused."""
        table, kind = message.table, kind_of(message.fact)
        told = self._told_in(table, message.fact.round)[kind]
        if isinstance(message.fact, Ruled):
            if told >= MOST_RULED:
                text = N_("table {table} has ruled {count} times here: rule at the desk", table=table, count=told)
                raise Refused("too_many_rulings", text)
            return
        most = MOST_IN_A_SESSION if session and kind != OF_ARBITERS else MOST_OF_A_KIND
        if told >= (MOST_LAID if isinstance(message.fact, TilesLaid) else most):
            text = N_("table {table} has reported this {count} times in one round", table=table, count=told)
            raise Refused("too_many_facts", text)
