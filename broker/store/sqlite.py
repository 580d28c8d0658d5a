"""The journal in SQLite, in WAL mode with synchronous=FULL: committed rows survive kill -9 and a power cut.

A reader takes no locks, writes nothing, and may be opened while a scorer is writing.
"""

import fcntl
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO, cast

from sqlalchemy import Connection, Engine, QueuePool, create_engine, inspect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError

from broker.errors import StoreBroken, StoreInUse, StoreMissing
from broker.files import sync_log
from broker.read_ahead import FIRST_LINK
from broker.store.journal import VERSION, Journal, JournalTables, Reader, driver_message, transaction
from broker.store.records import WITNESS_SUFFIX, Witness, link_after

TABLES: Final = JournalTables(shared=False)


_ANY: Final = create_engine("sqlite://")
_COMPILED: Final = dict[Any, Any]()
"""Statements compiled for SQLite, shared by all files so that each statement is compiled only once."""


def sqlite_engine(opened: Callable[[], sqlite3.Connection]) -> Engine:
    """Return an engine that connects to a file. Its connections do not begin or end transactions by themselves."""
    options = {"compiled_cache": _COMPILED}
    pool = QueuePool(cast("Callable[[], DBAPIConnection]", opened), dialect=_ANY.dialect)
    return Engine(pool, _ANY.dialect, _ANY.url, hide_parameters=True, execution_options=options)


def open_for_writing(path: Path, patience_s: float = 0) -> sqlite3.Connection:
    """Open or create a file with durable commits. `patience_s`: how long to wait while another process writes."""
    sync_log(path)
    connection = sqlite3.connect(path, patience_s, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


PATIENCE_S: Final = 3.0
"""How long a commit waits for another program, such as `sqlite3`, to finish writing. Our lock keeps scorers out."""


def lock_store(path: Path) -> TextIO:
    """Lock out other scorers until the returned file is closed. Raises StoreInUse, StoreBroken."""
    name = path.with_suffix(".lock")
    try:
        lock = name.open("w")
    except OSError as error:
        raise StoreBroken(f"{name} cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise StoreInUse(f"another scorer is using {path}") from None
    return lock


class SqliteJournal(Journal):
    """The journal in a SQLite file, which stays locked while it is open."""

    BEGIN = "BEGIN IMMEDIATE"

    def __init__(self, path: Path, event: str) -> None:
        """Open or create the journal. Raises StoreInUse, StoreBroken."""
        self._lock = lock_store(path)
        try:
            super().__init__(sqlite_engine(partial(open_for_writing, path, PATIENCE_S)), TABLES, event)
            self._open()
            self._follow_witness(Witness(path.with_suffix(WITNESS_SUFFIX)))
        except (SQLAlchemyError, StoreBroken) as error:
            self.close()
            why = driver_message(error) if isinstance(error, SQLAlchemyError) else error
            raise StoreBroken(f"{path}: {why}") from None

    def _open(self) -> None:
        with transaction(self._connection, self.BEGIN):
            about = self._about() if inspect(self._connection).has_table("about") else {}
            if (about.get("version"), about.get("event")) == ("1", self.event):
                _migrate(self._connection)
            TABLES.all.create_all(self._connection)
            self._load(event=self.event)

    def close(self) -> None:
        """Close the journal. May be called twice."""
        super().close()
        self._lock.close()


def _migrate(connection: Connection) -> None:
    """Add links to the rows of a version 1 journal. Call it inside a transaction."""
    link = FIRST_LINK

    def following(height: int, received_at: int, body: bytes) -> bytes:
        nonlocal link
        link = link_after(link, height, received_at, body)
        return link

    connection.connection.driver_connection.create_function("next_link", 3, following)  # type: ignore[union-attr] # it is open
    for statement in (
        "DROP TRIGGER journal_append_only_update",
        "DROP TRIGGER journal_append_only_delete",
        "ALTER TABLE journal RENAME TO journal_of_version_1",
    ):
        connection.exec_driver_sql(statement)
    TABLES.all.create_all(connection)
    connection.exec_driver_sql(
        "INSERT INTO journal (height, received_at, table_no, seq, id, body, link)"
        " SELECT height, received_at, table_no, seq, id, body, next_link(height, received_at, body)"
        " FROM journal_of_version_1 ORDER BY height"
    )
    connection.exec_driver_sql("DROP TABLE journal_of_version_1")
    connection.exec_driver_sql(f"UPDATE about SET value = '{VERSION}' WHERE key = 'version'")  # noqa: S608 - a constant


class SqliteReader(Reader):
    """A journal in SQLite, as it was when it was opened."""

    def __init__(self, path: Path, event: str) -> None:
        """Open the journal read-only. Raises StoreMissing, StoreBroken."""
        if not path.is_file():
            raise StoreMissing(f"there is no {path.name} in {path.parent}: nothing has been recorded")
        try:
            super().__init__(sqlite_engine(partial(open_for_reading, path)), TABLES, event)
            self._connection.exec_driver_sql("BEGIN")
            about = self._about()
        except SQLAlchemyError as error:
            self.close()
            raise StoreBroken(f"{path.name}: {driver_message(error)}") from None
        self.has_links = about.get("version") != "1"
        if about.get("event") != event or about.get("version") not in {"1", str(VERSION)}:
            self.close()
            raise StoreBroken(f"{path.name}: it belongs to event {about.get('event')}, version {about.get('version')}")


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a SQLite file read-only.

    While a scorer has the file open there is a write-ahead log, and readers of that block nobody. Without a log the
    file is complete, and is opened as immutable so that SQLite creates no other files beside it.
    """
    has_log = path.with_name(path.name + "-wal").exists()
    how = "mode=ro" if has_log else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def renew_identity(path: Path) -> None:
    """Rename a store, so that tables notice that it is an older copy and resend what it lacks."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE about SET value = ? WHERE key = 'store'", (uuid.uuid4().hex,))
