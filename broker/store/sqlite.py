"""The journal in SQLite, in WAL mode with synchronous=FULL: what is committed survives kill -9 and a power cut."""

import fcntl
import sqlite3
import uuid
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from broker.contract.wire import encode
from broker.store.errors import StoreBroken, StoreInUse
from broker.store.journal import MOST_BYTES, MOST_REFUSALS, VERSION, Entry, Kept, RefusedRow, decoded, numbered
from broker.store.sqlite_reading import entries_in, refused_in

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS journal (
    height      INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    table_no    INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    id          TEXT    NOT NULL UNIQUE,
    body        BLOB    NOT NULL,
    UNIQUE (table_no, seq)
) STRICT;
CREATE TABLE IF NOT EXISTS refused (
    number      INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    code        TEXT    NOT NULL,
    topic       TEXT    NOT NULL,
    table_no    INTEGER,
    seq         INTEGER,
    id          TEXT,
    body        BLOB    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS refused_by_id ON refused (id);
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TRIGGER IF NOT EXISTS journal_is_never_changed BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS journal_is_never_shortened BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""


class SqliteJournal:
    """One event's store, open for one scorer at a time."""

    def __init__(self, path: Path, event: str) -> None:
        """Open or make it. Raises StoreInUse, StoreBroken."""
        self._lock = path.with_suffix(".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise StoreInUse(f"another scorer works on {path}") from None
        try:
            self._open(path, event)
        except (sqlite3.DatabaseError, StoreBroken) as error:
            self.close()
            raise StoreBroken(f"{path}: {error}") from None

    def _open(self, path: Path, event: str) -> None:
        self._store = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._store.execute("PRAGMA journal_mode=WAL")
        self._store.execute("PRAGMA synchronous=FULL")
        self._store.executescript(SCHEMA)
        for key, value in (("version", str(VERSION)), ("event", event)):
            self._store.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (key, value))
            (found,) = self._store.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
            if found != value:
                raise StoreBroken(f"its {key} is {found}, not {value}")
        counted = self._store.execute("SELECT table_no, count(*) FROM refused GROUP BY table_no")
        self._refusals = Counter({table: int(count) for table, count in counted})
        self._store.execute("INSERT OR IGNORE INTO about VALUES ('store', ?)", (uuid.uuid4().hex,))
        (self.store,) = self._store.execute("SELECT value FROM about WHERE key = 'store'").fetchone()

    def close(self) -> None:
        """Close it; may be called twice."""
        if hasattr(self, "_store"):
            self._store.close()
        self._lock.close()

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Write a batch as one: all of it is durable at the end, or none."""
        self._store.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._store.execute("COMMIT")
        except BaseException as error:
            if self._store.in_transaction:
                self._store.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise StoreBroken(f"nothing of the batch was kept: {error}") from error
            raise

    @property
    def height(self) -> int:
        """How many messages are in the journal."""
        (height,) = self._store.execute("SELECT coalesce(max(height), 0) FROM journal").fetchone()
        return int(height)

    def append(self, message: Kept, received_at: int) -> None:
        """Add one accepted message."""
        row = (received_at, *numbered(message), message.id, encode(message))
        self._store.execute("INSERT INTO journal (received_at, table_no, seq, id, body) VALUES (?, ?, ?, ?, ?)", row)

    def refuse(self, row: RefusedRow) -> bool:
        """Keep one refused message; the same refusal of the same fact is kept once. Tell whether it is a new one."""
        same = "SELECT 1 FROM refused WHERE id = ? AND code = ? AND body = ?"
        if row.id and self._store.execute(same, (row.id, row.code, row.body[:MOST_BYTES])).fetchone():
            return False
        if self._refusals[row.table] < MOST_REFUSALS:
            self._refusals[row.table] += 1
            self._store.execute(
                "INSERT INTO refused (received_at, code, topic, table_no, seq, id, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (row.received_at, row.code, row.topic, row.table, row.seq, row.id, row.body[:MOST_BYTES]),
            )
        return True

    def remember(self, key: str, value: str) -> None:
        """Keep beside the journal what is no message, in the place of what this key had."""
        self._store.execute("INSERT INTO about VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = ?2", (key, value))

    def remembered(self, prefix: str) -> dict[str, str]:
        """Give what is kept beside the journal under keys that begin so, by what follows in the key."""
        rows = self._store.execute("SELECT key, value FROM about WHERE substr(key, 1, ?) = ?", (len(prefix), prefix))
        return {key.removeprefix(prefix): value for key, value in rows}

    def messages(self) -> Iterator[Kept]:
        """Give all accepted messages in the order in which they were taken. Raises StoreBroken."""
        return decoded(self.entries())

    def entries(self) -> Generator[Entry, None, None]:
        """Give all accepted messages as they are stored. Raises StoreBroken."""
        return entries_in(self._store)

    def refused(self) -> Iterator[RefusedRow]:
        """Give all kept refusals, oldest first."""
        return refused_in(self._store)

    def check(self) -> None:
        """Find nothing: a lock of this machine's is not lost while the process lives."""
