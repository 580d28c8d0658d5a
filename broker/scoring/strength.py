"""How much of a standing is strength: the parts of luck in an event, and who is the stronger, from its own results.

**The model.** In a play, the score of a player of strength a is: what the deal gives this seat everywhere, plus a, less
the mean of the three opponents' strengths, plus the luck of this play. Four scores add up to nothing, so luck at the
four seats of a table has a correlation of -1/3. That is a mixed model, the strengths crossed with the plays; deals and
seats are fixed, as the comparison takes them out. With G = Z'QRZ (Z: who sat where; Q takes the mean of each
deal and seat away; R: one table's correlations) the sums of a player's differences, s, have the mean G·strengths and
the variance σ²·G. In the eigenvectors of G they are independent, so all is exact where luck is normal:

* F(h) = (mean of t²/(1 + h·λ)) / s², t = the rotated sums by √λ, s² the mean square of what is left, has the F
  distribution at the true ratio h of the variances of strength and of luck (A. Wald, Ann. Math. Stat. 18, 1947, 586).
  The estimate is where it is 1; drawn values of F give the interval of h.
* Reliability is the squared correlation that sums of IMPs then have with strengths. It is independent of scale.
* Strengths are drawn given the results, and h with them, by its likelihood; before them h·λ / (1 + h·λ) is uniform (M.
  J. Daniels, Canad. J. Statist. 27, 1999, 567). So not all are taken to be equals wherever h may be 0.

A bootstrap over deals takes the differences that were seen for those of strength, and so is too sure; shrunk, it tells
less than the model (`tests/benchmarks/strength.py` measures both). Nothing here enters a ranking.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broker.protocol import SEATS
from broker.scoring.compare import Whole, numbering
from broker.scoring.standings import GroupRow, Ledger

Floats = NDArray[np.float64]

DRAWS: Final = 2000
INTERVAL: Final = (0.05, 0.95)
"""Between these lie 9 of 10 draws."""

GRID: Final = 400
"""Shares of strength, from 0 to 1, whose likelihood is looked at."""

FEWEST: Final = 8
"""Degrees of freedom that luck needs beside the players, for anything to be said."""

MOST_PLAYERS: Final = 1000
"""Memory grows with the square of their number, and time with its cube."""

GOALS: Final = (0.5, 0.8)
"""Reliabilities of which people ask how many plays they take."""

FREE: Final = len(SEATS) - 1
"""Of four scores that add up to nothing so many are free."""


class Interval(NamedTuple):
    """An estimate, and where the truth lies in 9 of 10 cases; None: beyond all bounds."""

    estimate: float | None
    low: float | None
    high: float | None


class Shares(NamedTuple):
    """The parts of the differences of points in a play; they add up to 1."""

    deal: Interval
    """Deal and seat: what duplicate takes away."""
    own: Interval
    opponents: Interval
    play: Interval
    """All else: draws, discards and decisions of this play."""


@dataclass(frozen=True, eq=False)
class EventStrength:
    """What an event's compared plays tell. Players are those who have played, by name."""

    plays: int
    deals: int
    names: tuple[str, ...]
    played: tuple[int, ...]
    """How many plays each of `names` has."""
    plays_each: float
    """The mean over the players."""
    shares: Shares
    reliability: Interval
    drawn: Floats
    """Strengths, (draws, players): IMPs a play against average opponents, as likely as the results make them."""

    @cached_property
    def number(self) -> dict[str, int]:
        """Where in `names` a player is."""
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def strengths(self) -> dict[str, Interval]:
        """Return everybody's strength, IMPs a play against average opponents."""
        columns = (self.drawn.mean(axis=0), *np.quantile(self.drawn, INTERVAL, axis=0))
        return dict(zip(self.names, map(Interval, *(column.tolist() for column in columns)), strict=True))

    def stronger(self, one: str, other: str) -> float:
        """Return the probability that the first is the stronger player."""
        first, second = (self.drawn[:, self.number[name]] for name in (one, other))
        return float(np.mean(first > second) + np.mean(first == second) / 2)

    def ahead(self, names: Sequence[str], than: str | None = None) -> list[float | None]:
        """Return of each the probability to be stronger than the next, or than one; None if there is no other."""
        others = [than] * len(names) if than else [*names[1:], None]
        pairs = zip(names, others, strict=False)
        return [None if other in {None, name} else self.stronger(name, other or "") for name, other in pairs]

    def plays_for(self, reliability: float) -> Interval:
        """Return how many plays each would take for a standing of this reliability (Spearman and Brown)."""
        estimate, high, low = (self._plays_for(reliability, now) for now in self.reliability)
        return Interval(estimate, low, high)

    def _plays_for(self, goal: float, now: float | None) -> float | None:
        return self.plays_each * longer(now, goal) if now else None


