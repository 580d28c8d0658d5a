"""Check ratings over events against the truth: how close they come, and how often intervals contain it.

`python -m tests.benchmarks.rating --seasons 100 --seed 1`. A season has a club of players, some of whom are drawn for
each event. Printed are correlations with true strength, of the rating, of mean IMPs per play, and of the players' last
event alone; and how often the truth was in the 90 % interval of the rating, and of events taken one by one.
"""

from typing import Any, Final, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from broker.scoring import Ledger, joint_strength
from broker.scoring.strength import INTERVAL
from tests.benchmarks.strength import World, imps_a_point, played

Floats = NDArray[Any]


class Season(NamedTuple):
    """The events of a season, each a world, with some of the players."""

    world: World
    events: int
    players: int

    def __str__(self) -> str:
        return f"{self.events} events of {self.world}, {self.players} players"


SEASONS: Final = (
    Season(World(4, 16, 0.0245), 2, 40),
    Season(World(4, 16, 0.0245), 10, 40),
    Season(World(4, 16, 0.0245, heavy=True), 10, 40),
    Season(World(4, 16, 0.1), 10, 40),
    Season(World(8, 16, 0.0245), 20, 100),
)


def measured(season: Season, chance: np.random.Generator) -> tuple[float, ...]:
    """Play a season; return the correlations, and the share of intervals that contain the truth."""
    world = season.world
    strengths = world.spread * chance.standard_normal(season.players)
    ledgers = [
        played(world, strengths, chance, chance.choice(season.players, 4 * world.tables, replace=False))
        for _ in range(season.events)
    ]
    found = joint_strength([(ledger, str) for ledger in ledgers])
    assert found is not None
    true = strengths[[int(name[1:]) for name in found.names]] * imps_a_point(world)
    low, high = np.quantile(found.drawn, INTERVAL, axis=0)
    apart = true - true.mean()
    sums = np.array([[_imps(ledger, name) for name in found.names] for ledger in ledgers])
    latest = np.array([[x for x in column if not np.isnan(x)][-1] for column in sums.T])
    ratings = (found.drawn.mean(axis=0), np.nanmean(sums, axis=0), latest)
    return (
        *(float(np.corrcoef(one, true)[0, 1]) if one.std() else 0.0 for one in ratings),
        float(((low <= apart) & (apart <= high)).mean()),
    )


def _imps(ledger: Ledger, name: str) -> float:
    at = ledger.entries.number.get(name)
    return np.nan if at is None else float(ledger.totals.imp[at])


@click.command()
@click.option("--seasons", default=100, show_default=True, help="Of each kind.")
@click.option("--seed", default=1, show_default=True)
def rating(seasons: int, seed: int) -> None:
    """Play seasons whose truth is known, and print a table."""
    click.echo("| season | rating | mean of IMPs | last event | held |\n|---|---|---|---|---|")
    for number, season in enumerate(SEASONS):
        chance = np.random.default_rng([seed, number])
        found = np.mean([measured(season, chance) for _ in range(seasons)], axis=0)
        *correlations, held = found.tolist()
        click.echo(f"| {season} | {' | '.join(f'{one:.3f}' for one in correlations)} | {100 * held:.1f} % |")


if __name__ == "__main__":
    rating()
