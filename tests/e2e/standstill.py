"""What those say who were waited for in vain: each table how it stands, and each process where its threads are."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from subprocess import TimeoutExpired
from typing import Any, Final

from broker.sim.processes import DemoProcess

SAYS_S: Final = 20.0
"""For so long somebody says it."""

LAST_LINES: Final = 200

TOLD: Final = ("table", "lifecycle", "state", "round", "unsent", "plays_in", "plays_expected", "gaps", "health")
"""Of a table from which something is missing."""

MOST_ALERTS: Final = 20


def missing_from(view: dict[str, Any]) -> Iterator[str]:
    """Tell, of what the desk shows, from which tables something is missing; then its last alerts."""
    for table in view.get("tables", ()):
        if table["unsent"] or table["plays_in"] < table["plays_expected"]:
            yield ", ".join(f"{name} {table[name]}" for name in TOLD)
    for alert in view.get("alerts", ())[:MOST_ALERTS]:
        yield f"alert {alert['code']}, table {alert['table']}: {alert['text']}"


def let_tables_say(*tables: DemoProcess) -> None:
    """Have processes of `tests.chaos.tables` say how each of their tables stands."""
    for one in tables:
        if one.exit_code is None:
            os.kill(one.pid, signal.SIGUSR1)
            with suppress(TimeoutError):
                one.wait_for("^table .* last receipt at", SAYS_S)


def end_saying_where(*processes: DemoProcess) -> None:
    """End Python's processes: they say where each of their threads is (PYTHONFAULTHANDLER, see conftest)."""
    for one in processes:
        if one.exit_code is None:
            os.kill(one.pid, signal.SIGABRT)
            with suppress(TimeoutExpired):
                one.wait(SAYS_S)


@contextmanager
def explained(
    log: Callable[[], list[str]], processes: Iterable[DemoProcess], tables: Iterable[DemoProcess] = ()
) -> Iterator[None]:
    """Add to what ends a wait what everybody says then. They are ended by it: what is waited for will not come."""
    try:
        yield
    except BaseException as error:
        let_tables_say(*tables)
        end_saying_where(*processes, *tables)
        error.add_note("\n".join(log()[-LAST_LINES:]))
        raise
