"""Totals of all plays of an event, and the places: by total IMPs, then by the profile's chain of tie-breaks.

Adding one play recomputes only its comparison group. `Ledger.of(plays)` and the same plays added one by one give the
same totals (a test checks this), so the desk can follow a large event live and an audit can recompute it.

In an individual event the total is the sum of a player's IMPs over all plays, minus fines (MIL, OEDMC). A part of it
may count in the next session (`carry_over` of the profile). Players still tied after all tie-breaks (RULES, "Ties")
share a place (1, 1, 3).
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Any, overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from broker.rules import ComparisonRules, TieBreak
from broker.scoring.compare import (
    Adjustment,
    ComparisonGroup,
    Entries,
    Exact,
    GroupKey,
    PlayKey,
    ScoredPlay,
    Whole,
    compare_group,
    cross_imps,
    exact_quotient,
    numbering,
    seat_array,
    sort_into_groups,
)

TABLE = attrgetter("table")


@dataclass(frozen=True, eq=False)
class GroupRow:
    """One comparison group, and the numbers of its entries in the shape (plays, seats)."""

    group: ComparisonGroup
    entries: Whole

    @classmethod
    def of(cls, plays: Iterable[ScoredPlay], profile: ComparisonRules, number: Mapping[str, int]) -> "GroupRow":
        """Compare plays of one group. `number` gives the number of every entry."""
        compared = compare_group(plays, profile)
        members = compared.members
        names = chain.from_iterable(play.entries for play in members)
        return cls(compared, seat_array(map(number.__getitem__, names), len(members)))

    @cached_property
    def tables(self) -> Whole:
        """The tables of the group's plays, in order."""
        return np.array([play.table for play in self.group.members], dtype=np.int64)

    def of_table(self, table: int) -> ScoredPlay | None:
        """Return this table's play, if it is in the group."""
        at = self._place(table)
        found = self.group.members[at : at + 1]
        return found[0] if found and found[0].table == table else None

    def with_play(self, play: ScoredPlay, number: Mapping[str, int]) -> "GroupRow":
        """Return the row with one play added."""
        single, at, group = GroupRow.of([play], self.group.profile, number), self._place(play.table), self.group
        members = (*group.members[:at], play, *group.members[at:])
        points = np.insert(group.points, at, single.group.points[0], axis=0)
        return GroupRow(
            ComparisonGroup(members, points, group.profile), np.insert(self.entries, at, single.entries[0], axis=0)
        )

    def without(self, table: int) -> "GroupRow | None":
        """Return the row without one table's play; None if no play is left."""
        at, group = self._place(table), self.group
        members = group.members[:at] + group.members[at + 1 :]
        if not members:
            return None
        points = np.delete(group.points, at, axis=0)
        return GroupRow(ComparisonGroup(members, points, group.profile), np.delete(self.entries, at, axis=0))

    def _place(self, table: int) -> int:
        return bisect_left(self.group.members, table, key=TABLE)


Imps = NDArray[Any]
"""Integers, or exact fractions as objects where a profile takes means of IMPs."""


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums by entry number. `imp` is what remains after `fines`; `points` are those scored at the tables."""

    imp: Imps
    fines: Whole
    plays: Whole
    points: Whole

    @classmethod
    def zero(cls, size: int, *, fractions: bool) -> "Totals":
        """Return zero totals for this many entries."""
        empty = [np.zeros(size, dtype=np.int64) for _ in range(3)]
        return cls(np.zeros(size, dtype=object if fractions else np.int64), *empty)

    def resized(self, size: int) -> "Totals":
        """Return a copy for as many entries or more."""
        more = size - len(self.imp)
        return Totals(*(np.pad(column, (0, more)) if more else column.copy() for column in self.columns))

    @property
    def columns(self) -> tuple[Imps, Whole, Whole, Whole]:
        """All four columns, in the order of the constructor's arguments."""
        return self.imp, self.fines, self.plays, self.points

    def count(self, row: GroupRow, sign: int) -> None:
        """Add a comparison group's results, or subtract them with `sign` -1."""
        np.add.at(self.imp, row.entries, sign * exact_imps(row.group))
        np.add.at(self.points, row.entries, sign * row.group.points)
        np.add.at(self.plays, row.entries, sign)

    def count_rulings(self, play: ScoredPlay, entries: Entries, sign: int) -> None:
        """Add the arbiter's awards and fines for a play, or subtract them (`sign` -1). Fines enter no datum (OEDMC)."""
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


def exact_imps(group: ComparisonGroup) -> Imps:
    """Return the IMPs of a group's plays and seats, divided by `divisor`."""
    if group.divisor == 1:
        return group.imps
    return np.array(
        [[exact_quotient(imp, group.divisor) for imp in play] for play in group.imps.tolist()], dtype=object
    )


