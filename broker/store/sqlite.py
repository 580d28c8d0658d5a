"""The journal in SQLite, in WAL mode with synchronous=FULL: what is committed survives kill -9 and a power cut.

A reader locks nothing and writes nothing, and may be opened while a scorer is at work.
"""

import fcntl
import sqlite3
import uuid
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from broker.errors import StoreBroken, StoreInUse, StoreMissing
from broker.protocol import encode
from broker.store.journal import MOST_BYTES, MOST_REFUSALS, VERSION, Entry, Recorded, RefusedRow, decoded, sequence_of

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

    def append(self, message: Recorded, received_at: int) -> None:
        """Add one accepted message."""
        row = (received_at, *sequence_of(message), message.id, encode(message))
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
        """Return what is kept beside the journal under keys that begin so, by what follows in the key."""
        rows = self._store.execute("SELECT key, value FROM about WHERE substr(key, 1, ?) = ?", (len(prefix), prefix))
        return {key.removeprefix(prefix): value for key, value in rows}

    def messages(self) -> Iterator[Recorded]:
        """Return all accepted messages in the order in which they were taken. Raises StoreBroken."""
        return decoded(self.entries())

    def entries(self) -> Generator[Entry, None, None]:
        """Return all accepted messages as they are stored. Raises StoreBroken."""
        return _entries_in(self._store)

    def refused(self) -> Iterator[RefusedRow]:
        """Return all kept refusals, oldest first."""
        return _refused_in(self._store)

    def check(self) -> None:
        """Find nothing: a lock of this machine's is not lost while the process lives."""


class SqliteReader:
    """A journal in SQLite, as it was when it was opened."""

    def __init__(self, path: Path, event: str) -> None:
        """Open it for reading alone. Raises StoreMissing, StoreBroken."""
        if not path.is_file():
            raise StoreMissing(f"there is no {path.name} in {path.parent}: nothing has been recorded")
        self._store = open_for_reading(path)
        try:
            self._store.execute("BEGIN")
            about = dict(self._store.execute("SELECT key, value FROM about"))
            if about.get("event") != event or about.get("version") != str(VERSION):
                raise StoreBroken(f"it is of event {about.get('event')}, version {about.get('version')}")
        except (sqlite3.DatabaseError, StoreBroken) as error:
            self.close()
            raise StoreBroken(f"{path.name}: {error}") from None

    def close(self) -> None:
        """Let go of it; may be called twice."""
        self._store.close()

    def entries(self) -> Generator[Entry, None, None]:
        """Return all accepted messages as they are stored. Raises StoreBroken."""
        return _entries_in(self._store)

    def refused(self) -> Iterator[RefusedRow]:
        """Return all kept refusals, oldest first. Raises StoreBroken."""
        return _refused_in(self._store)


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a file of SQLite's for reading alone.

    Beside a scorer at work there is a write-ahead log, and readers of it hinder nobody. Without one the file is
    whole as it lies; then nothing may be laid beside it, which SQLite would do if it were not told so.
    """
    at_work = path.with_name(path.name + "-wal").exists()
    how = "mode=ro" if at_work else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def give_new_name(path: Path) -> None:
    """Give a store a new name, so that tables notice that it is an older copy and send again what it lacks."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE about SET value = ? WHERE key = 'store'", (uuid.uuid4().hex,))


def _entries_in(store: sqlite3.Connection) -> Generator[Entry, None, None]:
    """Return what a journal holds. Raises StoreBroken."""
    try:
        # Not `yield from`: left early it would close the cursor, which a closed connection refuses.
        for row in store.execute("SELECT received_at, body FROM journal ORDER BY height"):  # noqa: UP028 - as said
            yield row
    except sqlite3.DatabaseError as error:
        raise StoreBroken(f"the journal cannot be read: {error}") from None


def _refused_in(store: sqlite3.Connection) -> Iterator[RefusedRow]:
    """Return what was refused. Raises StoreBroken."""
    query = "SELECT received_at, code, topic, body, table_no, seq, id FROM refused ORDER BY number"
    try:
        for row in store.execute(query):
            yield RefusedRow(*row)
    except sqlite3.DatabaseError as error:
        raise StoreBroken(f"what was refused cannot be read: {error}") from None
