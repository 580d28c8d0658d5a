"""Bounds while plays are missing: what each player or team can still reach, and where they are likely to end.

What can be reached is sound rather than tight: each missing play may end in any way that a table can enter, in any form
in which its deal has been played, and one player's gain is not deducted from another's.

Likely places come from a model: a play to come gives IMPs like the plays so far (normally distributed about 0 with
variance s², the mean square of all compared IMPs), independently of who plays. Where m plays may still join the k of a
group, each play's datum moves with a variance of s² · m / (k · (k + m)), which is the variance of the difference
between the means of k plays and of all k + m. For teams the same holds of deals instead of plays, counting those that
all teams have played, whose results no longer move. A likely range is the middle `LIKELY` of `DRAWS` simulated ends,
which are always the same, and never leaves what can be reached. Only the ledger is used: later fines and awards are not
foreseen.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broker.protocol import SEATS
from broker.rules import ComparisonRules
from broker.scoring.compare import ComparisonGroup, Entries, Exact, ScoredPlay, Whole
from broker.scoring.standings import Imps, Ledger, Ranked, exact_imps

ALL: Final = slice(None)

Floats = NDArray[np.floating[Any]]


class Bounds(NamedTuple):
    """What a player can still reach: least and most IMPs, best and worst place."""

    least: Exact
    most: Exact
    best: int
    worst: int
    likely: tuple[int, int] | None = None
    """The range of likely places; None if not requested, or if too few plays were compared to tell."""


def entry_bounds(ledger: Ledger, missing: Iterable[ScoredPlay]) -> dict[str, Bounds]:
    """Return everybody's bounds. `missing` are the plays still to come, whose points are ignored."""
    to_come = tuple(missing)
    entries = ledger.entries.with_names(name for play in to_come for name in play.entries)
    joining = Counter((play.deal, play.section or "") for play in to_come)
    waiting = [entries.number[name] for play in to_come for name in play.entries]
    return reachable_bounds(ledger, entries, joining, np.array(waiting, dtype=np.int64))


def reachable_bounds(
    ledger: Ledger,
    entries: Entries,
    joining: Mapping[tuple[int, str], int],
    waiting: Whole,
    among: Whole | slice = ALL,
) -> dict[str, Bounds]:
    """Return everybody's bounds in an event with many plays to come.

    `joining`: how many plays may still join the groups of a deal and section. `waiting`: the numbers of the entries of
    those plays, repeated for each play to come. `among`: the numbers of the entries that are ranked together.
    """
    least, most = (ledger.totals.resized(len(entries.number)).imp for _ in range(2))
    for (deal, section, _), row in ledger.rows.items():
        if more := joining.get((deal, section), 0):
            now, (low, high) = exact_imps(row.group), _reach(row.group, more)
            np.add.at(least, row.entries, low - now)
            np.add.at(most, row.entries, high - now)
    step = len(ledger.profile.imp.scale.value)
    np.subtract.at(least, waiting, step)
    np.add.at(most, waiting, step)
    least, most, names = least[among], most[among], np.array(entries.names, dtype=object)[among].tolist()
    ahead, behind = _places(least, most, ties_are_parted=bool(ledger.profile.ties.chain.value))
    rows = zip(least.tolist(), most.tolist(), ahead.tolist(), behind.tolist(), strict=True)
    return dict(zip(names, (Bounds(*row) for row in rows), strict=True))