@dataclass(frozen=True, eq=False)
class Ledger:
    """Plays and totals at one point in time. Ledgers never change: `with_play` returns a new one."""

    profile: ComparisonRules
    entries: Entries
    totals: Totals
    rows: Mapping[GroupKey, GroupRow]
    unplayed: Mapping[PlayKey, ScoredPlay]
    """Plays without points, for which only the arbiter's awards and fines count."""

    @classmethod
    def of(cls, plays: Iterable[ScoredPlay], profile: ComparisonRules, names: Iterable[str] = ()) -> "Ledger":
        """Compare and add up all plays, one for each `key`. `names` are listed even before their first play."""
        listed = tuple(plays)
        number = numbering(names)
        rows = {key: GroupRow.of(members, profile, number) for key, members in sort_into_groups(listed).items()}
        unplayed = {play.key: play for play in listed if play.points is None}
        entries = Entries(dict(number)).with_names(name for play in unplayed.values() for name in play.entries)
        return cls._added_up(profile, entries, rows, unplayed)

    @classmethod
    def _added_up(
        cls,
        profile: ComparisonRules,
        entries: Entries,
        rows: Mapping[GroupKey, GroupRow],
        unplayed: Mapping[PlayKey, ScoredPlay],
    ) -> "Ledger":
        """Add up compared plays, and those for which only rulings count."""
        totals = Totals.zero(len(entries.number), fractions=profile.imp.method.value == "cross")
        for row in rows.values():
            totals.count(row, 1)
        played = (play for row in rows.values() for play in row.group.members)
        for play in chain(played, unplayed.values()):
            if play.fines or play.awards:
                totals.count_rulings(play, entries, 1)
        return cls(profile, entries, totals, rows, unplayed)

    @property
    def groups(self) -> tuple[ComparisonGroup, ...]:
        """All comparison groups, by deal, section and form."""
        return tuple(self.rows[key].group for key in sorted(self.rows))

    def plays_of(self, deal: int) -> list[ScoredPlay]:
        """Return all plays of a deal in any section and form, including those without points."""
        compared = [play for key, row in self.rows.items() if key[0] == deal for play in row.group.members]
        return compared + [play for key, play in self.unplayed.items() if key[0] == deal]

    def with_play(self, play: ScoredPlay) -> "Ledger":
        """Return the ledger with one play added, or replaced if it has a play with the same `key`."""
        before, entries = self.without(play), self.entries.with_names(play.entries)
        totals = before.totals.resized(len(entries.number))
        rows, unplayed = dict(before.rows), dict(before.unplayed)
        if play.points is None:
            unplayed[play.key] = play
        else:
            row = rows.get(play.group)
            new_row = row.with_play(play, entries.number) if row else GroupRow.of([play], self.profile, entries.number)
            _replace_group(totals, rows, play.group, new_row)
        totals.count_rulings(play, entries, 1)
        return replace(self, entries=entries, totals=totals, rows=rows, unplayed=unplayed)

    def without(self, play: ScoredPlay) -> "Ledger":
        """Return the ledger without the play of this `key`, if there is one, in whatever form it was compared."""
        in_any_form = (row.of_table(play.table) for key, row in self.rows.items() if key[:2] == play.group[:2])
        old = next((one for one in in_any_form if one), self.unplayed.get(play.key))
        if old is None:
            return self
        totals = self.totals.resized(len(self.entries.number))
        rows, unplayed = dict(self.rows), dict(self.unplayed)
        totals.count_rulings(old, self.entries, -1)
        if unplayed.pop(old.key, None) is None:
            _replace_group(totals, rows, old.group, rows[old.group].without(old.table))
        return replace(self, totals=totals, rows=rows, unplayed=unplayed)

    def of_deals(self, deals: Container[int]) -> "Ledger":
        """Return the ledger of some of the deals only, without IMPs that belong to no play."""
        rows = {key: row for key, row in self.rows.items() if key[0] in deals}
        unplayed = {key: play for key, play in self.unplayed.items() if key[0] in deals}
        return self._added_up(self.profile, self.entries, rows, unplayed)

    def with_adjustments(self, adjustments: Iterable[Adjustment]) -> "Ledger":
        """Return the ledger with IMPs added that belong to no play."""
        listed = tuple(adjustments)
        entries = self.entries.with_names(one.name for one in listed)
        totals = self.totals.resized(len(entries.number))
        totals.adjust(listed, entries)
        return replace(self, entries=entries, totals=totals)


def _replace_group(totals: Totals, rows: dict[GroupKey, GroupRow], key: GroupKey, new: GroupRow | None) -> None:
    """Replace the group of a key, and update the totals."""
    old = rows.pop(key, None)
    if old is not None:
        totals.count(old, -1)
    if new is not None:
        rows[key] = new
        totals.count(new, 1)


TieBreaker = Callable[[Whole], NDArray[Any]]
"""A function from the numbers of the entries tied so far to a key for each. The greater key is the better."""


class Ranked(Struct, frozen=True, gc=False):
    """One line of the standings. `imp` is what remains after `fines`."""

    place: int
    name: str
    imp: Exact
    fines: int
    plays: int


