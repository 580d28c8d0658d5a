"""Reference for `journal.py`: the unavoidable times for a commit alone, and for a frame through a pseudo-terminal.

The kernel passes a pseudo-terminal's bytes (like those of a USB serial port) to the reader from its own thread, which
has to wait for a processor on a busy machine.
"""

import os
import sqlite3
import time
import tty
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Self

from kiosk.journal_file import allocate_log

MS: Final = 1_000_000
LAID_OUT: Final = "bare commit, a log laid out"
GROWS: Final = "bare commit, a log that grows"
PTY: Final = "bare frame over a pty"
ROW: Final = b'{"type":"button_pressed","at":123456789012345,"seat":"east"}'
FRAME: Final = b"!H 3735928559 17 18 1 0 123456789 00000000\n"


class Bare:
    """SQLite, opened as the journal opens it on the same disk, and a pseudo-terminal."""

    def __init__(self, folder: Path) -> None:
        self.taken: dict[str, list[float]] = {LAID_OUT: [], GROWS: [], PTY: []}
        """Times in ms: for each commit of one press, and for each frame."""
        self._stores = {name: self._open(folder / f"bare-{at}.sqlite") for at, name in enumerate((LAID_OUT, GROWS))}
        allocate_log(self._stores[LAID_OUT])
        self._ends = os.openpty()
        for end in self._ends:
            tty.setraw(end)

    def _open(self, path: Path) -> sqlite3.Connection:
        store = sqlite3.connect(path, isolation_level=None)
        store.execute("PRAGMA journal_mode=WAL")
        store.execute("PRAGMA synchronous=FULL")
        store.execute("CREATE TABLE happened (number INTEGER PRIMARY KEY, event BLOB)")
        return store

    def measure(self) -> None:
        """Commit one press, and send one frame."""
        for name, store in self._stores.items():
            self._time(name, partial(store.execute, "INSERT INTO happened (event) VALUES (?)", (ROW,)))
        self._time(PTY, self._send)

    def _time(self, name: str, do: Callable[[], object]) -> None:
        began = time.monotonic_ns()
        do()
        self.taken[name].append((time.monotonic_ns() - began) / MS)

    def _send(self) -> None:
        box, table = self._ends
        left = os.write(box, FRAME)
        while left:
            left -= len(os.read(table, left))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for store in self._stores.values():
            store.close()
        for end in self._ends:
            os.close(end)
