"""Cut the power at every write of everything that writes: `make power` or `python -m tests.power [OPTIONS]`."""

import gc
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import count
from typing import Final

import click

from tests.power.cutting import Found, Task, cut
from tests.power.subjects import SUBJECTS

OF_ONE: Final = 250
"""States to open per recording, unless fewer are requested; then the next recording is made, with another seed."""


@click.command()
@click.option("--cuts", default=5000, show_default=True, help="How many states of the disk to open.")
@click.option("--seed", default=1, show_default=True, help="What is written, and where it is cut.")
@click.option("--subject", "names", type=click.Choice([*SUBJECTS]), multiple=True, help="Of these only.")
@click.option("--jobs", default=min(2, os.cpu_count() or 1), show_default=True, help="How many recordings at a time.")
def power(cuts: int, seed: int, names: tuple[str, ...], jobs: int) -> None:
    """Record what real processes write, cut the power everywhere, and open the result with the real programs."""
    gc.freeze()  # child processes need not copy what is loaded so far
    logging.disable()  # programs complain about the disks of a drive that lied
    began, found, states = time.monotonic(), Found(), 0
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:  # detects a child that was killed
        recordings = [pool.submit(_cut, task) for task in _tasks(cuts, seed, names or tuple(SUBJECTS))]
        for recording in as_completed(recordings):
            task, of_it = recording.result()
            found.add(of_it)
            states = found.states.total()
            said = f"{task.subject} {task.seed}: {of_it.states.total()} states of {of_it.operations} operations"
            print(
                f"{said}, {of_it.flushes} flushes, {of_it.promises} promises", *of_it.problems, sep="\n  ", flush=True
            )
    _report(found, time.monotonic() - began)
    print(f"power: {states} states of the disk, {len(found.problems)} of them wrong")
    sys.exit(1 if found.problems or not states else 0)


def _tasks(cuts: int, seed: int, names: tuple[str, ...]) -> Iterator[Task]:
    each = min(OF_ONE, -(-cuts // len(names)))
    for round_ in count(seed):
        for name in names:
            if cuts <= 0:
                return
            yield Task(name, round_, min(each, cuts))
            cuts -= each


def _cut(task: Task) -> tuple[Task, Found]:
    return task, cut(task)


def _report(found: Found, seconds: float) -> None:
    print(f"\n{found.operations} operations, {found.flushes} flushes and {found.promises} promises recorded")
    print(f"{seconds:.0f} s, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    kinds = {"none": "flushed what it said", "one": "lied about one file", "all": "lied about every file"}
    print("disks:  " + ", ".join(f"{kinds[lie]} {number}" for lie, number in sorted(found.states.items())))
    for note, number in sorted(found.notes.items()):
        if number:
            print(f"of a disk that lied: {note}: {number}")


if __name__ == "__main__":
    power()
