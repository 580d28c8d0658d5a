"""Runs a day in a separate process: without a cut, as a reference, or until it is killed."""

import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kiosk import journal_file
from kiosk.table import Phase
from tests.kiosk.cuts.actions import Day
from tests.kiosk.cuts.cut import Counted, Cut, connections, die
from tests.kiosk.cuts.hands import Running, Snapshot
from tests.kiosk.tables import S

POWER_ON: Final = 100 * S
"""The clock when the machine has started."""

Tell = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Known:
    """What the run without a cut shows of an action."""

    writes: tuple[int, ...]
    """Number of events in the journal after each of its writes."""
    events: int
    phase: Phase
    after: Snapshot


@dataclass(frozen=True, slots=True)
class Start:
    """How a program is started: on which clock, in which run of the machine, and after which actions."""

    at: int
    """Number of completed actions of the day."""
    now: int
    boot: str
    waited: int = 0
    """Time since the latest press of an open claim window, in ns, which another clock cannot know."""
    cut: Cut | None = None


def watched(folder: Path, boot: str, counted: Counted) -> None:
    """Count the writes of this process's journals, and set the run of the machine."""
    (folder / "boot").write_text(boot, encoding="ascii")
    journal_file.BOOT = folder / "boot"  # type: ignore[misc]  # this process ends with the run
    kind, connect = connections(counted), sqlite3.connect

    def connected(path: Path, **said: Any) -> sqlite3.Connection:  # noqa: ANN401 - sqlite3's
        return connect(path, factory=kind, **said)

    sqlite3.connect = connected  # type: ignore[assignment]  # this process ends with the run


def uncut(folder: Path, day: Day) -> list[Known]:
    """Run a whole day; return what is known of the start and of each action."""
    known, done = list[Known](), list[int]()
    running: list[Running] = []
    counted = Counted(None, folder / "table.sqlite-wal", lambda: done.append(running[0].events if running else 0))
    watched(folder, "one", counted)
    table = Running(folder, 0, POWER_ON, lambda *_: None)
    table.begin()
    known.append(Known((), table.events, table.phase, table.snapshot()))
    running.append(table)
    for at, action in enumerate(day):
        done.clear()
        counted.now(at)
        table.take(action)
        known.append(Known(tuple(done), table.events, table.phase, table.snapshot()))
    table.close()
    return known


def until_killed(folder: Path, day: Day, known: list[Known], start: Start, tell: Tell) -> None:
    """Start, compare, continue the day with a comparison after each action, and be killed at the cut."""
    began = time.perf_counter_ns()
    counted = Counted(start.cut, folder / "table.sqlite-wal")
    watched(folder, start.boot, counted)
    table = Running(folder, start.at, start.now, lambda topic, payload: tell("said", topic, payload))
    back_ns = time.perf_counter_ns() - began
    table.begin()
    table.pass_time(start.waited)
    tell("back", back_ns, differing(known[start.at].after, table.snapshot()))
    for at in range(start.at, len(day)):
        counted.now(at)
        table.take(day[at])
        tell("done", at, table.now, differing(known[at + 1].after, table.snapshot()))
        if start.cut == Cut(at, None):
            die()
    table.close()


def differing(twin: Snapshot, cut: Snapshot) -> str:
    """Return the name of the first difference; "" if there is none."""
    for name in ("table", "shown", "facts", "pending", "picture"):
        one, other = getattr(twin, name), getattr(cut, name)
        if one != other and (name != "picture" or None not in (one, other)):
            return f"{name}: {where(one, other)}"
    return ""


def where(one: Any, other: Any) -> str:  # noqa: ANN401 - whatever differs
    """Return where two values differ, as deep as fields go."""
    names = getattr(type(one), "__dataclass_fields__", None)
    if names and type(one) is type(other):
        for name in names:
            if getattr(one, name) != getattr(other, name):
                return f"{name} {where(getattr(one, name), getattr(other, name))}"
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return next(f"[{at}] {where(a, b)}" for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    return f"{str(one)[:300]} became {str(other)[:300]}"


def in_a_process(work: Callable[[], None]) -> int:
    """Run something in a fork of this process, and return its id. The fork ends there, whatever happens."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - reported; nothing of the parent may run
            import traceback  # noqa: PLC0415 - only then

            traceback.print_exc()
            os._exit(1)
    return child
