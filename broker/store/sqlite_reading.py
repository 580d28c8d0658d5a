"""A journal in SQLite, read while a scorer may be at work on it: nothing is locked, nothing written."""

import sqlite3
import uuid
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

from broker.store.errors import StoreBroken, StoreMissing
from broker.store.journal import VERSION, Entry, RefusedRow


class SqliteReader:
    """A journal in SQLite, as it was when it was opened."""

    def __init__(self, path: Path, event: str) -> None:
        """Open it for reading alone. Raises StoreMissing, StoreBroken."""
        if not path.is_file():
            raise StoreMissing(f"there is no {path.name} in {path.parent}: nothing has been recorded")
        self._store = for_reading(path)
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
        """Give all accepted messages as they are stored. Raises StoreBroken."""
        return entries_in(self._store)

    def refused(self) -> Iterator[RefusedRow]:
        """Give all kept refusals, oldest first. Raises StoreBroken."""
        return refused_in(self._store)


def for_reading(path: Path) -> sqlite3.Connection:
    """Open a file of SQLite's for reading alone.

    Beside a scorer at work there is a write-ahead log, and readers of it hinder nobody. Without one the file is
    whole as it lies; then nothing may be laid beside it, which SQLite would do if it were not told so.
    """
    at_work = path.with_name(path.name + "-wal").exists()
    how = "mode=ro" if at_work else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def rename(path: Path) -> None:
    """Give a store a new name, so that tables notice that it is an older copy and send again what it lacks."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE about SET value = ? WHERE key = 'store'", (uuid.uuid4().hex,))


def entries_in(store: sqlite3.Connection) -> Generator[Entry, None, None]:
    """Give what a journal holds. Raises StoreBroken."""
    try:
        # Not `yield from`: left early it would close the cursor, which a closed connection refuses.
        for row in store.execute("SELECT received_at, body FROM journal ORDER BY height"):  # noqa: UP028 - as said
            yield row
    except sqlite3.DatabaseError as error:
        raise StoreBroken(f"the journal cannot be read: {error}") from None


def refused_in(store: sqlite3.Connection) -> Iterator[RefusedRow]:
    """Give what was refused. Raises StoreBroken."""
    query = "SELECT received_at, code, topic, body, table_no, seq, id FROM refused ORDER BY number"
    try:
        for row in store.execute(query):
            yield RefusedRow(*row)
    except sqlite3.DatabaseError as error:
        raise StoreBroken(f"what was refused cannot be read: {error}") from None
