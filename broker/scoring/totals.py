"""What each entry has together, as columns."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broker.scoring.compare import Group, exact
from broker.scoring.entries import Entries
from broker.scoring.imp import Whole
from broker.scoring.plays import Adjustment, ScoredPlay
from broker.scoring.rows import Row

Imps = NDArray[Any]
"""Whole numbers; exact fractions, as objects, where a profile takes means of IMPs."""


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums by the number of the entry: `imp` is what remains after `fines`; `points` are those of the tables."""

    imp: Imps
    fines: Whole
    plays: Whole
    points: Whole

    @classmethod
    def nothing(cls, size: int, *, fractions: bool) -> "Totals":
        """Give totals of nothing for so many entries."""
        empty = [np.zeros(size, dtype=np.int64) for _ in range(3)]
        return cls(np.zeros(size, dtype=object if fractions else np.int64), *empty)

    def resized(self, size: int) -> "Totals":
        """Give a copy for more entries, or for as many."""
        more = (0, size - len(self.imp))
        return Totals(*(np.pad(column, more) for column in self.columns))

    @property
    def columns(self) -> tuple[Imps, Whole, Whole, Whole]:
        """All four, in the order in which they are made."""
        return self.imp, self.fines, self.plays, self.points

    def count(self, row: Row, sign: int) -> None:
        """Add what a comparison group gives, or (sign -1) take it off."""
        np.add.at(self.imp, row.entries, sign * exact_imps(row.group))
        np.add.at(self.points, row.entries, sign * row.group.points)
        np.add.at(self.plays, row.entries, sign)

    def rule(self, play: ScoredPlay, entries: Entries, sign: int) -> None:
        """Add what the arbiter ruled for a play, or (sign -1) take it off. A fine enters no datum (OEDMC)."""
        for seat, award in play.awards.items():
            self.imp[entries.number[play.entry(seat)]] += sign * award
        for seat, fine in play.fines.items():
            self.imp[entries.number[play.entry(seat)]] -= sign * fine
            self.fines[entries.number[play.entry(seat)]] += sign * fine

    def adjust(self, adjustments: Iterable[Adjustment], entries: Entries) -> None:
        """Add IMPs that belong to no play."""
        for one in adjustments:
            self.imp[entries.number[one.name]] += one.imp - one.fine
            self.fines[entries.number[one.name]] += one.fine


def exact_imps(group: Group) -> Imps:
    """Give the IMPs of a group's plays and seats as they are added up."""
    if group.over == 1:
        return group.imps
    return np.array([[exact(imp, group.over) for imp in play] for play in group.imps.tolist()], dtype=object)
