"""Compare the strength and speed of simulated players: `python -m tests.benchmarks.club --deals 400`.

Two styles of thinking play each deal twice, once east and west and once south and north. Printed are the points by
which one is ahead of the other, per seat and play, with the 90 % interval over the deals; how plays end; and processor
time.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any, Final

import click

from broker.protocol import SEATS
from broker.rules import load_mcr, new_deal, seat_points
from broker.rules.mcr import fan_judge
from broker.sim.outlook import PLAIN, Style
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable, SimulatedPlay

STYLES: Final[Mapping[str, Style]] = {
    "now": Style(),
    "sure": Style(misjudgement=0.0),
    "dear": Style(value_exponent=1.0, misjudgement=0.0),
    "blind": Style(reads=False, misjudgement=0.0),
    "plain": PLAIN,
}
PAIRS: Final = (("east", "west"), ("south", "north"))
Z90: Final = 1.645


def duel(names: tuple[str, str], strengths: tuple[float, float], seed: int) -> tuple[float, list[SimulatedPlay]]:
    """Play one deal both ways; return the points by which the first style is ahead, per seat and play."""
    payments = load_mcr().payments
    deal = new_deal(seed, SEATS[seed // 4 % 4], SEATS[seed % 4], Random(f"deal {seed}"))
    both_ways = [
        {
            seat: SimulatedPlayer(
                strengths[seat not in pair], Random(f"{seed} {pair[0]} {seat}"), STYLES[names[seat not in pair]]
            )
            for seat in SEATS
        }
        for pair in PAIRS
    ]
    played, ahead = DealTable(deal, payments, fan_judge(payments)).play_all(both_ways), 0
    for pair, play in zip(PAIRS, played, strict=True):
        points = seat_points(play.outcome, payments)
        ahead += sum(points[seat] if seat in pair else -points[seat] for seat in SEATS)
    return ahead / 8, played


@click.command()
@click.option("--deals", default=400, show_default=True)
@click.option("--first", default="now", type=click.Choice(sorted(STYLES)), show_default=True)
@click.option("--second", default="plain", type=click.Choice(sorted(STYLES)), show_default=True)
@click.option("--strengths", type=(float, float), default=(1.0, 1.0), show_default=True)
@click.option("--jobs", default=2, show_default=True)
def club(deals: int, first: str, second: str, strengths: tuple[float, float], jobs: int) -> None:
    """Measure and print."""
    start = time.process_time()
    with ExitStack() as open_pool:
        each: Callable[..., Any] = (
            map if jobs == 1 else partial(open_pool.enter_context(ProcessPoolExecutor(jobs)).map, chunksize=8)
        )
        found = list(each(partial(duel, (first, second), strengths), range(1, deals + 1)))
    ahead, played = [one for one, _ in found], [play for _, plays in found for play in plays]
    endings, number = Counter(play.outcome.win for play in played), len(played)
    values = sorted(value for play in played for value in play.outcome.winners.values())
    half = Z90 * stdev(ahead) / sqrt(deals)
    print(f"{first} ({strengths[0]}) beside {second} ({strengths[1]})")
    print(f"points a seat, play   {fmean(ahead):+.2f} ± {half:.2f}")
    for kind in ("discard", "self_drawn", "draw"):
        print(f"{kind:20}  {100 * endings[kind] / number:.1f} %")
    print(f"two hu or three       {100 * sum(len(play.outcome.winners) > 1 for play in played) / number:.1f} %")
    print(f"tempted to false hu   {100 * sum(bool(play.tempted) for play in played) / number:.1f} %")
    print(f"hand value, median    {values[len(values) // 2]}, mean {fmean(values):.1f}")
    print(f"actions a play        {sum(len(play.actions) for play in played) / number:.0f}")
    if jobs == 1:
        print(f"seconds a play        {(time.process_time() - start) / number:.4f}")


if __name__ == "__main__":
    club()
