"""Measure how long a standby takes to replace a scorer, from its end to the first new result in the standby's store.

`... takeover [BROKER]`. Real processes of two machines, and four tables that keep playing; a line for each way in which
the first one fails, and the cost of following it while nothing happens.
"""

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

from broker.mqtt.programs import Kind
from tests.benchmarks.scorer.hall import children, cpu_s
from tests.e2e.test_standby import take_over
from tests.e2e.two_machines import TwoMachines

PLAYS: Final = 60
IDLE_S: Final = 20.0


def killed(two: TwoMachines) -> None:
    two.first.kill()


def frozen(two: TwoMachines) -> None:
    two.first.signal(signal.SIGSTOP)


def hung(two: TwoMachines) -> None:
    """Freeze the first machine's broker too, so that connections stay open without an answer."""
    assert two.first.process is not None
    for child in children(two.first.process.pid):
        os.kill(child, signal.SIGSTOP)
    frozen(two)


def asked(two: TwoMachines) -> None:
    take_over(two.second.folder)


WAYS: Final[dict[str, Callable[[TwoMachines], None]]] = {
    "kill -9": killed,
    "scorer frozen": frozen,
    "machine frozen": hung,
    "handed over": asked,
}


def line(two: TwoMachines, name: str) -> str:
    """Make the first scorer fail, and return the times of what follows."""
    began, results = time.monotonic(), len(two.second.results())
    WAYS[name](two)
    two.second.wait_for(r"^Standby: taking over")
    decided = time.monotonic() - began
    two.second.wait_for(r"^Desk: ")
    desk = time.monotonic() - began
    two.wait_for_results(two.second, results + 1)
    result = time.monotonic() - began
    return f"{name:15} decided {decided:5.1f} s   desk {desk:5.1f} s   next result {result:5.1f} s"


def idle(two: TwoMachines) -> str:
    """Return the load of both scorers while tables play."""
    assert two.first.process is not None
    assert two.second.process is not None
    pids = two.first.process.pid, two.second.process.pid
    before, began = [cpu_s(pid) for pid in pids], time.monotonic()
    threading.Event().wait(IDLE_S)
    shares = [100 * (cpu_s(pid) - had) / (time.monotonic() - began) for pid, had in zip(pids, before, strict=True)]
    return f"while four tables play: the scorer takes {shares[0]:.1f} % of a processor, its standby {shares[1]:.1f} %"


def main(kind: str = "embedded") -> None:
    """Print a line for each way."""
    for name in WAYS:
        with tempfile.TemporaryDirectory() as base, TwoMachines(Path(base), PLAYS, cast("Kind", kind)) as two:
            two.start()
            two.second.take_over_soon()
            two.wait_for_plays(two.first, 1)
            if name == "kill -9":
                print(idle(two), flush=True)
            print(line(two, name), flush=True)
            if two.first.process is not None and two.first.process.exit_code is None:
                with suppress(ProcessLookupError):
                    for child in (*children(two.first.process.pid), two.first.process.pid):
                        os.kill(child, signal.SIGCONT)


if __name__ == "__main__":
    main(*sys.argv[1:])
