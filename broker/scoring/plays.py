"""A play as scoring sees it."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec import Struct

from broker.contract.words import LAST_TABLE, SEATS, Seat

by_seat: Final[Callable[[Any], tuple[Any, ...]]] = itemgetter(*SEATS)
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
        return by_seat({**self.players, **self.stands_for} if self.stands_for else self.players)

    def entry(self, seat: Seat) -> str:
        """Give in whose name this seat scores."""
        return self.stands_for.get(seat) or self.players[seat]


def table_of(play: ScoredPlay) -> int:
    """Give the table at which a play was played, out of place or not."""
    return play.table % APART


class Adjustment(NamedTuple):
    """IMPs that belong to no play: carried over or awarded, and fines, which are taken off."""

    name: str
    imp: int | Fraction = 0
    fine: int = 0