DRAWS: Final = 400
LIKELY: Final = (DRAWS // 10, DRAWS - 1 - DRAWS // 10)
"""The indexes, among the sorted draws, that enclose the middle 80 %."""

FEWEST_PLAYS: Final = 8
"""With fewer compared plays, their spread cannot be estimated."""


def with_likely_places(
    found: Mapping[str, Bounds],
    ledger: Ledger,
    entries: Entries,
    joining: Mapping[tuple[int, str], int],
    waiting: Whole,
) -> dict[str, Bounds]:
    """Return the bounds of players who are ranked together, with likely places. Arguments as for the bounds."""
    compared = [row.group for row in ledger.rows.values() if not row.group.small and len(row.group.members) > 1]
    if not joining or sum(len(group.members) for group in compared) < FEWEST_PLAYS:
        return dict(found)
    imps = np.concatenate([(group.imps / group.divisor).astype(np.float64).ravel() for group in compared])
    mean_square = float(np.mean(imps**2))
    size = len(entries.number)
    variance = np.bincount(waiting, minlength=size) * mean_square
    for (deal, section, _), row in ledger.rows.items():
        if more := joining.get((deal, section), 0):
            members = len(row.group.members)
            np.add.at(variance, row.entries, mean_square * more / (members * (members + more)))
    numbers = np.array([entries.number[name] for name in found], dtype=np.int64)
    now = ledger.totals.resized(size).imp[numbers].astype(np.float64)
    return _likely(found, now, variance[numbers])


def _likely(found: Mapping[str, Bounds], now: Floats, variance: Floats) -> dict[str, Bounds]:
    """Return bounds with likely places, from everybody's IMPs now and the variance of those to come."""
    ends = now + np.random.default_rng(0).normal(size=(DRAWS, len(now))) * np.sqrt(variance)
    places = np.empty(ends.shape, dtype=np.int16)
    np.put_along_axis(places, np.argsort(-ends, axis=1), np.arange(1, len(now) + 1, dtype=np.int16)[None], axis=1)
    low, high = np.sort(places, axis=0)[LIKELY, :]
    return {
        name: reach._replace(likely=(min(max(reach.best, first), reach.worst), max(min(reach.worst, last), reach.best)))
        for (name, reach), first, last in zip(found.items(), low.tolist(), high.tolist(), strict=True)
    }


def team_bounds(
    ranking: Iterable[Ranked], to_come: int, profile: ComparisonRules, won: Sequence[Exact] = ()
) -> dict[str, Bounds]:
    """Return each team's bounds while `to_come` deals are still to be played by all, each worth one conversion at most.

    `won`: what teams have won in single deals, from which likely places are estimated.
    """
    lines = list(ranking)
    step = to_come * max(len(profile.imp.scale.value), abs(profile.small_group.imp.value))
    now = np.array([line.imp for line in lines], dtype=object)
    least, most = now - step, now + step
    ahead, behind = _places(least, most, ties_are_parted=bool(profile.ties.chain.value))
    rows = zip(least.tolist(), most.tolist(), ahead.tolist(), behind.tolist(), strict=True)
    found = dict(zip((line.name for line in lines), (Bounds(*row) for row in rows), strict=True))
    if not to_come or len(won) < FEWEST_PLAYS:
        return found
    variance = to_come * float(np.mean(np.array(won, dtype=np.float64) ** 2))
    return _likely(found, now.astype(np.float64), np.full(len(lines), variance))


def _reach(group: ComparisonGroup, more: int) -> tuple[Imps, Imps]:
    """Return the least and the most IMPs of each play once up to `more` others have joined the group.

    A play's IMPs fall as the points of another rise, so the extremes are reached when all that join have the highest or
    the lowest points; fewer of them move it less. A group that is too small to be compared may stay so.
    """
    most = group.profile.most_points
    low, high = (_joined(group, [points] * more) for points in (most, -most))
    if not group.small:
        return low, high
    now = exact_imps(group)
    return np.minimum(low, now), np.maximum(high, now)


def _joined(group: ComparisonGroup, points: list[int]) -> Imps:
    """Return the IMPs of the group's plays if others join whose seats all have these points."""
    others = np.repeat(np.array(points, dtype=np.int64)[:, None], len(SEATS), axis=1)
    members = (*group.members, *group.members[:1] * len(points))
    joined = ComparisonGroup(members, np.concatenate([group.points, others]), group.profile)
    return exact_imps(joined)[: len(group.members)]


def _places(least: Imps, most: Imps, *, ties_are_parted: bool) -> tuple[Imps, Imps]:
    """Return everybody's best and worst place. If ties are broken, an equal may come out ahead."""
    certainly_ahead = len(least) - np.searchsorted(np.sort(least), most, side="right")
    perhaps_ahead = len(most) - np.searchsorted(np.sort(most), least, side="left" if ties_are_parted else "right")
    itself = (most >= least) if ties_are_parted else (most > least)
    return 1 + certainly_ahead, 1 + perhaps_ahead - itself.astype(np.int64)