@dataclass(frozen=True, eq=False)
class Ranking(Sequence[Ranked]):
    """The standings of all entries, stored as columns; lines are created when they are read."""

    places: Whole
    order: Whole
    entries: Entries
    totals: Totals

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, at: int) -> Ranked: ...

    @overload
    def __getitem__(self, at: slice) -> "Ranking": ...

    def __getitem__(self, at: int | slice) -> "Ranked | Ranking":
        if isinstance(at, slice):
            return replace(self, places=self.places[at], order=self.order[at])
        return next(iter(self[range(len(self))[at] :][:1]))

    def __iter__(self) -> Iterator[Ranked]:
        totals = self.totals
        columns = (column[self.order].tolist() for column in (totals.imp, totals.fines, totals.plays))
        names = map(self.entries.names.__getitem__, self.order.tolist())
        return map(Ranked, self.places.tolist(), names, *columns)


def rank(
    entries: Entries, totals: Totals, chain: Sequence[TieBreaker] = (), without_standing: Collection[str] = ()
) -> Ranking:
    """Rank entries, best first. Entries in `without_standing` are left out and take no place."""
    left_out = [entries.number[name] for name in without_standing if name in entries.number]
    order = entries.alphabetical[~np.isin(entries.alphabetical, left_out)]
    runs = np.zeros_like(order)  # all are equal at first
    for breaker in (totals.imp.__getitem__, *chain):
        for first, end in _ties(runs):
            tied = order[first:end]
            keys = np.asarray(breaker(tied))
            best_first = np.argsort(-keys, kind="stable")
            order[first:end] = tied[best_first]
            runs[first:end] = first + _runs(keys[best_first])
    return Ranking(runs + 1, order, entries, totals)


def _runs(keys: NDArray[Any]) -> Whole:
    """Return for each of some sorted keys the index at which its run of equal keys begins."""
    begins = np.arange(len(keys))
    begins[1:][keys[1:] == keys[:-1]] = 0
    runs: Whole = np.maximum.accumulate(begins) if len(begins) else begins
    return runs


def _ties(runs: Whole) -> Iterator[tuple[int, int]]:
    """Return the begin and end of each run of more than one."""
    begins = np.flatnonzero(np.diff(runs, prepend=-1))
    ends = np.append(begins[1:], len(runs))
    many = ends - begins > 1
    return zip(begins[many].tolist(), ends[many].tolist(), strict=True)


PreviousPlaces = Mapping[str, int]
"""Names and their places after the previous session."""


def tie_breaker(
    name: TieBreak, entries: Entries, totals: Totals, previous: PreviousPlaces, direct: TieBreaker
) -> TieBreaker:
    """Return one tie-break. `direct` compares the tied entries. Entries without a previous place come last."""
    if name == "direct_comparison":
        return direct
    if name == "points":
        return lambda tied: totals.points[tied]
    if name == "fewest_fines":
        return lambda tied: -totals.fines[tied]
    last = max(previous.values(), default=0) + 1
    return lambda tied: np.array([-previous.get(entries.names[entry], last) for entry in tied.tolist()])


def direct_comparison(ledger: Ledger, tied: Whole) -> Whole:
    """Return the IMPs won against the tied players who sat at the same wind of the same deal, play by play."""
    won = np.zeros(len(ledger.entries.names), dtype=np.int64)
    for row in ledger.rows.values():
        among = np.isin(row.entries, tied)
        for seat in range(among.shape[1]):
            rows = among[:, seat]
            np.add.at(won, row.entries[rows, seat], cross_imps(row.group.points[rows, seat], ledger.profile.imp))
    return won[tied]


def player_standings(
    ledger: Ledger, *, previous: PreviousPlaces | None = None, without_standing: Collection[str] = ()
) -> Ranking:
    """Rank the players. `previous`: their places after the previous session, for the tie-break that uses them."""
    entries, totals, direct = ledger.entries, ledger.totals, partial(direct_comparison, ledger)
    chain = [tie_breaker(name, entries, totals, previous or {}, direct) for name in ledger.profile.ties.chain.value]
    return rank(entries, totals, chain, without_standing)


def carry_over(
    standings: Iterable[Ranked], profile: ComparisonRules, part: Fraction | None = None
) -> tuple[Adjustment, ...]:
    """Return what everybody carries over: the given part of the total, or the profile's.

    In whole IMPs, halves away from zero. Where the profile takes means of IMPs, fractions are not rounded.
    """
    part = Fraction(profile.carry_over.percent.value, 100) if part is None else part
    exact = profile.imp.method.value == "cross"
    return tuple(Adjustment(one.name, one.imp * part if exact else _rounded(one.imp * part)) for one in standings)


def standing_places(standings: Iterable[Ranked]) -> PreviousPlaces:
    """Return the places that may break ties in the next session."""
    return {one.name: one.place for one in standings}


def _rounded(imps: Fraction) -> int:
    size = (2 * abs(imps) + 1) // 2
    return int(size) if imps > 0 else -int(size)
