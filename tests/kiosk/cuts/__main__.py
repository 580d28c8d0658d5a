"""Kills a table's program at every write and in every state: `make cuts` or `python -m tests.kiosk.cuts [OPTIONS]`."""

import gc
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import click

from kiosk.table import Phase
from tests.kiosk.cuts.days import KINDS
from tests.kiosk.cuts.killing import Found, Killing
from tests.memory import memory


@dataclass(frozen=True, slots=True)
class Task:
    """One day, and its cuts."""

    kind: str
    seed: int
    cold: float
    every: int


@click.command()
@click.option("--kills", default=2000, show_default=True, help="How often at least; a day of each sort is a round.")
@click.option("--seed", default=1, show_default=True, help="Which days; the same seed gives the same cuts.")
@click.option("--kind", "kinds", type=click.Choice([*KINDS]), multiple=True, help="Of which sorts only.")
@click.option("--every", default=1, show_default=True, help="At which of a day's cuts: 8 for each eighth.")
@click.option("--cold", default=0.02, show_default=True, help="Share of kills after which it starts from nothing too.")
@click.option("--jobs", default=min(2, os.cpu_count() or 1), show_default=True, help="How many days at a time.")
def cuts(kills: int, seed: int, kinds: tuple[str, ...], every: int, cold: float, jobs: int) -> None:
    """Play days of all kinds, kill the program at every write of each, and compare with a twin that is never killed."""
    gc.freeze()  # what is loaded so far is not copied into the children
    began, found = time.monotonic(), Found()
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:  # it tells when a child has died
        for round_ in count(seed):
            days = [pool.submit(_day, Task(kind, round_, cold, every)) for kind in kinds or KINDS]
            for day in as_completed(days):
                task, of_it = day.result()
                found.add(of_it)
                said = [f"{task.kind} {round_}: {of_it.total} kills, {len(of_it.differences)} differences"]
                print(*said, *of_it.differences, sep="\n  ", flush=True)
            if found.total >= kills or found.differences:
                break
    _report(found, time.monotonic() - began)
    missing = [phase.value for phase in Phase if not found.kills[phase.value]]
    if missing:
        print(f"never killed in: {', '.join(missing)}")
    sys.exit(1 if found.differences or missing else 0)


def _day(task: Task) -> tuple[Task, Found]:
    found = Found()
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        for _ in Killing(task.kind, task.seed, Path(folder), found, task.cold, task.every).kills():
            pass
    return task, found


def _report(found: Found, seconds: float) -> None:
    print(f"\n{found.total} kills in {seconds:.0f} s, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("moment: " + ", ".join(f"{name} {number}" for name, number in sorted(found.moments.items())))
    print("state:  " + ", ".join(f"{phase.value} {found.kills[phase.value]}" for phase in Phase))
    print(f"slowest return, from a process that has its modules: {found.slowest_ms:.0f} ms")
    print(f"slowest of {found.colds} returns from nothing: {found.slowest_cold_ms:.0f} ms")
    print(f"differences: {len(found.differences)}")


if __name__ == "__main__":
    cuts()
