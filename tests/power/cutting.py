"""Cut the power at every operation of a recording, and open what is left."""

import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.memory import memory
from tests.power.disk import Disk, Lie, Tree, fates
from tests.power.recorder import DISK, Flushed, Operation, Promised, Written, record
from tests.power.subject import Cut, Outcome
from tests.power.subjects import SUBJECTS

KILLS: Final = 4
"""How often a process is killed during a recording, each time at one of this many flushes. What it has written is not
flushed then, and the next process reads it."""
FLUSHES: Final = 25


@dataclass(slots=True)
class Found:
    """The findings."""

    states: Counter[str] = field(default_factory=Counter)
    """By the disk's honesty."""
    notes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    operations: int = 0
    flushes: int = 0
    promises: int = 0

    def add(self, other: "Found") -> None:
        """Add the findings of another process."""
        self.states += other.states
        self.notes += other.notes
        self.problems += other.problems
        self.operations += other.operations
        self.flushes += other.flushes
        self.promises += other.promises


@dataclass(frozen=True, slots=True)
class Task:
    """A recording, and how often to cut it."""

    subject: str
    seed: int
    cuts: int


def recorded(name: str, seed: int) -> tuple[str, list[Operation]]:
    """Let a subject write; return the path of its disk and its operations."""
    chance, subject = random.Random(f"{name} {seed}"), SUBJECTS[name]
    kills = [chance.randrange(1, FLUSHES) for _ in range(chance.randrange(KILLS + 1) if subject.kills else 0)]
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        operations = record(["tests.power.writer", name, str(seed)], Path(folder), kills)
        return f"{folder}/{DISK}", operations


def cut(task: Task, most_problems: int = 5) -> Found:
    """Record a subject, and cut it at each of its operations, or at up to `cuts` of them."""
    root, operations = recorded(task.subject, task.seed)
    found = Found(operations=len(operations))
    found.flushes = sum(isinstance(one, Flushed) for one in operations)
    promises = [one.said for one in operations if isinstance(one, Promised)]
    found.promises = len(promises)
    chance = random.Random(f"{task.subject} {task.seed} cuts")
    check, disk, made = SUBJECTS[task.subject].check, Disk(root), 0
    for at, count in _spread(operations, task.cuts, chance):
        for operation in operations[:at]:
            disk.apply(operation)
            made += isinstance(operation, Promised)
        del operations[:at]
        for lie, tree in _states(disk, count, chance):
            found.states[lie] += 1
            outcome = Outcome()
            with tempfile.TemporaryDirectory(dir=memory()) as folder:
                lay(tree, Path(folder), chance)
                try:
                    check(Cut(Path(folder), promises, made, lie), outcome)
                except Exception as error:  # noqa: BLE001 - any error that would have ended a program
                    outcome.problems.append(f"{type(error).__name__}: {error}")
            found.notes += outcome.notes
            where = f"{task.subject} {task.seed}, after {disk.count} of {found.operations} operations"
            where += f" and {made} promises, lies: {lie}"
            found.problems += [f"{where}: {problem}" for problem in outcome.problems]
            if len(found.problems) >= most_problems:
                return found
    return found


OFTENER: Final = 20
"""How much more often to cut next to a flush, a promise or a renaming than next to a write."""


def _spread(operations: list[Operation], cuts: int, chance: random.Random) -> Iterator[tuple[int, int]]:
    """Yield how many operations to advance, and how many states to open there."""
    plain = [isinstance(one, Written) for one in operations]
    weights = [1 if all(plain[max(0, at - 1) : at + 2]) else OFTENER for at in range(len(operations))]
    last = 0
    for at, count in sorted(Counter(chance.choices(range(len(operations)), weights, k=cuts)).items()):
        yield at + 1 - last, count
        last = at + 1


LIES: Final = 5
"""One state in this many is of a disk that lies."""


def _states(disk: Disk, count: int, chance: random.Random) -> Iterator[tuple[Lie, Tree]]:
    """Yield states after one cut."""
    for number, fate in enumerate(fates(chance, disk.count, count)):
        lie: Lie = "none"
        if chance.randrange(LIES) == 0:
            lie = "one" if number % 2 else "all"
        yield lie, disk.kept(fate, lie)


def lay(tree: Tree, folder: Path, chance: random.Random) -> None:
    """Write a state into a folder. Shared memory (`-shm`) is missing or contains random bytes."""
    for name, content in tree.items():
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)
            if name.endswith("-wal") and chance.random() < 0.3:
                (folder / f"{name.removesuffix('-wal')}-shm").write_bytes(chance.randbytes(32_768))