def longer(reliability: float, goal: float) -> float:
    """Return how many times as many plays a standing of this reliability, above 0, needs for another."""
    return goal / (1 - goal) * (1 - reliability) / reliability


def event_strength(ledger: Ledger) -> EventStrength | None:
    """Return what the compared plays of a ledger tell; None if these, or players, are too few or too many for it."""
    return joint_strength([(ledger, str)])


def joint_strength(events: Sequence[tuple[Ledger, Callable[[str], str]]]) -> EventStrength | None:
    """Return what several events tell together, each with what its players are called in all of them.

    Everybody is compared only with those who held the same tiles: a deal of one event is none of another's. Players of
    events that nobody links are compared with the mean of their own. None as for `event_strength`.
    """
    number, rows, seated, deals = numbering(), list[GroupRow](), list[Whole](), set[tuple[int, int]]()
    for event, (ledger, name_of) in enumerate(events):
        numbers_here = np.array([number[name_of(name)] for name in ledger.entries.names], dtype=np.int64)
        for row in ledger.rows.values():
            if len(row.group.members) > 1 and not row.group.small:
                rows.append(row)
                seated.append(numbers_here[row.entries])
                deals.add((event, row.group.deal))
    if not rows:
        return None
    numbers, entries = _numbered(seated)
    names = tuple(number)
    if len(numbers) > MOST_PLAYERS:
        return None
    points = _Fit.of([row.group.points.astype(np.float64) for row in rows], entries, len(numbers))
    imps = _Fit.of([(row.group.imps / row.group.over).astype(np.float64) for row in rows], entries, len(numbers))
    if imps.left < FEWEST or len(imps.sizes) <= 1:
        return None
    chance = np.random.default_rng(0)
    found = imps.ratios(chance)
    return EventStrength(
        plays=sum(len(one) for one in entries),
        deals=len(deals),
        names=tuple(names[one] for one in numbers),
        played=tuple(np.bincount(np.concatenate(entries, axis=None), minlength=len(numbers)).tolist()),
        plays_each=sum(one.size for one in entries) / len(numbers),
        shares=_shares(points, len(deals), np.random.default_rng(1)),
        reliability=_interval(imps.reliability(imps.ratio_at(np.ones(1)))[0], imps.reliability(found.ratio)),
        drawn=imps.strengths(chance),
    )


def _numbered(entries: Sequence[Whole]) -> tuple[list[int], list[Whole]]:
    """Return the entries that played, and of each group who sat where by the place among them."""
    numbers, at = np.unique(np.concatenate(entries), return_inverse=True)
    ends = np.cumsum([len(one) for one in entries])[:-1]
    return numbers.tolist(), np.split(at.reshape(-1, len(SEATS)), ends)


