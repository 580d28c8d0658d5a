"""Places: by total IMP, then the profile's chain of tie-breaks; who is still equal shares a place (1, 1, 3)."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broker.scoring.compare import Exact
from broker.scoring.entries import Entries
from broker.scoring.imp import Whole
from broker.scoring.totals import Imps, Totals

TieBreaker = Callable[[Whole], NDArray[Any]]
"""Takes the numbers of entries that are equal so far, gives a key for each; the greater the better."""


class Ranked(NamedTuple):
    """One line of the standings; `imp` is what remains after `fines`."""

    place: int
    name: str
    imp: Exact
    fines: int
    plays: int


def rank(
    entries: Entries, totals: Totals, chain: Sequence[TieBreaker] = (), without_standing: Collection[str] = ()
) -> tuple[Ranked, ...]:
    """Put entries in order, best first. Who is `without_standing` is left out, and takes nobody's place."""
    order = entries.alphabetical
    if without_standing:
        left_out = [entries.number[name] for name in without_standing if name in entries.number]
        order = order[~np.isin(order, left_out)]
    order = _sorted(order, totals.imp)
    runs = _runs(totals.imp[order])
    if chain:
        order, runs = _broken(order, runs, chain)
    columns = (totals.imp[order].tolist(), totals.fines[order].tolist(), totals.plays[order].tolist())
    names = map(entries.names.__getitem__, order.tolist())
    return tuple(map(Ranked._make, zip((runs + 1).tolist(), names, *columns, strict=True)))


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
