"""How much of a standing is strength: the parts of luck in an event, and who is stronger, from its own results.

**The model.** In a play, the score of a player of strength a is the sum of what the deal gives this seat everywhere, of
a less the mean strength of the three opponents, and of the luck of this play. The four scores sum to zero, so the luck
at the four seats of a table has a correlation of -1/3. This is a mixed model, with strengths crossed with plays; deals
and seats are fixed, as the comparison removes them. With G = Z'QRZ (Z: who sat where; Q removes the mean of each deal
and seat; R: one table's correlations) the sums of a player's differences, s, have the mean G·strengths and the variance
σ²·G. In the eigenvectors of G they are independent, so everything is exact where luck is normal:

* F(h) = (mean of t²/(1 + h·λ)) / s², with t = the rotated sums divided by √λ and s² the mean square of the residuals,
  has the F distribution at the true ratio h of the variances of strength and of luck (A. Wald, Ann. Math. Stat. 18,
  1947, 586). The estimate is where it is 1; drawn values of F give the interval of h.
* Reliability is the squared correlation that sums of IMPs then have with strengths. It is independent of scale.
* Strengths are drawn given the results, together with h by its likelihood; a priori h·λ / (1 + h·λ) is uniform (M. J.
  Daniels, Canad. J. Statist. 27, 1999, 567). So players are not assumed equal whenever h may be 0.

A bootstrap over deals mistakes the observed differences for those of strength and is therefore overconfident; with
shrinkage it tells less than the model (`tests/benchmarks/strength.py` measures both). Nothing here enters a ranking.
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
"""Quantiles that enclose 9 of 10 draws."""

GRID: Final = 400
"""The number of shares of strength, from 0 to 1, at which the likelihood is evaluated."""

FEWEST: Final = 8
"""The degrees of freedom that luck needs besides the players' before anything can be estimated."""

MOST_PLAYERS: Final = 1000
"""Memory grows with the square of the number of players, and time with its cube."""

GOALS: Final = (0.5, 0.8)
"""The reliabilities for which the number of plays is reported."""

FREE: Final = len(SEATS) - 1
"""How many of four scores that sum to zero are free."""


class Interval(NamedTuple):
    """An estimate, and the range of the true value in 9 of 10 cases; None means unbounded."""

    estimate: float | None
    low: float | None
    high: float | None


class Shares(NamedTuple):
    """The shares in the variance of points in a play, which sum to 1."""

    deal: Interval
    """Deal and seat, which duplicate removes."""
    own: Interval
    opponents: Interval
    play: Interval
    """Everything else: draws, discards and decisions of this play."""


@dataclass(frozen=True, eq=False)
class EventStrength:
    """The analysis of an event's compared plays. Players are those who have played, by name."""

    plays: int
    deals: int
    names: tuple[str, ...]
    played: tuple[int, ...]
    """The number of plays of each of `names`."""
    plays_each: float
    """The mean number of plays of a player."""
    shares: Shares
    reliability: Interval
    drawn: Floats
    """Strengths drawn given the results, (draws, players): IMPs a play against average opponents."""

    @cached_property
    def number(self) -> dict[str, int]:
        """Each player's index in `names`."""
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def strengths(self) -> dict[str, Interval]:
        """Each player's strength, in IMPs a play against average opponents."""
        columns = (self.drawn.mean(axis=0), *np.quantile(self.drawn, INTERVAL, axis=0))
        return dict(zip(self.names, map(Interval, *(column.tolist() for column in columns)), strict=True))

    def stronger(self, one: str, other: str) -> float:
        """Return the probability that the first player is the stronger."""
        first, second = (self.drawn[:, self.number[name]] for name in (one, other))
        return float(np.mean(first > second) + np.mean(first == second) / 2)

    def ahead(self, names: Sequence[str], than: str | None = None) -> list[float | None]:
        """Return each player's probability of being stronger than the next one, or than `than`; None if alone."""
        others = [than] * len(names) if than else [*names[1:], None]
        pairs = zip(names, others, strict=False)
        return [None if other in {None, name} else self.stronger(name, other or "") for name, other in pairs]

    def plays_for(self, reliability: float) -> Interval:
        """Return how many plays each player would need for a standing of this reliability (Spearman and Brown)."""
        estimate, high, low = (self._plays_for(reliability, now) for now in self.reliability)
        return Interval(estimate, low, high)

    def _plays_for(self, goal: float, now: float | None) -> float | None:
        return self.plays_each * length_factor(now, goal) if now else None


