"""The journal in SQLite, in WAL mode with synchronous=FULL: what is committed survives kill -9 and a power cut.

A reader locks nothing and writes nothing, and may be opened while a scorer is at work.
"""

import fcntl
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, QueuePool, create_engine
from sqlalchemy.exc import SQLAlchemyError

from broker.errors import StoreBroken, StoreInUse, StoreMissing
from broker.files import sync_log
from broker.store.journal import VERSION, Journal, JournalTables, Reader, driver_message, transaction

TABLES: Final = JournalTables(shared=False)


def sqlite_engine(opened: Callable[[], sqlite3.Connection]) -> Engine:
    """Return what connects with a file; its connections begin and end no transaction by themselves."""
    return create_engine("sqlite://", creator=opened, poolclass=QueuePool, hide_parameters=True)


def open_for_writing(path: Path, patience_s: float = 0) -> sqlite3.Connection:
    """Open or make a file whose commits are durable. `patience_s`: how long another process may be writing."""
    sync_log(path)
    connection = sqlite3.connect(path, patience_s, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


class SqliteJournal(Journal):
    """The journal in a file, which is locked."""

    BEGIN = "BEGIN IMMEDIATE"

    def __init__(self, path: Path, event: str) -> None:
        """Open or make it. Raises StoreInUse, StoreBroken."""
        self._lock = path.with_suffix(".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise StoreInUse(f"another scorer works on {path}") from None
        try:
            super().__init__(sqlite_engine(partial(open_for_writing, path)), TABLES, event)
            self._open()
        except (SQLAlchemyError, StoreBroken) as error:
            self.close()
            why = driver_message(error) if isinstance(error, SQLAlchemyError) else error
            raise StoreBroken(f"{path}: {why}") from None

    def _open(self) -> None:
        with transaction(self._connection, self.BEGIN):
            TABLES.all.create_all(self._connection)
            self._load(event=self._event)

    def close(self) -> None:
        """Close it; may be called twice."""
        super().close()
        self._lock.close()


class SqliteReader(Reader):
    """A journal in SQLite, as it was when it was opened."""

    def __init__(self, path: Path, event: str) -> None:
        """Open it for reading alone. Raises StoreMissing, StoreBroken."""
        if not path.is_file():
            raise StoreMissing(f"there is no {path.name} in {path.parent}: nothing has been recorded")
        try:
            super().__init__(sqlite_engine(partial(open_for_reading, path)), TABLES, event)
            self._connection.exec_driver_sql("BEGIN")
            about = self._about()
        except SQLAlchemyError as error:
            self.close()
            raise StoreBroken(f"{path.name}: {driver_message(error)}") from None
        if about.get("event") != event or about.get("version") != str(VERSION):
            self.close()
            raise StoreBroken(f"{path.name}: it is of event {about.get('event')}, version {about.get('version')}")


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
