"""Measure the speed of simulated players: `python -m tests.benchmarks.par --plays 1000 --before FOLDER`.

Prints processor time per play: of one deal many times in step, as par plays it; with `--alone` of different deals, each
once, as the demo plays them. `--before`: a folder with the package `broker` of another version (`git archive v0.1
broker | tar -x -C FOLDER`), which plays the same at the same time because the machine may be busy; then also the ratio,
and whether both counted the same.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from time import process_time

import click

from broker.protocol import SEATS
from broker.rules import load_mcr, new_deal
from broker.sim.par import PointCounts, Stretch, play_stretch
from broker.sim.plans import plans

Points = list[list[list[int]]]
"""Frequencies of points, by deal and seat."""


def measure(plays: int, seed: int, *, alone: bool) -> tuple[float, Points]:
    """Return processor time in ms per play, without one-time initialisation, and the points."""
    plans()
    deal, payments = new_deal(1, "east", "east", Random(f"deal {seed}")), load_mcr().payments
    deals = [new_deal(at, "east", "east", Random(f"deal {seed} {at}")) for at in range(plays)] if alone else [deal]
    start = process_time()
    counted = [play_stretch(Stretch(one, payments, seed, 0, plays // len(deals))) for one in deals]
    return 1000 * (process_time() - start) / plays, [_rows(one) for one in counted]


def _rows(counted: PointCounts) -> list[list[int]]:
    return [[at, *row] for at, seat in enumerate(SEATS) for row in sorted(counted.points[seat].items())]


@click.command()
@click.option("--plays", default=1000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--alone", is_flag=True, help="Each play of another deal, and by itself.")
@click.option("--before", type=click.Path(path_type=Path, exists=True), help="Where another version's package lies.")
@click.option("--as-json", is_flag=True, hidden=True)
def par(plays: int, seed: int, before: Path | None, *, alone: bool, as_json: bool) -> None:
    """Measure and print."""
    other = None
    if before is not None:
        other = subprocess.Popen(
            [
                sys.executable,
                __file__,
                f"--plays={plays}",
                f"--seed={seed}",
                *(["--alone"] if alone else []),
                "--as-json",
            ],
            env={**os.environ, "PYTHONPATH": str(before)},
            stdout=subprocess.PIPE,
        )
    took, points = measure(plays, seed, alone=alone)
    if as_json:
        print(json.dumps([took, points]))
        return
    print(f"this version   {took:.1f} ms a play")
    if other is not None:
        took_before, counted = json.loads(other.communicate()[0])
        print(f"before         {took_before:.1f} ms a play, {took_before / took:.2f} times as long")
        print("same counts" if counted == points else "OTHER COUNTS")


if __name__ == "__main__":
    par()
