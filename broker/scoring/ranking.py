"""Places: by total IMP, then the profile's chain of tie-breaks; who is still equal shares a place (1, 1, 3)."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from broker.scoring.compare import Exact
from broker.scoring.entries import Entries
from broker.scoring.imp import Whole
from broker.scoring.totals import Imps, Totals

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
        order, runs = _broken(order, runs, chain)
    return Ranking(runs + 1, order, entries, totals)


def _sorted(order: Whole, keys: Imps) -> Whole:
    """Sort by key, greatest first; equal ones keep their order."""
    sorted_: Whole = order[np.argsort(-keys[order], kind="stable")]
    return sorted_


def _runs(keys: NDArray[Any]) -> Whole:
    """Give for each of some sorted keys where the run of its equals begins."""
    begins = np.arange(len(keys))
    begins[1:][keys[1:] == keys[:-1]] = 0
    runs: Whole = np.maximum.accumulate(begins) if len(begins) else begins
    return runs


def _broken(order: Whole, runs: Whole, chain: Sequence[TieBreaker]) -> tuple[Whole, Whole]:
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