class _Ratios(NamedTuple):
    """Drawn values: of the variance of strength by that of luck, and of the variance of luck."""

    ratio: Floats
    luck: Floats
    normal: Floats
    """By how much luck is greater than it seems, as far as it would be if it were normal."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """Scores in the eigenvectors of G."""

    sizes: Floats
    """Eigenvalues λ other than 0."""
    axes: Floats
    """(players, eigenvectors)."""
    turned: Floats
    """t = v's / √λ."""
    squares: Floats
    """Of each group the sum of squares of all differences from the mean of deal and seat."""
    frees: Floats
    """How many of these differences are free."""
    between: Floats
    """Of each group the mean square of the means of its seats."""
    one_by_plays: float
    """The mean of 1 / plays over the groups."""

    @classmethod
    def of(cls, scores: Sequence[Floats], entries: Sequence[Whole], players: int) -> "_Fit":
        """Fit scores (plays, seats) of each group."""
        flat = [one - one.mean(axis=1, keepdims=True) for one in scores]
        means = np.array([one.mean(axis=0) for one in flat])
        apart = [one - mean for one, mean in zip(flat, means, strict=True)]
        sums = np.bincount(np.concatenate([one.ravel() for one in entries]), np.concatenate(apart, axis=None), players)
        sizes, axes = np.linalg.eigh(_information(entries, players))
        there = sizes > 1e-9 * max(sizes[-1], 1)
        sizes, axes = sizes[there], axes[:, there]
        plays = np.array([len(one) for one in entries])
        return cls(
            sizes=sizes,
            axes=axes,
            turned=axes.T @ sums / np.sqrt(sizes),
            squares=np.array([(one**2).sum() for one in apart]) * FREE / len(SEATS),
            frees=FREE * (plays - 1.0),
            between=(means**2).mean(axis=1),
            one_by_plays=float(np.mean(1 / plays)),
        )

    @property
    def left(self) -> float:
        """Degrees of freedom of what is left beside the strengths."""
        return float(self.frees.sum()) - len(self.sizes)

    @property
    def mean_square_left(self) -> float:
        """The variance of luck, where strengths are taken as they come out."""
        return max(float(self.squares.sum() - (self.turned**2).sum()), 0.0) / self.left

    def ratios(self, chance: np.random.Generator) -> _Ratios:
        """Draw both variances: as F and the mean square of what is left are distributed."""
        players = chance.chisquare(len(self.sizes), DRAWS) / len(self.sizes)
        free = as_good_as(self.squares, self.frees, self.left)
        normal = chance.chisquare(self.left, DRAWS) / self.left
        left = normal
        if free < self.left:
            tails = 1 / (1 / free - 1 / self.left)
            left = normal * chance.chisquare(tails, DRAWS) / tails
        ratio, luck = self.ratio_at(players / left), self.mean_square_left / left
        if not np.quantile(ratio, INTERVAL[1]):
            # Players differ less than luck alone lets them: not a proof that there is no strength at all.
            ratio[::2] = self.likely_ratios(chance).ratio[::2]
        return _Ratios(ratio, luck, 1 / normal)

    def ratio_at(self, values: Floats) -> Floats:
        """Return the ratio at which F has each of these values; 0 where it is nowhere so great."""
        ratio = np.concatenate([[0.0], np.geomspace(1e-4, 1e6, 600) / self.sizes.mean()])
        means = (self.turned**2 / (1 + ratio[:, None] * self.sizes)).mean(axis=1)
        # F falls as the ratio grows; both are turned around for what wants to see values rise.
        return np.interp(-values * self.mean_square_left, -means, ratio) if means[0] else np.zeros_like(values)

    def reliability(self, ratio: Floats) -> Floats:
        """Return the squared correlation of sums with strengths."""
        sizes, squares = self.sizes.sum(), (self.sizes**2).sum()
        reliability: Floats = ratio * sizes**2 / (len(self.sizes) * (ratio * squares + sizes))
        return reliability

    def likely_ratios(self, chance: np.random.Generator) -> _Ratios:
        """Draw both variances, given the results."""
        share = (np.arange(GRID) + 0.5) / GRID
        ratio = share / (1 - share) / self.sizes.mean()
        spread = 1 + ratio[:, None] * self.sizes
        squares = self.mean_square_left * self.left + (self.turned**2 / spread).sum(axis=1)
        if not squares.any():
            return _Ratios(np.zeros(DRAWS), np.zeros(DRAWS), np.ones(DRAWS))
        likelihood = -(np.log(spread).sum(axis=1) + self.frees.sum() * np.log(squares)) / 2
        weight = np.exp(likelihood - likelihood.max())
        at = chance.choice(GRID, DRAWS, p=weight / weight.sum())
        luck = squares[at] / chance.chisquare(self.frees.sum(), DRAWS)
        return _Ratios(ratio[at], luck, np.ones(DRAWS))

    def strengths(self, chance: np.random.Generator) -> Floats:
        """Draw strengths, (draws, players), given the results."""
        ratio, luck, _ = (drawn[:, None] for drawn in self.likely_ratios(chance))
        kept = ratio / (1 + ratio * self.sizes)
        middle, spread = kept * np.sqrt(self.sizes) * self.turned, np.sqrt(kept * luck)
        strengths: Floats = (middle + spread * chance.standard_normal(middle.shape)) @ self.axes.T
        return strengths


