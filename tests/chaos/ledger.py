"""What the players at the tables know: when they began to accept a result, and that it was recorded before their eyes.

A table's process says it on its standard output, a line with one write, so that no kill loses or tears one.
"""

import json
import os
import sys
import time
from collections.abc import Iterable
from typing import Final, Literal

Moment = Literal["accepting", "recorded"]
Play = tuple[int, int]
"""Table and round."""

MARK: Final = "ledger "


class Ledger:
    """What one process tells."""

    def __init__(self) -> None:
        self._noted: set[tuple[Play, Moment]] = set()

    def note(self, table: int, round_: int, what: Moment) -> None:
        """Tell it once, with the time of the machine's monotonic clock."""
        if ((table, round_), what) not in self._noted:
            self._noted.add(((table, round_), what))
            line = f"{MARK}{json.dumps([table, round_, what, time.monotonic_ns()])}\n"
            os.write(sys.stdout.fileno(), line.encode())


class LedgerReader:
    """What all processes have told."""

    def __init__(self) -> None:
        self.accepting: dict[Play, int] = {}
        """When the first player began to accept a play's result; it was nowhere before (ns)."""
        self.recorded: dict[Play, int] = {}
        """When a table first showed that a play is recorded (ns): four players have seen it."""

    def take(self, line: str) -> bool:
        """Take a line in; return whether it was of the ledger."""
        if not line.startswith(MARK):
            return False
        table, round_, what, at = json.loads(line.removeprefix(MARK))
        of = self.accepting if what == "accepting" else self.recorded
        of[table, round_] = min(at, of.get((table, round_), at))
        return True

    def take_kiosk(self, results: Iterable[dict[str, int]]) -> None:
        """Take in what a table says that keeps no ledger: its stored results, with its own (right) wall clock."""
        ahead = time.time_ns() - time.monotonic_ns()
        for result in results:
            at = result["at"] * 1_000_000 - ahead
            self.accepting.setdefault((result["table"], result["round"]), at)
