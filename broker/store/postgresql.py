"""The journal in PostgreSQL: the same laws as in SQLite, for several events and for scorers on several machines.

Three things decide which scorer is active. First, a lock of its session: it goes when the session goes, and the journal
is written in that same session. Second, a term, one higher with each scorer that becomes active, compared in every
commit; it holds even where a pooler shares sessions. Third, the session ends if the active scorer says nothing for some
seconds, so that one that is frozen or cut off does not keep the event from going on.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
import sqlalchemy as sa
from psycopg.conninfo import make_conninfo
from sqlalchemy import BigInteger, Connection, Engine, Select, Text, cast, create_engine, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateSchema

from broker.errors import StoreBroken, StoreError, StoreInUse, StoreLost, StoreMissing, StoreUnreachable
from broker.read_ahead import FIRST_LINK
from broker.store.journal import (
    ROWS_AT_ONCE,
    VERSION,
    Journal,
    JournalTables,
    Reader,
    append_only_trigger,
    driver_message,
    transaction,
)
from broker.store.records import Witness, link_after

TABLES: Final = JournalTables(shared=True)

SCHEMA_LOCK: Final = 0x686F6D6F6C6F67
"""Lock under which the tables are made: "homolog" in ASCII. Those of events are hashes."""

CLIENT: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "application_name": "homologue",
}
"""What our end is told, unless the address says otherwise: a network that is dead is noticed in some ten seconds."""

SERVER: Final = """
SET synchronous_commit = on;
SET tcp_keepalives_idle = 5;
SET tcp_keepalives_interval = 2;
SET tcp_keepalives_count = 3;
"""
"""What the server's end is told; `on` is not to be taken off by anybody's default."""

OLDEST: Final = 140_000
"""PostgreSQL 14: the first that ends a session of a client that has stopped (`idle_session_timeout`)."""


def postgresql_engine(opened: Callable[[], psycopg.Connection], **options: Any) -> Engine:  # noqa: ANN401 - the library's
    """Return what connects with a server; its connections begin and end no transaction by themselves."""
    return create_engine(
        "postgresql+psycopg://",
        creator=opened,
        isolation_level="AUTOCOMMIT",
        use_native_hstore=False,
        hide_parameters=True,
        **options,
    )


def open_session(parameters: Mapping[str, str]) -> psycopg.Connection:
    """Connect. Raises StoreUnreachable, and StoreBroken if the server cannot do what a journal needs."""
    try:
        session = psycopg.connect(make_conninfo("", **(CLIENT | dict(parameters))), autocommit=True)
    except psycopg.Error as error:
        raise StoreUnreachable(driver_message(error)) from None
    try:
        _set_up_session(session)
    except psycopg.Error as error:
        session.close()
        raise StoreUnreachable(driver_message(error)) from None
    except StoreBroken:
        session.close()
        raise
    return session


def _set_up_session(session: psycopg.Connection) -> None:
    if session.info.server_version < OLDEST:
        raise StoreBroken(f"PostgreSQL 14 or later is needed; this is {session.info.server_version // 10_000}")
    if session.execute("SHOW fsync").fetchone() == ("off",):
        raise StoreBroken("this server runs with fsync = off: it would lose in a power cut what it said was safe")
    session.execute(SERVER)


def _ensure_schema(connection: Connection) -> None:
    """Make the tables if there are none; whoever may only use them is not asked to."""
    with transaction(connection):
        connection.execute(select(func.pg_advisory_xact_lock(SCHEMA_LOCK)))
        if not _has_table(connection, "about"):
            connection.execute(CreateSchema("homologue", if_not_exists=True))
            TABLES.all.create_all(connection, checkfirst=False)
        elif not _has_table(connection, "set_aside"):  # it is of version 1
            for statement in TO_VERSION_2:
                connection.exec_driver_sql(statement)
            _after_migration(connection)


TO_VERSION_2: Final = (
    "ALTER TABLE homologue.journal ADD COLUMN link bytea, ADD COLUMN repairs bigint",
    "ALTER TABLE homologue.journal DROP CONSTRAINT journal_event_table_no_seq_key",
    "ALTER TABLE homologue.journal DROP CONSTRAINT journal_event_id_key",
)


def _after_migration(connection: Connection) -> None:
    """Make what version 2 has more, beside the rows of events that a scorer of version 1 may go on writing."""
    for index in TABLES.journal.indexes:
        index.create(connection)
    TABLES.set_aside.create(connection)
    connection.exec_driver_sql(append_only_trigger(TABLES.set_aside, "homologue"))
    for user in connection.execute(_USERS).scalars():  # whoever may use the tables of version 1 may use this one
        connection.exec_driver_sql(f"GRANT SELECT, INSERT ON homologue.set_aside TO {user}")


_USERS: Final = sa.text(
    "SELECT DISTINCT quote_ident(grantee) FROM information_schema.role_table_grants"
    " WHERE table_schema = 'homologue' AND table_name = 'journal' AND privilege_type = 'INSERT'"
)


def _migrate(connection: Connection, event: str) -> None:
    """Link the rows of an event of version 1."""
    about, journal = TABLES.about, TABLES.journal
    version = select(about.c.value).where(about.c.event == event, about.c.key == "version")
    if connection.execute(version).scalar() != "1":
        return
    ours, link = journal.c.event == event, FIRST_LINK
    with transaction(connection):
        connection.exec_driver_sql("ALTER TABLE homologue.journal DISABLE TRIGGER append_only")
        query = select(journal.c.height, journal.c.received_at, journal.c.body).where(ours).order_by(journal.c.height)
        height = 0
        while rows := connection.execute(query.where(journal.c.height > height).limit(ROWS_AT_ONCE)).all():
            links = []
            for height, received_at, body in rows:
                link = link_after(link, height, received_at, body)
                links.append({"at": height, "has": link})
            filled = update(journal).where(ours, journal.c.height == sa.bindparam("at"))
            connection.execute(filled.values(link=sa.bindparam("has")), links)
        connection.exec_driver_sql("ALTER TABLE homologue.journal ENABLE TRIGGER append_only")
        connection.execute(
            update(about).where(about.c.event == event, about.c.key == "version").values(value=str(VERSION))
        )


def _has_table(connection: Connection, name: str) -> bool:
    return connection.execute(select(func.to_regclass(f"homologue.{name}"))).scalar() is not None


SILENCE_S: Final = 15
"""After so long without a word of the active scorer the server ends its session."""

PULSE_S: Final = 1.0
"""How often the active scorer says something."""


class JournalLock:
    """One scorer's right to write an event's journal."""

    def __init__(self, connection: Connection, event: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Take it. Raises StoreInUse. `clock` in s, from anywhere."""
        self._connection, self._event, self._clock = connection, event, clock
        self._lock = lock_number(f"homologue {event}")
        if not connection.execute(select(func.pg_try_advisory_lock(self._lock))).scalar():
            raise StoreInUse(f"another scorer is active on {event}")
        about = TABLES.about.c
        first = insert(TABLES.about).values(event=event, key="term", value="1")
        following = {"value": cast(cast(about.value, BigInteger) + 1, Text)}
        begun = first.on_conflict_do_update(index_elements=[about.event, about.key], set_=following)
        self._term = connection.execute(begun.returning(about.value)).scalar()
        self._query = select(about.value).where(about.event == event, about.key == "term")
        self._spoke: float | None = None

    def give_up(self) -> None:
        """Let another scorer have it at once: a busy server takes a while to notice that a session has ended."""
        with suppress(SQLAlchemyError):  # then the session has ended already
            self._connection.execute(select(func.pg_advisory_unlock(self._lock)))

    def hold(self) -> None:
        """Make sure of it inside a transaction: until its end nobody begins another term. Raises StoreLost."""
        self._compare(self._query.with_for_update(read=True))

    def pulse(self) -> None:
        """Say that we are alive, if we have not done so lately. Raises StoreLost.

        The first time it promises the server to go on so; before that, a scorer may read a long journal in silence.
        """
        now = self._clock()
        if self._spoke is not None and now - self._spoke < PULSE_S:
            return
        if self._spoke is None:
            for name in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
                self._connection.execute(select(func.set_config(name, f"{SILENCE_S}s", False)))  # noqa: FBT003 - its own
        self._compare(self._query)
        self._spoke = now

    def _compare(self, query: Select[tuple[str]]) -> None:
        if self._connection.execute(query).scalar() != self._term:
            raise StoreLost(f"another scorer has become active on {self._event}; this one writes no more")


