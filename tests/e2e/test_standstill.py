"""Processes that were waited for in vain print diagnostics."""

import sys

import pytest

from broker.sim.processes import DemoProcess
from tests.e2e.standstill import explained, missing_from
from tests.patience import PATIENCE_S

WAITS = "import threading; print('here', flush=True); threading.Event().wait()"


def test_a_process_waited_for_in_vain_prints_where_its_threads_are() -> None:
    said: list[str] = []
    one = DemoProcess("one", ["-c", WAITS], lambda who, line: said.append(f"{who}: {line}"), [sys.executable])
    try:
        one.wait_for("^here", PATIENCE_S)
        with pytest.raises(TimeoutError) as found, explained(lambda: said, [one]):
            one.wait_for("what it never says", 0.01)
    finally:
        one.stop()
    assert "one: here" in found.value.__notes__[0]
    assert "in wait" in found.value.__notes__[0]


def test_only_tables_with_missing_facts_are_listed() -> None:
    table = {"lifecycle": "ready", "state": "playing", "round": 2, "plays_expected": 3, "gaps": (), "health": {}}
    tables = [{**table, "table": 1, "unsent": 0, "plays_in": 3}, {**table, "table": 2, "unsent": 4, "plays_in": 1}]
    alert = {"code": "table_lost", "table": 2, "text": "table 2 has gone"}
    one, last = missing_from({"tables": tables, "alerts": [alert]})
    assert one.startswith("table 2, lifecycle ready, state playing, round 2, unsent 4, plays_in 1")
    assert last == "alert table_lost, table 2: table 2 has gone"