def length_factor(reliability: float, goal: float) -> float:
    """Return the factor by which the number of plays must grow to go from this reliability, above 0, to another."""
    return goal / (1 - goal) * (1 - reliability) / reliability


def event_strength(ledger: Ledger) -> EventStrength | None:
    """Return the analysis of a ledger's compared plays; None if there are too few plays, or too few or many players."""
    return joint_strength([(ledger, str)])


def joint_strength(events: Sequence[tuple[Ledger, Callable[[str], str]]]) -> EventStrength | None:
    """Return the joint analysis of several events, each with a function from its names to those common to all.

    Players are only compared with those who held the same tiles; deals of different events are different. Players of
    events that have no players in common are compared with the mean of their own event. None as for `event_strength`.
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
    imps = _Fit.of([(row.group.imps / row.group.divisor).astype(np.float64) for row in rows], entries, len(numbers))
    if imps.residual_freedom < FEWEST or len(imps.sizes) <= 1:
        return None
    rng = np.random.default_rng(0)
    found = imps.ratios(rng)
    return EventStrength(
        plays=sum(len(one) for one in entries),
        deals=len(deals),
        names=tuple(names[one] for one in numbers),
        played=tuple(np.bincount(np.concatenate(entries, axis=None), minlength=len(numbers)).tolist()),
        plays_each=sum(one.size for one in entries) / len(numbers),
        shares=_shares(points, len(deals), np.random.default_rng(1)),
        reliability=_interval(imps.reliability(imps.ratio_at(np.ones(1)))[0], imps.reliability(found.ratio)),
        drawn=imps.strengths(rng),
    )


def _numbered(entries: Sequence[Whole]) -> tuple[list[int], list[Whole]]:
    """Return the numbers of the entries that played, and who sat where in each group by the index among them."""
    numbers, at = np.unique(np.concatenate(entries), return_inverse=True)
    ends = np.cumsum([len(one) for one in entries])[:-1]
    return numbers.tolist(), np.split(at.reshape(-1, len(SEATS)), ends)


class _Ratios(NamedTuple):
    """Draws of the ratio of the variances of strength and luck, and of the variance of luck."""

    ratio: Floats
    luck: Floats
    normal: Floats
    """The factor by which luck exceeds its estimate, assuming that it is normal."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """Scores in the eigenvectors of G."""

    sizes: Floats
    """The eigenvalues λ other than 0."""
    axes: Floats
    """The eigenvectors, (players, eigenvectors)."""
    rotated: Floats
    """t = v's / √λ."""
    squares: Floats
    """For each group, the sum of squares of all differences from the mean of deal and seat."""
    freedoms: Floats
    """How many of these differences are free."""
    between: Floats
    """For each group, the mean square of the means of its seats."""
    one_by_plays: float
    """The mean of 1 / plays over the groups."""

    @classmethod
    def of(cls, scores: Sequence[Floats], entries: Sequence[Whole], players: int) -> "_Fit":
        """Fit scores (plays, seats) of each group."""
        flat = [one - one.mean(axis=1, keepdims=True) for one in scores]
        means = np.array([one.mean(axis=0) for one in flat])
        differences = [one - mean for one, mean in zip(flat, means, strict=True)]
        sums = np.bincount(
            np.concatenate([one.ravel() for one in entries]), np.concatenate(differences, axis=None), players
        )
        sizes, axes = np.linalg.eigh(_information(entries, players))
        significant = sizes > 1e-9 * max(sizes[-1], 1)
        sizes, axes = sizes[significant], axes[:, significant]
        plays = np.array([len(one) for one in entries])
        return cls(
            sizes=sizes,
            axes=axes,
            rotated=axes.T @ sums / np.sqrt(sizes),
            squares=np.array([(one**2).sum() for one in differences]) * FREE / len(SEATS),
            freedoms=FREE * (plays - 1.0),
            between=(means**2).mean(axis=1),
            one_by_plays=float(np.mean(1 / plays)),
        )

    @property
    def residual_freedom(self) -> float:
        """The degrees of freedom of the residuals."""
        return float(self.freedoms.sum()) - len(self.sizes)

    @property
    def residual_mean_square(self) -> float:
        """The variance of luck, if strengths are taken as they result."""
        return max(float(self.squares.sum() - (self.rotated**2).sum()), 0.0) / self.residual_freedom

    def ratios(self, rng: np.random.Generator) -> _Ratios:
        """Draw both variances, by the distributions of F and of the mean square of the residuals."""
        players = rng.chisquare(len(self.sizes), DRAWS) / len(self.sizes)
        free = effective_freedom(self.squares, self.freedoms, self.residual_freedom)
        normal = rng.chisquare(self.residual_freedom, DRAWS) / self.residual_freedom
        residual = normal
        if free < self.residual_freedom:
            tails = 1 / (1 / free - 1 / self.residual_freedom)
            residual = normal * rng.chisquare(tails, DRAWS) / tails
        ratio, luck = self.ratio_at(players / residual), self.residual_mean_square / residual
        if not np.quantile(ratio, INTERVAL[1]):
            # Players differ less than by luck alone, which does not prove that there is no strength at all.
            ratio[::2] = self.likely_ratios(rng).ratio[::2]
        return _Ratios(ratio, luck, 1 / normal)

    def ratio_at(self, values: Floats) -> Floats:
        """Return the ratios at which F has these values; 0 where F is too small everywhere."""
        ratio = np.concatenate([[0.0], np.geomspace(1e-4, 1e6, 600) / self.sizes.mean()])
        means = (self.rotated**2 / (1 + ratio[:, None] * self.sizes)).mean(axis=1)
        # F falls as the ratio grows; both are negated because `interp` needs rising values.
        return np.interp(-values * self.residual_mean_square, -means, ratio) if means[0] else np.zeros_like(values)

    def reliability(self, ratio: Floats) -> Floats:
        """Return the squared correlation of sums with strengths."""
        sizes, squares = self.sizes.sum(), (self.sizes**2).sum()
        reliability: Floats = ratio * sizes**2 / (len(self.sizes) * (ratio * squares + sizes))
        return reliability

    def likely_ratios(self, rng: np.random.Generator) -> _Ratios:
        """Draw both variances, given the results."""
        share = (np.arange(GRID) + 0.5) / GRID
        ratio = share / (1 - share) / self.sizes.mean()
        spread = 1 + ratio[:, None] * self.sizes
        squares = self.residual_mean_square * self.residual_freedom + (self.rotated**2 / spread).sum(axis=1)
        if not squares.any():
            return _Ratios(np.zeros(DRAWS), np.zeros(DRAWS), np.ones(DRAWS))
        likelihood = -(np.log(spread).sum(axis=1) + self.freedoms.sum() * np.log(squares)) / 2
        weight = np.exp(likelihood - likelihood.max())
        at = rng.choice(GRID, DRAWS, p=weight / weight.sum())
        luck = squares[at] / rng.chisquare(self.freedoms.sum(), DRAWS)
        return _Ratios(ratio[at], luck, np.ones(DRAWS))

    def strengths(self, rng: np.random.Generator) -> Floats:
        """Draw strengths, (draws, players), given the results."""
        ratio, luck, _ = (drawn[:, None] for drawn in self.likely_ratios(rng))
        kept = ratio / (1 + ratio * self.sizes)
        middle, spread = kept * np.sqrt(self.sizes) * self.rotated, np.sqrt(kept * luck)
        strengths: Floats = (middle + spread * rng.standard_normal(middle.shape)) @ self.axes.T
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


