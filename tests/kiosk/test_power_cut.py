"""SIGKILL at any point: the table is as after an accepted event, and no fact has two numbers."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kiosk.journal import TableJournal
from kiosk.table import Phase, Table
from tests.kiosk.journals import OURS, core, played
from tests.kiosk.tables import Sitting, sitting_in

ROOT = Path(__file__).parents[2]


def states(day: Sitting) -> list[Table]:
    """Return the table before the first event of a day and after each."""
    again = Sitting()
    again.table = Table()
    found = [again.table]
    for event in day.events:
        again.take(event)
        found.append(again.table)
    return found


def play_until_killed(path: Path, events: int, *, midway: bool) -> int:
    """Let a process play this many events, kill it, and return how many it reported as accepted."""
    command = [sys.executable, str(ROOT / "tests" / "kiosk" / "player.py"), str(path)]
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child, child.stdin as to_child, child.stdout as from_child:
        assert from_child.readline() == "ready\n"
        accepted = 0
        for _ in range(events):
            to_child.write("\n")
            to_child.flush()
            accepted += from_child.readline() == "accepted\n"
        if midway:
            to_child.write("\n")
            to_child.flush()
        child.kill()
    return accepted


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_table_killed_again_and_again_loses_nothing_that_was_accepted(path: Path, seed: int) -> None:
    chance, day = random.Random(seed), sitting_in(Phase.FINISHED)
    every = states(day)
    had = 0
    while had < len(day.events):
        events = min(chance.randint(1, 9), len(day.events) - had)
        accepted = play_until_killed(path, events, midway=chance.random() < 0.7)
        journal = TableJournal(path, OURS)
        kept = len([*journal.events()])
        assert kept in {had + accepted, had + accepted + 1}
        assert core(journal).state == every[kept]
        facts = journal.unsent()
        assert [message.fact for message in facts] == day.facts[: len(facts)]
        assert [message.seq for message in facts] == [*range(1, len(facts) + 1)]
        assert len({message.id for message in facts}) == len(facts)
        journal.close()
        had = kept
    assert played(path) == day.table
