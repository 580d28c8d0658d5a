"""The power cut: a connection that counts durable writes and ends its own process at a given one."""

import os
import shutil
import signal
import sqlite3
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

Moment = Literal["before", "torn", "after"]
"""Before a write; after it, with the end of the last write undone from some byte on; or after all of it."""

START: Final = -1
"""The place in a day of the writes that a program makes while it starts."""

WRITES: Final = ("INSERT", "UPDATE", "CREATE", "DROP", "DELETE")


@dataclass(frozen=True, slots=True)
class Cut:
    """The action of the day, and its write, at which power fails; `write` None: after everything was done and shown."""

    action: int
    write: int | None
    moment: Moment = "after"


class Counted:
    """Counts writes, and ends the process at a cut as a power cut does: no further line of Python runs."""

    def __init__(self, cut: Cut | None, log: Path, note: Callable[[], None] = lambda: None) -> None:
        self._cut, self._log, self._note = cut, log, note
        self._action, self._done = START, 0

    def now(self, action: int) -> None:
        """Set the current action."""
        self._action, self._done = action, 0

    def write(self, do: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the connection gives
        """Do a write, or die at it."""
        cut = self._cut
        here = cut is not None and (cut.action, cut.write) == (self._action, self._done)
        if here and cut is not None and cut.moment == "before":
            die()
        if here:
            kept(self._log)
        given = do()
        if here:
            die()
        self._done += 1
        self._note()
        return given


def die() -> None:
    """End the process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def kept(log: Path) -> None:
    """Save what was on the card before a write."""
    if log.exists():
        shutil.copyfile(log, log.with_name("before-wal"))


def connections(counted: Counted) -> type[sqlite3.Connection]:
    """Return connections whose durable writes are counted."""

    class Watched(sqlite3.Connection):
        """A connection whose writes are counted."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:  # noqa: ANN401 - sqlite3's
            durable = statement == "COMMIT" or (not self.in_transaction and statement.startswith(WRITES))
            if not durable:
                return super().execute(statement, *values)
            return counted.write(lambda: sqlite3.Connection.execute(self, statement, *values))  # type: ignore[no-any-return]  # a cursor

    return Watched


def tear(log: Path, chance: Callable[[int, int], int]) -> bool:
    """Undo the end of the last write from some byte on; return whether there was anything to undo."""
    before = log.with_name("before-wal")
    old, new = before.read_bytes() if before.exists() else b"", log.read_bytes() if log.exists() else b""
    old += b"\0" * (len(new) - len(old))
    if old == new:
        return False
    at = chance(alike(old, new), len(new) - 1 - alike(old[::-1], new[::-1]))
    log.write_bytes(new[:at] + old[at:])
    return True


def alike(one: bytes, other: bytes) -> int:
    """Return the number of equal bytes at the front; both have the same length, and differ somewhere."""
    return bisect_left(range(len(one)), 1, key=lambda end: one[: end + 1] != other[: end + 1])
