"""Who is ranked: the entries of an event, numbered in the order in which they came."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from broker.scoring.imp import Whole


@dataclass(frozen=True, eq=False)
class Entries:
    """Names and their numbers; never changed, so that whatever is computed from them is computed once."""

    number: Mapping[str, int] = field(default_factory=dict)

    def with_names(self, names: Iterable[str]) -> "Entries":
        """Give these and those that are new; the same object where none is."""
        new = {name: None for name in names if name not in self.number}
        if not new:
            return self
        return Entries({**self.number, **{name: at for at, name in enumerate(new, len(self.number))}})

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names, by number."""
        return tuple(self.number)

    @cached_property
    def alphabetical(self) -> Whole:
        """All numbers in the order of the names."""
        return np.array(sorted(range(len(self.names)), key=self.names.__getitem__), dtype=np.int64)
