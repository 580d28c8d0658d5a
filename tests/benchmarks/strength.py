"""Check statements on luck and strength against the truth: how often intervals contain it, and stated probabilities.

`python -m tests.benchmarks.strength --events 150 --seed 1`. Strengths, deals and luck are drawn; points are rounded,
compared and converted under a rule profile, and separated by `broker/scoring/strength.py`. For comparison, the
bootstrap over deals: as it is, with Student's t for few deals, and shrunk, each repetition by the reliability that it
shows itself. True strength in IMPs is strength in points times the slope of IMPs on it, found in one very long event;
true reliability is the squared correlation over a world's events.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import click
import numpy as np
from numpy.typing import NDArray

from broker.protocol import SEATS
from broker.rules import load_mcr
from broker.scoring import EventStrength, Interval, Ledger, ScoredPlay, event_strength
from broker.scoring.strength import INTERVAL

Floats = NDArray[Any]

PROFILE: Final = load_mcr("oedmc-2020")
HU: Final = 0.85
"""Share of plays that somebody wins, if luck is as in mahjong."""

LONG: Final = 32_000
"""Plays of a very long event; the slope found there is exact to some 2 %."""

DEAL_SPREAD, LUCK_SPREAD = 10.0, 18.0
"""Standard deviation in points; as in docs/why-duplicate.md, 23 % is due to deal and seat."""


@dataclass(frozen=True)
class World:
    """The setting: tables, rounds, and the share of strength in one play compared with very many."""

    tables: int
    rounds: int
    share: float
    heavy: bool = False
    """Whether luck is as in mahjong, where one of four sometimes wins much; otherwise it is normal."""

    @property
    def spread(self) -> float:
        """The standard deviation of strength, in points."""
        return LUCK_SPREAD * float(np.sqrt(self.share / (1 - self.share)))

    def __str__(self) -> str:
        luck = "one wins" if self.heavy else "normal"
        return f"{self.tables} tables, {self.rounds} plays, r {self.share:.4f}, luck {luck}"


def flat(values: Floats) -> Floats:
    """Return four values that sum to zero, each with its previous variance."""
    less: Floats = (values - values.mean(axis=-1, keepdims=True)) * np.sqrt(4 / 3)
    return less


def luck(world: World, shape: tuple[int, ...], chance: np.random.Generator) -> Floats:
    """Draw the luck of plays."""
    if not world.heavy:
        return LUCK_SPREAD * flat(chance.standard_normal(shape))
    won = np.where(chance.random(shape[:-1]) < HU, chance.exponential(size=shape[:-1]), 0)
    winner = chance.integers(0, 4, shape[:-1])
    shares = np.where(np.arange(4) == winner[..., None], 3.0, -1.0)
    points: Floats = LUCK_SPREAD / np.sqrt(3 * 2 * HU) * shares * won[..., None]
    return points


def played(world: World, strengths: Floats, chance: np.random.Generator, players: Floats | None = None) -> Ledger:
    """Play an event: in each round all tables play one deal, with all `players` seated at random."""
    plays = []
    for deal in range(1, world.rounds + 1):
        seats = chance.permutation(np.arange(len(strengths)) if players is None else players).reshape(world.tables, 4)
        own = strengths[seats]
        met = (own.sum(axis=1, keepdims=True) - own) / 3
        points = DEAL_SPREAD * flat(chance.standard_normal(4)) + own - met + luck(world, seats.shape, chance)
        for table, (who, line) in enumerate(zip(seats.tolist(), np.rint(points).astype(int).tolist(), strict=True), 1):
            names = {seat: f"p{number:04}" for seat, number in zip(SEATS, who, strict=True)}
            plays.append(ScoredPlay(deal, table, names, dict(zip(SEATS, line, strict=True))))
    return Ledger.of(plays, PROFILE)


@cache
def imps_a_point(world: World) -> float:
    """Return how many IMPs per play a point of strength is worth: the slope in one very long event."""
    chance = np.random.default_rng(99)
    strengths = world.spread * chance.standard_normal(4 * world.tables)
    ledger = played(replace(world, rounds=LONG // world.tables), strengths, chance)
    number = [int(name[1:]) for name in ledger.entries.names]
    against = flat(np.array([strengths[number][row.entries] for row in ledger.rows.values()]))
    against -= against.mean(axis=1, keepdims=True)
    imps = np.array([row.group.imps for row in ledger.rows.values()])
    # A player of strength a counts as a - mean of three others: 4/3 of the distance from the mean of all four.
    return float((against * imps).sum() / (against**2).sum() / np.sqrt(4 / 3)) if world.spread else 0.0


class Truths:
    """The statements on many events of one world, and the truth."""

    def __init__(self, world: World) -> None:
        self.world, self.within = world, dict[str, list[float]]()
        self.reliability: list[Interval] = []
        self.sums = np.zeros(3)
        self.stated: dict[str, list[tuple[float, bool]]] = {way: [] for way in WAYS}

    def event(self, chance: np.random.Generator) -> None:
        """Play one event, and compare the statements on it with the truth."""
        world = self.world
        strengths = world.spread * chance.standard_normal(4 * world.tables)
        ledger = played(world, strengths, chance)
        found = event_strength(ledger)
        assert found is not None
        true = strengths[[int(name[1:]) for name in found.names]] * imps_a_point(world)
        totals = ledger.totals.imp[[ledger.entries.number[name] for name in found.names]].astype(float)
        self.sums += (np.cov(totals, true)[[0, 0, 1], [0, 1, 1]]) if world.spread else 0
        self.reliability.append(found.reliability)
        apart = true - true.mean()
        low, high = np.quantile(found.drawn, INTERVAL, axis=0)
        self._note("strengths", ((low <= apart) & (apart <= high)).mean())
        parts = np.array([DEAL_SPREAD**2, world.spread**2, world.spread**2 / 3, LUCK_SPREAD**2])
        for name, share, part in zip(found.shares._fields, found.shares, parts / parts.sum(), strict=True):
            self._note(name, holds(share, part))
        self._pairs(found, ledger, totals, true, chance)

    def _pairs(
        self, found: EventStrength, ledger: Ledger, totals: Floats, true: Floats, chance: np.random.Generator
    ) -> None:
        """Compare each player with the fourth one below in the standings, as stated and in truth."""
        order = np.argsort(-totals, kind="stable")
        first, second = order[:-4], order[4:]
        drawn = (found.drawn[:, first] > found.drawn[:, second]).mean(axis=0)
        by_deal = np.zeros((len(ledger.rows), len(totals)))
        place = np.array([found.number.get(name, 0) for name in ledger.entries.names])
        for at, row in enumerate(ledger.rows.values()):
            np.add.at(by_deal[at], place[row.entries], row.group.imps)
        is_true = (true[first] > true[second]).tolist()
        for way, stated in zip(WAYS, (drawn, *bootstraps(by_deal, first, second, chance)), strict=True):
            self.stated[way] += zip(stated.tolist(), is_true, strict=True)

    def _note(self, name: str, inside: float) -> None:
        self.within.setdefault(name, []).append(float(inside))

    def coverage(self) -> str:
        """Return how often the truth was within each 90 % interval."""
        both, each = self.sums[1], self.sums[0] * self.sums[2]
        reliability = both**2 / each if each else 0.0
        inside = np.mean([holds(one, reliability) for one in self.reliability])
        shares = " | ".join(f"{100 * np.mean(one):.1f} %" for one in self.within.values())
        return f"| {self.world} | {reliability:.3f} | {100 * inside:.1f} % | {shares} |"

    def calibration(self) -> str:
        """Return true and stated probabilities, averaged over the pairs, and the mean squared error."""
        ways = [np.array(pairs, dtype=float).T for pairs in self.stated.values()]
        cells = [f"{100 * stated.mean():.0f} %, {((stated - true) ** 2).mean():.3f}" for stated, true in ways]
        return f"| {self.world} | {100 * ways[0][1].mean():.0f} % | {' | '.join(cells)} |"


WAYS: Final = ("model", "bootstrap over deals", "with Student's t", "shrunk")


def bootstraps(by_deal: Floats, first: Floats, second: Floats, chance: np.random.Generator) -> tuple[Floats, ...]:
    """Return the probability, in each way, that the first of a pair is stronger; `by_deal` is deals x players."""
    deals = len(by_deal)
    means = by_deal.mean(axis=0)
    again = chance.multinomial(deals, np.full(deals, 1 / deals), 1000) @ by_deal / deals
    apart = by_deal[:, first] - by_deal[:, second]
    tails = chance.standard_t(deals - 1, (1000, 1)) * apart.std(axis=0, ddof=1) / np.sqrt(deals)
    # A repetition has the luck of the event and its own in addition.
    luck, spread = by_deal.var(axis=0, ddof=1).mean() / deals, again.var(axis=1, ddof=1)
    kept = (np.maximum(spread - 2 * luck, 0) / np.maximum(spread - luck, 1e-9))[:, None]
    shrunk = kept * means + np.sqrt(kept) * (again - means)
    more, less = shrunk[:, first], shrunk[:, second]
    equal = (more == less).mean(axis=0) / 2
    return (
        (again[:, first] > again[:, second]).mean(axis=0),
        (apart.mean(axis=0) + tails > 0).mean(axis=0),
        (more > less).mean(axis=0) + equal,
    )


def holds(interval: Interval, truth: float) -> bool:
    """Return whether the truth is within the interval, to a millionth."""
    low, high = interval.low or 0.0, np.inf if interval.high is None else interval.high
    return low - 1e-6 <= truth <= high + 1e-6


WORLDS: Final = (
    World(4, 16, 0.0245),
    World(4, 64, 0.0245),
    World(16, 16, 0.0245),
    World(16, 16, 0.0245, heavy=True),
    World(4, 32, 0.1, heavy=True),
    World(16, 32, 0.1),
)


@click.command()
@click.option("--events", default=150, show_default=True, help="Of each world.")
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--world", "numbers", multiple=True, type=click.IntRange(1, len(WORLDS)), help="Only this row [default: all]."
)
def strength(events: int, seed: int, numbers: tuple[int, ...]) -> None:
    """Play events whose truth is known, and print two tables."""
    measured = []
    for number, world in enumerate(WORLDS):
        if numbers and number + 1 not in numbers:
            continue
        measured.append(Truths(world))
        chance = np.random.default_rng([seed, number])
        for _ in range(events):
            measured[-1].event(chance)
    click.echo("| world | reliability | held | strengths | deal, seat | own | opponents | play |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for one in measured:
        click.echo(one.coverage())
    click.echo(f"\n| four places apart | true | {' | '.join(WAYS)} |\n|{'---|' * (2 + len(WAYS))}")
    for one in measured:
        click.echo(one.calibration())


if __name__ == "__main__":
    strength()
