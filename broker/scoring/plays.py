"""A play as scoring sees it, who is ranked for it, and awards for a play that could not be played."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import count
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from broker.protocol import LAST_TABLE, SEATS, Fault, Seat
from broker.rules import AwardRules, RuleError

in_turn_order: Final[Callable[[Any], tuple[Any, ...]]] = itemgetter(*SEATS)
"""Takes the four values of a mapping, in turn order."""

PlayKey = tuple[int, str, int]
"""Deal, section, table."""

GroupKey = tuple[int, str, str]
"""Deal, section, form: plays of one key are compared with each other."""

APART: Final = LAST_TABLE + 1
"""More than any table has.

A table plays a deal once. A play out of place may be a second one of it, and so has a number apart: the table's, and
some multiple of this.
"""

NOTHING: Final[Mapping[Seat, Any]] = MappingProxyType({})
"""What is ruled in nearly all plays; of many thousands each would have three empty dictionaries of its own."""


class ScoredPlay(Struct, frozen=True, gc=False):
    """One table playing one deal: who sat where, what they scored, what the arbiter took off or awarded (IMP)."""

    deal: int
    table: int
    players: Mapping[Seat, str]
    points: Mapping[Seat, int] | None
    """None: void, unplayed or adjusted; the play is in no datum, and `awards` are all that it gives."""
    fines: Mapping[Seat, int] = NOTHING
    form: str | None = None
    """Hash of the verified serial order, or what the arbiter put in its place."""
    section: str | None = None
    """The group of the field within which a datum is taken; None: the field is one."""
    awards: Mapping[Seat, int] = NOTHING
    """IMPs given by the arbiter: of an unplayed play, or beside what was played."""
    stands_for: Mapping[Seat, str] = NOTHING
    """Seats of substitutes: for whom they play, and who gets the IMPs."""

    @property
    def key(self) -> PlayKey:
        """Which play it is: a table plays a deal once; sections number their tables each for itself."""
        return self.deal, self.section or "", self.table

    @property
    def group(self) -> GroupKey:
        """With which plays it is compared."""
        return self.deal, self.section or "", self.form or ""

    @property
    def entries(self) -> tuple[str, ...]:
        """In whose name each seat scores, in turn order."""
        return in_turn_order({**self.players, **self.stands_for} if self.stands_for else self.players)

    def entry(self, seat: Seat) -> str:
        """Return in whose name this seat scores."""
        return self.stands_for.get(seat) or self.players[seat]


def real_table(play: ScoredPlay) -> int:
    """Return the table at which a play was played, out of place or not."""
    return play.table % APART


class Adjustment(NamedTuple):
    """IMPs that belong to no play: carried over or awarded, and fines, which are taken off."""

    name: str
    imp: int | Fraction = 0
    fine: int = 0


FEW = 100
"""So many new names are put in their places; more are sorted in with all others."""


def numbering(names: Iterable[str] = ()) -> defaultdict[str, int]:
    """Return a mapping that numbers every name when it is first asked for."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    for name in names:
        number[name]
    return number


Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Entries:
    """Names and their numbers; never changed, so that whatever is computed from them is computed once."""

    number: Mapping[str, int] = field(default_factory=dict)

    def with_names(self, names: Iterable[str]) -> "Entries":
        """Return these and those that are new; the same object where none is."""
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


def awards_for_unplayed(faults: Mapping[Seat, Fault], profile: AwardRules) -> dict[Seat, int]:
    """Return each seat's IMPs for an unplayed play. Raises RuleError `fault_missing`."""
    if set(faults) != set(SEATS):
        raise RuleError("fault_missing", "an unplayed play needs to be told for all four seats whose fault it was")
    each = {"nobody": profile.nobody.value, "others": profile.others.value, "own": profile.own.value}
    return {seat: each[faults[seat]] for seat in SEATS}
