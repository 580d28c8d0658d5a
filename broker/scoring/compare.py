"""Plays of one deal side by side: comparison groups, their datum, and the IMPs of each play.

All numbers are exact, since one point at a threshold can decide a place.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain, count
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from broker.protocol import LAST_TABLE, SEATS, Fault, Seat
from broker.rules import AwardRules, ComparisonRules, DatumRules, ImpRules, RuleError

in_turn_order: Final[Callable[[Any], tuple[Any, ...]]] = itemgetter(*SEATS)
"""Return the four values of a mapping by seat, in turn order."""

PlayKey = tuple[int, str, int]
"""Deal, section, table."""

GroupKey = tuple[int, str, str]
"""Deal, section, form. Plays with the same key are compared with each other."""

TABLE_OFFSET: Final = LAST_TABLE + 1
"""A number greater than any table's.

A table plays a deal once. A play out of place may be its second play of a deal, and is therefore given a number of its
own: that of its table plus a multiple of this.
"""

NO_RULINGS: Final[Mapping[Seat, Any]] = MappingProxyType({})
"""The rulings on most plays, shared so that many thousands of plays need not hold three empty dictionaries each."""


class ScoredPlay(Struct, frozen=True, gc=False):
    """One table's play of one deal: the players, their points, and the arbiter's fines and awards (IMPs)."""

    deal: int
    table: int
    players: Mapping[Seat, str]
    points: Mapping[Seat, int] | None
    """None if void, unplayed or adjusted: the play then enters no datum, and gives its `awards` only."""
    fines: Mapping[Seat, int] = NO_RULINGS
    form: str | None = None
    """The hash of the verified serial order, or the form that the arbiter set instead."""
    section: str | None = None
    """The part of the field within which a datum is taken; None if the field is undivided."""
    awards: Mapping[Seat, int] = NO_RULINGS
    """IMPs given by the arbiter, for an unplayed play or in addition to a played one."""
    stands_for: Mapping[Seat, str] = NO_RULINGS
    """Seats of substitutes: the players whom they replace, who get the IMPs."""

    @property
    def key(self) -> PlayKey:
        """The key of the play. A table plays a deal once; each section numbers its own tables."""
        return self.deal, self.section or "", self.table

    @property
    def group(self) -> GroupKey:
        """The key of the group in which the play is compared."""
        return self.deal, self.section or "", self.form or ""

    @property
    def entries(self) -> tuple[str, ...]:
        """The names under which the four seats score, in turn order."""
        return in_turn_order({**self.players, **self.stands_for} if self.stands_for else self.players)

    def entry(self, seat: Seat) -> str:
        """Return the name under which a seat scores."""
        return self.stands_for.get(seat) or self.players[seat]


def table_of(play: ScoredPlay) -> int:
    """Return the table at which a play took place, whether out of place or not."""
    return play.table % TABLE_OFFSET


class Adjustment(NamedTuple):
    """IMPs that belong to no play: carried over or awarded, and fines, which are subtracted."""

    name: str
    imp: int | Fraction = 0
    fine: int = 0
    stage: int = 0
    """The stage of the event, from 0, in which they were given."""


MOST_INSERTED = 100
"""Up to this many new names are inserted one by one; more are sorted together with all others."""


def numbering(names: Iterable[str] = ()) -> defaultdict[str, int]:
    """Return a mapping that numbers every name on first access."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    for name in names:
        number[name]
    return number


Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Entries:
    """Names and their numbers. Instances never change, so that derived values can be cached."""

    number: Mapping[str, int] = field(default_factory=dict)

    def with_names(self, names: Iterable[str]) -> "Entries":
        """Return the entries with new names added; the same object if there are none."""
        new = [name for name in dict.fromkeys(names) if name not in self.number]
        if not new:
            return self
        more = Entries({**self.number, **{name: at for at, name in enumerate(new, len(self.number))}})
        if len(new) <= MOST_INSERTED and "alphabetical" in self.__dict__:
            more.__dict__["alphabetical"] = _sorted_in(self.alphabetical, new, more)
        return more

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names, by number."""
        return tuple(self.number)

    @cached_property
    def alphabetical(self) -> Whole:
        """All numbers, in alphabetical order of the names."""
        return np.array(sorted(range(len(self.names)), key=self.names.__getitem__), dtype=np.int64)


def _sorted_in(order: Whole, new: list[str], entries: Entries) -> Whole:
    """Insert a few new names into the alphabetical order of the others."""
    for name in new:
        at = bisect_left(range(len(order)), name, key=lambda at: entries.names[order[at]])
        order = np.insert(order, at, entries.number[name])
    return order


def awards_for_unplayed(faults: Mapping[Seat, Fault], profile: AwardRules) -> dict[Seat, int]:
    """Return each seat's IMPs for an unplayed play. Raises RuleError `fault_missing`."""
    if set(faults) != set(SEATS):
        raise RuleError("fault_missing", "an unplayed play needs, for each of the four seats, whose fault it was")
    each = {"nobody": profile.nobody.value, "others": profile.others.value, "own": profile.own.value}
    return {seat: each[faults[seat]] for seat in SEATS}