def _information(entries: Sequence[Whole], players: int) -> Floats:
    """Return G: how often players sat at one table, at the same seat of a deal, and in the same deal at all."""
    found = np.zeros((players, players))
    seats = len(SEATS)
    for group in entries:
        everybody, plays = group.ravel(), len(group)
        np.add.at(found, (everybody, everybody), 1)
        np.add.at(found, (group[:, :, None], group[:, None, :]), -1 / seats)
        np.add.at(found, (group[:, None, :], group[None, :, :]), -1 / plays)
        np.add.at(found, (everybody[:, None], everybody[None, :]), 1 / (seats * plays))
    return found * seats / FREE


def as_good_as(squares: Floats, frees: Floats, most: float) -> float:
    """Return the degrees of freedom that a sum of squares has by how much its parts differ, at most so many.

    Points have longer tails than a normal distribution: then a few plays make most of their variance, and it is known
    less well.
    """
    total = squares.sum()
    differ = ((squares - frees * total / frees.sum()) ** 2).sum()
    return float(min(most, max(1, 2 * total**2 / differ))) if differ else most


def _shares(points: _Fit, deals: int, chance: np.random.Generator) -> Shares:
    """Return the shares in the variance of points. Deals and seats are a random effect here."""
    drawn, within = points.ratios(chance), float(points.squares.sum() / points.frees.sum())
    between = float(points.between.mean())
    free = as_good_as(points.between, np.ones(len(points.between)), FREE * deals)
    # Where luck is greater than it seems, less of what lies between deals is theirs. Not so where it only has long
    # tails: the plays that then make most of it lie within deals and between them.
    noise = within * drawn.normal * points.one_by_plays
    deal = np.maximum(between * free / chance.chisquare(free, DRAWS) - noise, 0)
    estimate = points.ratio_at(np.ones(1))
    luck = within / (1 + estimate * (1 + 1 / FREE))
    single = _parts(np.maximum([between - within * points.one_by_plays], 0), estimate, luck)
    many = _parts(deal, drawn.ratio, drawn.luck)
    return Shares(*(_interval(one[0], parts) for one, parts in zip(single, many, strict=True)))


def _parts(deal: Floats, ratio: Floats, luck: Floats) -> Floats:
    """Return the shares, (parts, draws), in the order of `Shares`. Opponents: the mean of three strengths."""
    parts = np.stack([deal, ratio * luck, ratio * luck / FREE, luck])
    total = parts.sum(axis=0)
    shares: Floats = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
    return shares


def _interval(estimate: Any, drawn: Floats) -> Interval:  # noqa: ANN401 - a number of numpy's
    return Interval(float(estimate), *np.quantile(drawn, INTERVAL).tolist())
