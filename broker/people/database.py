"""Storage of accounts, sessions, tokens, webhooks, the audit log, orders and keyings.

They are separate from the scorer's journal, so that results can be shown, copied and exported without password hashes.
They are in `people.sqlite` in the event's folder, or in PostgreSQL if the journal is there (`postgresql.py`).
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Column, Connection, Engine, Integer, LargeBinary, Text
from sqlalchemy.exc import SQLAlchemyError

from broker.errors import reason
from broker.files import PEOPLE_FILE
from broker.people.errors import PeopleStoreBroken
from broker.store import (
    BIG,
    WITNESS_SUFFIX,
    Witness,
    WitnessLine,
    driver_message,
    make_append_only,
    open_for_writing,
    sqlite_engine,
    transaction,
)

VERSION: Final = 1
PEOPLE_WITNESS: Final = Path(PEOPLE_FILE).with_suffix(WITNESS_SUFFIX).name
PATIENCE_S: Final = 5.0
"""How long to wait for a lock: the command `homologue event people` may write at the same time as the desk."""

METADATA: Final = sa.MetaData()


def _table(name: str, *columns: Column[Any]) -> sa.Table:
    for column in columns:
        column.nullable = False
    return sa.Table(name, METADATA, *columns, sqlite_strict=True)


ACCOUNTS: Final = _table(
    "accounts",
    Column("name", Text, primary_key=True),
    Column("full", Text),
    Column("role", Text),
    Column("password", Text),
    Column("disabled", Integer, server_default=sa.text("0")),
    Column("made_at", BIG),
)
SESSIONS: Final = _table(
    "sessions",
    Column("key", Text, primary_key=True),
    Column("name", Text, sa.ForeignKey("accounts.name")),
    Column("made_at", BIG),
    Column("seen_at", BIG),
    Column("agent", Text),
    Column("address", Text),
)
AUDIT: Final = _table(
    "audit",
    Column("number", BIG, primary_key=True, autoincrement=False),
    Column("at", BIG),
    Column("who", Text),
    Column("address", Text),
    Column("action", Text),
    Column("about", Text),
    Column("detail", Text),
    Column("digest", Text),
)
ORDERS: Final = _table(
    "orders",
    Column("number", BIG, primary_key=True, autoincrement=False),
    Column("id", Text, unique=True),
    Column("at", BIG),
    Column("tables", Text),
    Column("who", Text),
    Column("body", LargeBinary),
)
KEYINGS: Final = _table(
    "keyings",
    Column("number", BIG, primary_key=True, autoincrement=False),
    Column("at", BIG),
    Column("who", Text),
    Column("whose", Text),
    Column("round", Integer),
    Column("table_no", Integer),
    Column("after", Text),
    Column("body", LargeBinary),
    Column("reason", Text),
)
TOKENS: Final = _table(
    "tokens",
    Column("key", Text, primary_key=True),
    Column("name", Text, unique=True),
    Column("role", Text),
    Column("made_at", BIG),
    Column("used_at", BIG),
    Column("revoked", Integer),
)
WEBHOOKS: Final = _table(
    "webhooks",
    Column("name", Text, primary_key=True),
    Column("url", Text),
    Column("secret", Text),
    Column("inner", Integer),
    Column("made_at", BIG),
    Column("seen", Text),
    Column("delivery", Text),
    Column("body", LargeBinary),
    Column("since", BIG),
    Column("tries", Integer),
    Column("due_at", BIG),
    Column("failure", Text),
)
ADDED_LATER: Final = (TOKENS, WEBHOOKS)
"""Tables added since version 1, which programs of that version can do without."""

TABLES: Final = (ACCOUNTS, SESSIONS, AUDIT, ORDERS, KEYINGS, *ADDED_LATER)
"""All tables of an event, in an order that satisfies foreign keys when they are copied."""

APPEND_ONLY: Final = (AUDIT, ORDERS, KEYINGS)
APPEND_ONLY_TEXT: Final = "audit log, orders and keyings are append-only"
make_append_only(METADATA, APPEND_ONLY, APPEND_ONLY_TEXT)


START: Final = WitnessLine.of(0, 0, 0, "audit", None)
"""The first line of the witness file. A file without it was deleted and recreated."""


def witness_line(number: int, digest: str) -> WitnessLine:
    """Return the line of the witness file that records an entry of the audit log."""
    return WitnessLine.of(number, 0, number, "audit", bytes.fromhex(digest))


class PeopleDatabase:
    """The accounts and logs of one event. Several processes and threads may use it at once."""

    BEGIN = "BEGIN"

    witness_is_complete = False
    """Whether the witness file must record every entry. With PostgreSQL another scorer's file may record some."""

    def __init__(self, engine: Engine, witness: Path | None = None) -> None:
        """Use an engine, and a witness file that records entries of the audit log too (broker/store/records.py)."""
        self._engine, self._lock, self._closed = engine, threading.RLock(), False
        self._commit: Connection | None = None
        self._witness, self._pending = witness, list[WitnessLine]()

    def close(self) -> None:
        """Close the database; may be called twice."""
        with self._lock:
            self._closed = True
            self._engine.dispose()

    def note(self, line: WitnessLine) -> None:
        """Record an entry of the audit log in the witness file once it is committed. Only inside `commit`."""
        self._pending.append(line)

    def witness_lines(self) -> list[WitnessLine]:
        """Return all lines of the witness file."""
        return [*Witness(self._witness, read_only=True).lines()] if self._witness else []

    def _write_witness(self) -> None:
        """Write pending lines to the witness file. If that fails, they are written after the next commit."""
        if not self._witness or not self._pending:
            self._pending.clear()
            return
        with closing(Witness(self._witness)) as witness:
            lines, last = self._pending, witness.last()
            if last and last.height >= lines[0].height:  # written by another process, or before a restart
                written = {*witness.lines()}
                lines = [line for line in lines if line not in written]
            if witness.append(lines):
                witness.sync()
                self._pending.clear()

    def rows(self, query: sa.Executable) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query. Raises PeopleStoreBroken."""
        with self._connected() as connection:
            return connection.execute(query).all()

    @contextmanager
    def commit(self) -> Iterator[Connection]:
        """Run the block as one transaction, durable as a whole or not at all. May be nested. Raises PeopleStoreBroken.

        Only one commit runs at a time, so what is read inside does not change before the end.
        """
        with self._connected() as connection:
            if self._commit:
                yield connection
                return
            before = len(self._pending)
            try:
                with transaction(connection, self.BEGIN):
                    self._commit = connection
                    self._exclude_others(connection)
                    yield connection
            except BaseException:
                del self._pending[before:]
                raise
            finally:
                self._commit = None
            self._write_witness()

    def _exclude_others(self, connection: Connection) -> None:
        """Wait for other commits to end, if beginning the transaction does not do that."""

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with self._lock:
            try:
                if self._commit:
                    yield self._commit
                elif self._closed:
                    raise PeopleStoreBroken("the store of people was closed")
                else:
                    with self._engine.connect() as connection:
                        yield connection
            except SQLAlchemyError as error:
                raise PeopleStoreBroken(driver_message(error)) from error


class SqlitePeople(PeopleDatabase):
    """The database in `people.sqlite`."""

    BEGIN = "BEGIN IMMEDIATE"

    def __init__(self, path: Path, witness: Path | None = None) -> None:
        """Open or create the file, readable by its owner only. Raises PeopleStoreBroken."""
        try:
            path.touch(mode=0o600)
            super().__init__(sqlite_engine(partial(open_for_writing, path, PATIENCE_S)), witness)
            version = self._make_tables()
        except OSError as error:
            raise PeopleStoreBroken(f"{path}: {reason(error)}") from None
        if version != str(VERSION):
            raise PeopleStoreBroken(f"{path} is of version {version}, not {VERSION}")
        self.witness_is_complete = witness is not None
        if witness:
            self.witness_entries(witness)

    def witness_entries(self, witness: Path, *, rewrite: bool = False) -> None:
        """Record the last entry in the witness file, since a power cut may have lost its line.

        For a log written by older programs, or with `rewrite`, all entries are recorded. Raises PeopleStoreBroken.
        """
        query = sa.select(AUDIT.c.number, AUDIT.c.digest).order_by(AUDIT.c.number.desc())
        with self.commit() as connection:
            old = not connection.execute(sa.text("SELECT value FROM about WHERE key = 'witness'")).first()
            if old or rewrite:
                with closing(Witness(witness)) as file:
                    if rewrite or file.last() is None:
                        file.rewrite(reversed([witness_line(*row) for row in connection.execute(query)]))
                    file.append([START])
                    file.sync()
                connection.exec_driver_sql("INSERT OR IGNORE INTO about VALUES ('witness', 'whole')")
            for row in connection.execute(query.limit(1)):
                self.note(witness_line(*row))

    def _make_tables(self) -> str:
        """Create missing tables; return the version of the file."""
        with self.commit() as connection:
            METADATA.create_all(connection)
            connection.exec_driver_sql(
                "CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"
            )
            connection.exec_driver_sql(f"INSERT OR IGNORE INTO about VALUES ('version', '{VERSION}')")  # noqa: S608 - a constant
            return str(connection.exec_driver_sql("SELECT value FROM about WHERE key = 'version'").scalar())


def all_rows(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows, by table name."""
    return {
        table.name: [tuple(row) for row in connection.execute(sa.select(table).order_by(*table.primary_key))]
        for table in TABLES
    }


def insert_all(connection: Connection, rows: dict[str, list[tuple[object, ...]]]) -> None:
    """Insert all rows into empty tables."""
    for table in TABLES:
        for row in rows[table.name]:
            connection.execute(sa.insert(table).values(row))