@cache
def imp_steps(scale: ImpRules) -> Whole:
    """Return twice the difference at which each step begins: 2 x bound, or one less with `midpoint`."""
    return 2 * np.array(scale.scale.value, dtype=np.int64) - (scale.gap.value == "midpoint")


def to_imps(numerators: Whole, denominator: int, scale: ImpRules) -> Whole:
    """Convert many differences `numerators / denominator` at once. The result has the shape of `numerators`.

    Exact while 2 x numerator fits in 63 bits.
    """
    sizes = np.searchsorted(denominator * imp_steps(scale), 2 * np.abs(numerators), side="right")
    return np.sign(numerators) * sizes


def cross_imps(points: Whole, scale: ImpRules) -> Whole:
    """Return for each play the sum of the IMPs of its points (n,) against those of every other play.

    Differences of whole points need no rule for gaps. The plays ahead and behind are counted step by step in sorted
    order, so n plays take n log n comparisons for each step of the scale.
    """
    ordered = np.sort(points)
    bounds = np.array(scale.scale.value, dtype=np.int64)
    behind = np.searchsorted(ordered, points[:, None] - bounds, side="right")
    ahead = len(points) - np.searchsorted(ordered, points[:, None] + bounds, side="left")
    return np.asarray((behind - ahead).sum(axis=1), dtype=np.int64)


PARTS: Final = {"tenth": 10, "whole": 1}
"""The denominator of a rounded datum."""


class DatumMean(NamedTuple):
    """Exact means: `sums / divisor`."""

    sums: Whole
    divisor: int


class DatumDifference(NamedTuple):
    """Points minus datum, exactly: `numerators / denominator`, of the shape (plays, seats)."""

    numerators: Whole
    denominator: int


def datum_differences(points: Whole, datum: DatumRules) -> DatumDifference:
    """Return the differences of points (plays, seats) from their datum.

    Needs at least two plays if a player's own score is excluded.
    """
    means = datum_reference(points, datum)
    return DatumDifference(means.divisor * points - means.sums, means.divisor)


def datum_reference(points: Whole, datum: DatumRules) -> DatumMean:
    """Return what points (plays, seats) are compared with: one datum a seat, or one a play without its own score."""
    sums = points.sum(axis=0, keepdims=True)
    if datum.own_score.value == "excluded":
        return datum_mean(sums - points, len(points) - 1, datum)
    return datum_mean(sums, len(points), datum)


def datum_mean(sums: Whole, count: int, datum: DatumRules) -> DatumMean:
    """Divide sums by the number of scores, rounding as the profile says."""
    if datum.rounding.value == "none":
        return DatumMean(sums, count)
    parts = PARTS[datum.rounding.value]
    return DatumMean(half_away(parts * sums, count), parts)