def effective_freedom(squares: Floats, freedoms: Floats, most: float) -> float:
    """Return the effective degrees of freedom of a sum of squares, at most `most`, judged by how much its parts differ.

    Points have longer tails than a normal distribution, so that a few plays make up most of their variance, which is
    then known less precisely.
    """
    total = squares.sum()
    differ = ((squares - freedoms * total / freedoms.sum()) ** 2).sum()
    return float(min(most, max(1, 2 * total**2 / differ))) if differ else most


def _shares(points: _Fit, deals: int, rng: np.random.Generator) -> Shares:
    """Return the shares in the variance of points. Deals and seats are a random effect here."""
    drawn, within = points.ratios(rng), float(points.squares.sum() / points.freedoms.sum())
    between = float(points.between.mean())
    free = effective_freedom(points.between, np.ones(len(points.between)), FREE * deals)
    # Where luck exceeds its estimate, less of the variance between deals is due to them. This does not hold where luck
    # only has long tails: the plays that then make up most of it lie both within and between deals.
    noise = within * drawn.normal * points.one_by_plays
    deal = np.maximum(between * free / rng.chisquare(free, DRAWS) - noise, 0)
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


def _interval(estimate: Any, drawn: Floats) -> Interval:  # noqa: ANN401 - a numpy number
    return Interval(float(estimate), *np.quantile(drawn, INTERVAL).tolist())
