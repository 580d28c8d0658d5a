"""Places: by total IMP, then the profile's chain of tie-breaks (RULES, "Ties").

Who is still equal shares a place (1, 1, 3).

In an individual event the total is the sum of a player's IMPs over all plays, minus fines (MIL, OEDMC). A part of it
may count in the next session (`carry_over` of the profile).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from broker.rules import ComparisonRules, TieBreak
from broker.scoring.compare import Adjustment, Entries, Exact, Whole, cross_imps
from broker.scoring.ledger import Imps, Ledger, Totals

TieBreaker = Callable[[Whole], NDArray[Any]]
"""Takes the numbers of entries that are equal so far, gives a key for each; the greater the better."""


class Ranked(Struct, frozen=True, gc=False):
    """One line of the standings; `imp` is what remains after `fines`."""

    place: int
    name: str
    imp: Exact
    fines: int
    plays: int


@dataclass(frozen=True, eq=False)
class Ranking(Sequence[Ranked]):
    """The standings of all entries, as columns; a line is made when it is read."""

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
    """Put entries in order, best first. Who is `without_standing` is left out, and takes nobody's place."""
    order = entries.alphabetical
    if without_standing:
        left_out = [entries.number[name] for name in without_standing if name in entries.number]
        order = order[~np.isin(order, left_out)]
    order = _sorted(order, totals.imp)
    runs = _runs(totals.imp[order])
    if chain:
        order, runs = _ties_broken(order, runs, chain)
    return Ranking(runs + 1, order, entries, totals)


def _sorted(order: Whole, keys: Imps) -> Whole:
    """Sort by key, greatest first; equal ones keep their order."""
    sorted_: Whole = order[np.argsort(-keys[order], kind="stable")]
    return sorted_


def _runs(keys: NDArray[Any]) -> Whole:
    """Return for each of some sorted keys where the run of its equals begins."""
    begins = np.arange(len(keys))
    begins[1:][keys[1:] == keys[:-1]] = 0
    runs: Whole = np.maximum.accumulate(begins) if len(begins) else begins
    return runs


def _ties_broken(order: Whole, runs: Whole, chain: Sequence[TieBreaker]) -> tuple[Whole, Whole]:
    """Part the equal ones, breaker by breaker."""
    order, runs = order.copy(), runs.copy()
    for breaker in chain:
        for first, end in _ties(runs):
            tied = order[first:end]
            keys = np.asarray(breaker(tied))
            best_first = np.argsort(-keys, kind="stable")
            order[first:end] = tied[best_first]
            runs[first:end] = first + _runs(keys[best_first])
    return order, runs


def _ties(runs: Whole) -> Iterator[tuple[int, int]]:
    begins = np.flatnonzero(np.diff(runs, prepend=-1))
    ends = np.append(begins[1:], len(runs))
    many = ends - begins > 1
    return zip(begins[many].tolist(), ends[many].tolist(), strict=True)


PreviousPlaces = Mapping[str, int]
"""Names and their places after the session before."""


def tie_breaker(name: TieBreak, ledger: Ledger, previous: PreviousPlaces) -> TieBreaker:
    """Return one tie-break of an individual event."""
    if name == "direct_comparison":
        return lambda tied: direct_comparison(ledger, tied)
    return simple_tie_breaker(name, ledger.entries, ledger.totals, previous)


def simple_tie_breaker(name: TieBreak, entries: Entries, totals: Totals, previous: PreviousPlaces) -> TieBreaker:
    """Return a tie-break that looks at each entry by itself; who was not ranked before comes last."""
    if name == "points":
        return lambda tied: totals.points[tied]
    if name == "fewest_fines":
        return lambda tied: -totals.fines[tied]
    last = max(previous.values(), default=0) + 1
    return lambda tied: np.array([-previous.get(entries.names[entry], last) for entry in tied.tolist()])


def direct_comparison(ledger: Ledger, tied: Whole) -> Whole:
    """Return the IMPs won against those of the tied who sat at the same wind of the same deal, play against play."""
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
    """Rank the players. `previous`: their places after the session before, for a tie-break that asks for them."""
    chain = [tie_breaker(name, ledger, previous or {}) for name in ledger.profile.ties.chain.value]
    return rank(ledger.entries, ledger.totals, chain, without_standing)


def carry_over(standings: Iterable[Ranked], profile: ComparisonRules) -> tuple[Adjustment, ...]:
    """Return what everybody takes along.

    In whole IMPs, halves away from zero, but where the profile takes means of IMPs: there fractions stay as they are.
    """
    part = Fraction(profile.carry_over.percent.value, 100)
    exact = profile.imp.method.value == "cross"
    return tuple(Adjustment(one.name, one.imp * part if exact else _rounded(one.imp * part)) for one in standings)


def standing_places(standings: Iterable[Ranked]) -> PreviousPlaces:
    """Return the standing that may part ties in the next session."""
    return {one.name: one.place for one in standings}


def _rounded(imps: Fraction) -> int:
    size = (2 * abs(imps) + 1) // 2
    return int(size) if imps > 0 else -int(size)