def half_away(numerators: Whole, denominator: int) -> Whole:
    """Round to whole numbers, halves away from zero."""
    rounded: Whole = np.sign(numerators) * ((2 * np.abs(numerators) + denominator) // (2 * denominator))
    return rounded


Exact = int | Fraction
"""IMPs; a fraction only where a profile takes the mean of several comparisons."""


class PlayWithImps(NamedTuple):
    """One play with the IMPs of its seats, before fines and awards."""

    play: ScoredPlay
    imp: Mapping[Seat, Exact]


@dataclass(frozen=True)
class ComparisonGroup:
    """The plays that are compared with each other, by table. `points` has the shape (plays, seats)."""

    members: tuple[ScoredPlay, ...]
    points: Whole = field(compare=False)
    profile: ComparisonRules

    @property
    def deal(self) -> int:
        """The number of the deal."""
        return self.members[0].deal

    @property
    def form(self) -> str | None:
        """The hash of the form in which the deal was played."""
        return self.members[0].form

    @property
    def section(self) -> str | None:
        """The section of the field."""
        return self.members[0].section

    @property
    def small(self) -> bool:
        """Whether there are too few plays to be compared."""
        return len(self.members) < self.profile.small_group.smallest.value

    @cached_property
    def datum(self) -> dict[Seat, Fraction]:
        """The mean of each seat over all plays of the group, rounded as the profile says.

        Where own scores are excluded, each play has its own datum instead: `own_datums`.
        """
        means = datum_mean(self.points.sum(axis=0), len(self.members), self.profile.datum)
        return {seat: Fraction(total, means.divisor) for seat, total in zip(SEATS, means.sums.tolist(), strict=True)}

    def own_datums(self) -> list[dict[Seat, Fraction]]:
        """Return each play's datum without its own score. Needs two plays."""
        means = datum_reference(self.points, self.profile.datum)
        rows = np.broadcast_to(means.sums, self.points.shape).tolist()
        return [{seat: Fraction(total, means.divisor) for seat, total in zip(SEATS, row, strict=True)} for row in rows]

    @cached_property
    def imps(self) -> Whole:
        """IMPs times `divisor`, of the shape (plays, seats)."""
        if self.small:
            return np.full_like(self.points, self.profile.small_group.imp.value)
        if self.profile.imp.method.value == "cross":
            return np.stack([cross_imps(seat, self.profile.imp) for seat in self.points.T], axis=1)
        return to_imps(*datum_differences(self.points, self.profile.datum), self.profile.imp)

    @property
    def has_own_datums(self) -> bool:
        """Whether each play has its own datum."""
        settings = self.profile
        excluded = settings.datum.own_score.value == "excluded" and settings.imp.method.value == "datum"
        return excluded and not self.small

    @property
    def divisor(self) -> int:
        """The divisor of `imps`: 1, or the number of comparisons whose mean is taken."""
        crossed = self.profile.imp.method.value == "cross" and not self.small
        return len(self.members) - 1 if crossed else 1

    @property
    def plays(self) -> tuple[PlayWithImps, ...]:
        """Each play with its IMPs."""
        divisor = self.divisor
        return tuple(
            PlayWithImps(play, {seat: exact_quotient(value, divisor) for seat, value in zip(SEATS, row, strict=True)})
            for play, row in zip(self.members, self.imps.tolist(), strict=True)
        )


def exact_quotient(numerator: int, divisor: int) -> Exact:
    """Return a quotient, as an int if it is whole."""
    quotient = Fraction(numerator, divisor) if divisor > 1 else numerator
    return int(quotient) if quotient == int(quotient) else quotient


def compare_plays(plays: Iterable[ScoredPlay], profile: ComparisonRules) -> tuple[ComparisonGroup, ...]:
    """Sort plays into comparison groups and compare them. The order of the plays does not matter."""
    return tuple(
        compare_group(members, profile) for _, members in sorted(sort_into_groups(plays).items(), key=itemgetter(0))
    )


def sort_into_groups(plays: Iterable[ScoredPlay]) -> dict[GroupKey, list[ScoredPlay]]:
    """Sort plays into their groups. Plays without points belong to none."""
    by_key: dict[GroupKey, list[ScoredPlay]] = {}
    for play in plays:
        if play.points is not None:
            by_key.setdefault(play.group, []).append(play)
    return by_key


def compare_group(plays: Iterable[ScoredPlay], profile: ComparisonRules) -> ComparisonGroup:
    """Compare plays of one group, all of which have points."""
    members = tuple(sorted(plays, key=attrgetter("table")))
    scored = [play.points for play in members if play.points is not None]
    return ComparisonGroup(members, seat_array(chain.from_iterable(map(in_turn_order, scored)), len(scored)), profile)


def seat_array(values: Iterable[int], plays: int) -> Whole:
    """Return integers, four for each play, as an array of the shape (plays, seats)."""
    return np.fromiter(values, np.int64, plays * len(SEATS)).reshape(plays, len(SEATS))


def json_imp(imp: Exact) -> int | str:
    """Return IMPs for JSON: an integer, or a fraction as text."""
    if isinstance(imp, int):
        return imp
    exact = Fraction(imp)
    return exact.numerator if exact.denominator == 1 else str(exact)
