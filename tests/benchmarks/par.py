"""How quick par is: `python -m tests.benchmarks.par --plays 1000 --before FOLDER`.

Prints processor time a play of one deal. `--before`: a folder with the package `broker` of another version
(`git archive v0.1 broker | tar -x -C FOLDER`), which plays the same at the same time, as this machine may be busy; then
also the ratio, and whether both counted the same.
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
from broker.sim.par import Stretch, play_stretch


def measure(plays: int, seed: int) -> tuple[float, list[list[list[int]]]]:
    """Return processor time in milliseconds a play, and how often each seat got which points."""
    deal, start = new_deal(1, "east", "east", Random(f"deal {seed}")), process_time()
    points = play_stretch(Stretch(deal, load_mcr().payments, seed, 0, plays)).points
    return 1000 * (process_time() - start) / plays, [sorted(map(list, points[seat].items())) for seat in SEATS]


@click.command()
@click.option("--plays", default=1000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--before", type=click.Path(path_type=Path, exists=True), help="Where another version's package lies.")
@click.option("--as-json", is_flag=True, hidden=True)
def par(plays: int, seed: int, before: Path | None, *, as_json: bool) -> None:
    """Measure and print."""
    other = None
    if before is not None:
        other = subprocess.Popen(
            [sys.executable, __file__, f"--plays={plays}", f"--seed={seed}", "--as-json"],
            env={**os.environ, "PYTHONPATH": str(before)},
            stdout=subprocess.PIPE,
        )
    took, points = measure(plays, seed)
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
