"""Who is ranked: the entries of an event, numbered in the order in which they came."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import numpy as np

from broker.scoring.imp import Whole

FEW = 100
"""So many new names are put in their places; more are sorted in with all others."""


def numbering(names: Iterable[str] = ()) -> defaultdict[str, int]:
    """Give a mapping that numbers every name when it is first asked for."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    for name in names:
        number[name]
    return number


@dataclass(frozen=True, eq=False)
class Entries:
    """Names and their numbers; never changed, so that whatever is computed from them is computed once."""

    number: Mapping[str, int] = field(default_factory=dict)

    def with_names(self, names: Iterable[str]) -> "Entries":
        """Give these and those that are new; the same object where none is."""
        new = [name for name in dict.fromkeys(names) if name not in self.number]
        if not new:
            return self
        more = Entries({**self.number, **{name: at for at, name in enumerate(new, len(self.number))}})
        if len(new) <= FEW and "alphabetical" in self.__dict__:
            more.__dict__["alphabetical"] = _sorted_in(self.alphabetical, new, more)
        return more

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names, by number."""
        return tuple(self.number)

    @cached_property
    def alphabetical(self) -> Whole:
        """All numbers in the order of the names."""
        return np.array(sorted(range(len(self.names)), key=self.names.__getitem__), dtype=np.int64)


def _sorted_in(order: Whole, new: list[str], entries: Entries) -> Whole:
    """Put a few new names into the alphabetical order of the others."""
    for name in new:
        at = bisect_left(range(len(order)), name, key=lambda at: entries.names[order[at]])
        order = np.insert(order, at, entries.number[name])
    return order
