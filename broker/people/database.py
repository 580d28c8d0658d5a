"""Where accounts, sessions, the audit log, orders and keyings are stored, and their tables in SQLite.

They are apart from the scorer's journal: results can be shown, copied and exported without anybody's password hash.
They lie in `people.sqlite` in the event's folder, unless the journal is in PostgreSQL. The SQL is what both databases
have; `?` stands for a value.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from broker.people.errors import PeopleStoreBroken

PEOPLE_FILE: Final = "people.sqlite"
VERSION: Final = 1
PATIENCE_S: Final = 5.0
"""The command `homologue people` may write while the desk does."""

TABLES: Final = ("accounts", "sessions", "audit", "orders", "keyings")
"""All that there is of one event, in an order in which it can be copied."""


class SqlResult(Protocol):
    """What a statement gives."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row of whatever the table holds
        """Return the next row, or None."""

    def fetchall(self) -> Any:  # noqa: ANN401 - as above
        """Return all rows that are left."""


class Sql(Protocol):
    """A commit that is open."""

    def execute(self, query: str, values: Sequence[object] = (), /) -> SqlResult:
        """Do something in it."""


class PeopleDatabase(Protocol):
    """One event's people. Several processes may have it open, and several threads of one process."""

    def close(self) -> None:
        """Close it; may be called twice."""

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Ask. Raises PeopleStoreBroken."""

    def commit(self) -> AbstractContextManager[Sql]:
        """Write as one: all of it is durable at the end, or none. May be nested. Raises PeopleStoreBroken.

        One at a time: what is read inside is as it is until the end.
        """


def all_rows(sql: Sql) -> dict[str, list[tuple[object, ...]]]:
    """Return everything, table by table."""
    return {table: _rows(sql, table) for table in TABLES}


def _rows(sql: Sql, table: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in sql.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()]  # noqa: S608 - a name of ours


def put_all(sql: Sql, rows: dict[str, list[tuple[object, ...]]]) -> None:
    """Put everything into empty tables."""
    for table in TABLES:
        for row in rows[table]:
            sql.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - as above


SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS accounts (
    name     TEXT PRIMARY KEY,
    full     TEXT    NOT NULL,
    role     TEXT    NOT NULL,
    password TEXT    NOT NULL,
    disabled INTEGER NOT NULL DEFAULT 0,
    made_at  INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sessions (
    key     TEXT PRIMARY KEY,
    name    TEXT    NOT NULL REFERENCES accounts,
    made_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    agent   TEXT    NOT NULL,
    address TEXT    NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS audit (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    who     TEXT    NOT NULL,
    address TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    about   TEXT    NOT NULL,
    detail  TEXT    NOT NULL,
    digest  TEXT    NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS orders (
    number  INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    at      INTEGER NOT NULL,
    tables  TEXT    NOT NULL,
    who     TEXT    NOT NULL,
    body    BLOB    NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS keyings (
    number   INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    who      TEXT    NOT NULL,
    whose    TEXT    NOT NULL,
    round    INTEGER NOT NULL,
    table_no INTEGER NOT NULL,
    after    TEXT    NOT NULL,
    body     BLOB    NOT NULL,
    reason   TEXT    NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TRIGGER IF NOT EXISTS audit_is_never_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS audit_is_never_shortened BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS orders_are_never_changed BEFORE UPDATE ON orders
    BEGIN SELECT RAISE(ABORT, 'orders are append-only'); END;
CREATE TRIGGER IF NOT EXISTS orders_are_never_taken_back BEFORE DELETE ON orders
    BEGIN SELECT RAISE(ABORT, 'orders are append-only'); END;
CREATE TRIGGER IF NOT EXISTS keyings_are_never_changed BEFORE UPDATE ON keyings
    BEGIN SELECT RAISE(ABORT, 'keyings are append-only'); END;
CREATE TRIGGER IF NOT EXISTS keyings_are_never_taken_out BEFORE DELETE ON keyings
    BEGIN SELECT RAISE(ABORT, 'keyings are append-only'); END;
"""


class SqlitePeople:
    """The open file. Several processes may have it open, and several threads of one process."""

    def __init__(self, path: Path) -> None:
        """Open or make it, readable by its owner alone. Raises PeopleStoreBroken."""
        self._lock = threading.RLock()
        try:
            path.touch(mode=0o600)
            self._sql = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False)
            self._sql.execute("PRAGMA journal_mode=WAL")
            self._sql.execute("PRAGMA synchronous=FULL")
            self._sql.executescript(SCHEMA)
            self._sql.execute("INSERT OR IGNORE INTO about VALUES ('version', ?)", (str(VERSION),))
            (version,) = self._sql.execute("SELECT value FROM about WHERE key = 'version'").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise PeopleStoreBroken(f"{path}: {error}") from None
        if version != str(VERSION):
            raise PeopleStoreBroken(f"{path} is of version {version}, not {VERSION}")

    def close(self) -> None:
        """Close it; may be called twice."""
        with self._lock:
            self._sql.close()

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Ask. Raises PeopleStoreBroken."""
        with self._lock:
            try:
                return self._sql.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise PeopleStoreBroken(str(error)) from error

    @contextmanager
    def commit(self) -> Iterator[sqlite3.Connection]:
        """Write as one: all of it is durable at the end, or none. May be nested. Raises PeopleStoreBroken."""
        with self._lock:
            if self._sql.in_transaction:
                yield self._sql
            else:
                with self._whole():
                    yield self._sql

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            self._sql.execute("BEGIN IMMEDIATE")
            yield
            self._sql.execute("COMMIT")
        except BaseException as error:
            if self._sql.in_transaction:
                self._sql.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise PeopleStoreBroken(f"nothing was kept: {error}") from error
            raise