def lock_number(name: str) -> int:
    """Return the number of a lock: 63 bits of a hash."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) >> 1


@contextmanager
def _opening(close: Callable[[], None]) -> Iterator[None]:
    """Close what could not be opened. A server that is lost meanwhile is one that cannot be reached: it is tried again.

    Raises StoreUnreachable, StoreError.
    """
    try:
        yield
    except (SQLAlchemyError, StoreError) as error:
        close()
        if isinstance(error, SQLAlchemyError | StoreLost):
            raise StoreUnreachable(driver_message(error)) from error
        raise


class PostgresReader(Reader):
    """A journal in PostgreSQL, as it was when it was opened."""

    def __init__(self, parameters: Mapping[str, str], event: str) -> None:
        """Open it for reading alone. Raises StoreMissing, StoreUnreachable, StoreBroken."""
        with _opening(self.close):
            super().__init__(postgresql_engine(partial(open_session, parameters)), TABLES, event)
            with self._errors("the store cannot be read"):
                self._open()

    def _open(self) -> None:
        self._connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        found = self._about().get("version") if _has_table(self._connection, "about") else None
        if found is None:
            raise StoreMissing(f"nothing has been recorded for {self.event} in this database")
        self.has_links = found != "1"
        if found not in {"1", str(VERSION)}:
            raise StoreBroken(f"its version is {found}, not {VERSION}")


class PostgresJournal(Journal):
    """One event's journal, open for the scorer that is active."""

    def __init__(self, parameters: Mapping[str, str], event: str, witness: Path | None = None) -> None:
        """Become the active scorer. Raises StoreInUse, StoreUnreachable, StoreBroken."""
        with _opening(self.close):
            super().__init__(postgresql_engine(partial(open_session, parameters)), TABLES, event)
            with self._errors("the store cannot be opened"):
                _ensure_schema(self._connection)
                self._lease = JournalLock(self._connection, event)
                _migrate(self._connection, event)
                self._load()
            if witness:
                self._follow_witness(Witness(witness))

    def close(self) -> None:
        """Close it; may be called twice."""
        if hasattr(self, "_lease"):  # it may not have been opened
            self._lease.give_up()
        super().close()

    def _hold(self) -> None:
        """Compare the term, which nobody may change before the commit ends."""
        self._lease.hold()

    def check(self) -> None:
        """Say that we are alive, and learn whether we are still the active one. Raises StoreLost."""
        with self._errors("this scorer is not the active one any more"):
            self._lease.pulse()
