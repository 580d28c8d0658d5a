"""Output of the demo's processes is noticed, however late its lines are read."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from broker.sim.processes import DemoProcess
from tests.patience import PATIENCE_S

PRINTS_TWO_LINES = "print('first', 'last', sep='\\n')"


def test_waiting_for_a_line_continues_until_all_lines_of_an_ended_process_are_read() -> None:
    read = threading.Event()

    def hear_late(_who: str, _line: str) -> None:
        read.wait(PATIENCE_S)

    process = DemoProcess("says", ["-c", PRINTS_TWO_LINES], hear_late, [sys.executable])
    with ThreadPoolExecutor(1) as thread:
        try:
            process._process.wait(PATIENCE_S)
            awaited = thread.submit(process.wait_for, "^last$", PATIENCE_S)
            assert wait([awaited], 0.2).done == set()
        finally:
            read.set()
        assert awaited.result() == "last"
        with pytest.raises(TimeoutError, match="did not say 'never'"):
            process.wait_for("never", PATIENCE_S)
    process.stop()
