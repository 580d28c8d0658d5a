"""Diagnostics after a wait has failed: the state of each table, and the threads of each process."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from subprocess import TimeoutExpired
from typing import Any, Final

from broker.sim.processes import DemoProcess

SAYS_S: Final = 20.0
"""How long the diagnostics may take, in seconds."""

LAST_LINES: Final = 200

TOLD: Final = ("table", "lifecycle", "state", "round", "unsent", "plays_in", "plays_expected", "gaps", "health")
"""Fields shown of a table with missing facts."""

MOST_ALERTS: Final = 20


def missing_from(view: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each incomplete table that the desk shows, then the last alerts."""
    for table in view.get("tables", ()):
        if table["unsent"] or table["plays_in"] < table["plays_expected"]:
            yield ", ".join(f"{name} {table[name]}" for name in TOLD)
    for alert in view.get("alerts", ())[:MOST_ALERTS]:
        yield f"alert {alert['code']}, table {alert['table']}: {alert['text']}"


def let_tables_say(*tables: DemoProcess) -> None:
    """Make processes of `tests.chaos.tables` print the state of each of their tables."""
    for one in tables:
        if one.exit_code is None:
            os.kill(one.pid, signal.SIGUSR1)
            with suppress(TimeoutError):
                one.wait_for("^table .* last receipt at", SAYS_S)


def end_saying_where(*processes: DemoProcess) -> None:
    """Abort Python processes, which makes them print the stack of each thread (PYTHONFAULTHANDLER, see conftest)."""
    for one in processes:
        if one.exit_code is None:
            os.kill(one.pid, signal.SIGABRT)
            with suppress(TimeoutExpired):
                one.wait(SAYS_S)


@contextmanager
def explained(
    log: Callable[[], list[str]], processes: Iterable[DemoProcess], tables: Iterable[DemoProcess] = ()
) -> Iterator[None]:
    """If a wait in this context fails, add diagnostics to its exception. The processes are ended for that."""
    try:
        yield
    except BaseException as error:
        let_tables_say(*tables)
        end_saying_where(*processes, *tables)
        error.add_note("\n".join(log()[-LAST_LINES:]))
        raise
