"""What the players know: when they began to accept a result, and when the table showed it as recorded.

A table's process prints it, each line with a single write, so that killing the process neither loses nor tears a line.
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
    """Prints the ledger of one process."""

    def __init__(self) -> None:
        self._noted: set[tuple[Play, Moment]] = set()

    def note(self, table: int, round_: int, what: Moment) -> None:
        """Print an entry once, with the machine's monotonic clock."""
        if ((table, round_), what) not in self._noted:
            self._noted.add(((table, round_), what))
            line = f"{MARK}{json.dumps([table, round_, what, time.monotonic_ns()])}\n"
            os.write(sys.stdout.fileno(), line.encode())


class LedgerReader:
    """Collects the ledgers of all processes."""

    def __init__(self) -> None:
        self.accepting: dict[Play, int] = {}
        """When the first player began to accept a play's result (ns); before that, it must be public nowhere."""
        self.recorded: dict[Play, int] = {}
        """When a table first showed a play as recorded (ns), so that four players have seen it."""

    def take(self, line: str) -> bool:
        """Parse a line; return whether it belonged to the ledger."""
        if not line.startswith(MARK):
            return False
        table, round_, what, at = json.loads(line.removeprefix(MARK))
        of = self.accepting if what == "accepting" else self.recorded
        of[table, round_] = min(at, of.get((table, round_), at))
        return True

    def take_kiosk(self, results: Iterable[dict[str, int]]) -> None:
        """Add the stored results of a table that keeps no ledger, with its own wall clock, which is right."""
        ahead = time.time_ns() - time.monotonic_ns()
        for result in results:
            at = result["at"] * 1_000_000 - ahead
            self.accepting.setdefault((result["table"], result["round"]), at)
