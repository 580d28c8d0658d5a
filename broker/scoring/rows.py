"""A comparison group beside the numbers of the entries that scored in it; plays come and go one at a time."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter

import numpy as np

from broker.rules.profile import Comparison
from broker.scoring.compare import Group, group, table
from broker.scoring.imp import Whole
from broker.scoring.plays import ScoredPlay

TABLE = attrgetter("table")


@dataclass(frozen=True, eq=False)
class Row:
    """One comparison group and its entries, (plays, seats)."""

    group: Group
    entries: Whole

    @classmethod
    def of(cls, plays: Iterable[ScoredPlay], profile: Comparison, number: Mapping[str, int]) -> "Row":
        """Compare plays of one group; `number` gives the number of every entry."""
        compared = group(plays, profile)
        members = compared.members
        names = chain.from_iterable(play.entries for play in members)
        return cls(compared, table(map(number.__getitem__, names), len(members)))

    @cached_property
    def tables(self) -> Whole:
        """The tables of the group's plays, in order."""
        return np.array([play.table for play in self.group.members], dtype=np.int64)

    def of_table(self, table: int) -> ScoredPlay | None:
        """Give this table's play, if it is in the group."""
        at = self._place(table)
        found = self.group.members[at : at + 1]
        return found[0] if found and found[0].table == table else None

    def with_play(self, play: ScoredPlay, number: Mapping[str, int]) -> "Row":
        """Put one play in."""
        one, at, had = Row.of([play], self.group.profile, number), self._place(play.table), self.group
        members = (*had.members[:at], play, *had.members[at:])
        points = np.insert(had.points, at, one.group.points[0], axis=0)
        return Row(Group(members, points, had.profile), np.insert(self.entries, at, one.entries[0], axis=0))

    def without(self, table: int) -> "Row | None":
        """Take one table's play out; None where no play is left."""
        at, had = self._place(table), self.group
        members = had.members[:at] + had.members[at + 1 :]
        if not members:
            return None
        points = np.delete(had.points, at, axis=0)
        return Row(Group(members, points, had.profile), np.delete(self.entries, at, axis=0))

    def _place(self, table: int) -> int:
        return bisect_left(self.group.members, table, key=TABLE)
