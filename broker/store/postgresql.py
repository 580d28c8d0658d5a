"""The journal in PostgreSQL: the same guarantees as in SQLite, for several events and scorers on several machines.

Three things decide which scorer is active. First, a lock of its database session: it ends with the session, and the
journal is written in that same session. Second, a term, which each scorer that becomes active increases by one, and
which every commit compares; it works even where a pooler shares sessions. Third, the server ends the session if the
active scorer is silent for some seconds, so that a frozen or disconnected one does not hold up the event.
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
"""Advisory lock held while the tables are created: "homolog" in ASCII. The locks of events are hashes."""

CLIENT: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "application_name": "homologue",
}
"""Settings of our end of the connection, unless the address overrides them: a dead network is noticed in about 10 s."""

SERVER: Final = """
SET synchronous_commit = on;
SET tcp_keepalives_idle = 5;
SET tcp_keepalives_interval = 2;
SET tcp_keepalives_count = 3;
"""
"""Settings of the server's end. `synchronous_commit` is set explicitly, in case a default turns it off."""

OLDEST: Final = 140_000
"""PostgreSQL 14, the first version with `idle_session_timeout`, which ends the session of a client that has stopped."""


def postgresql_engine(opened: Callable[[], psycopg.Connection], **options: Any) -> Engine:  # noqa: ANN401 - SQLAlchemy's
    """Return an engine that connects to a server. Its connections do not begin or end transactions by themselves."""
    return create_engine(
        "postgresql+psycopg://",
        creator=opened,
        isolation_level="AUTOCOMMIT",
        use_native_hstore=False,
        hide_parameters=True,
        **options,
    )


def open_session(parameters: Mapping[str, str]) -> psycopg.Connection:
    """Connect. Raises StoreUnreachable, or StoreBroken if the server does not meet a journal's requirements."""
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
        raise StoreBroken("this server runs with fsync = off: a power cut could lose what it has confirmed")
    session.execute(SERVER)


def _ensure_schema(connection: Connection) -> None:
    """Create the tables if they do not exist. A user without the right to create them can still use existing ones."""
    with transaction(connection):
        connection.execute(select(func.pg_advisory_xact_lock(SCHEMA_LOCK)))
        if not _has_table(connection, "about"):
            connection.execute(CreateSchema("homologue", if_not_exists=True))
            TABLES.all.create_all(connection, checkfirst=False)
        elif not _has_table(connection, "set_aside"):  # version 1
            for statement in TO_VERSION_2:
                connection.exec_driver_sql(statement)
            _after_migration(connection)


TO_VERSION_2: Final = (
    "ALTER TABLE homologue.journal ADD COLUMN link bytea, ADD COLUMN repairs bigint",
    "ALTER TABLE homologue.journal DROP CONSTRAINT journal_event_table_no_seq_key",
    "ALTER TABLE homologue.journal DROP CONSTRAINT journal_event_id_key",
)


def _after_migration(connection: Connection) -> None:
    """Add what is new in version 2, while a scorer of version 1 may go on writing rows of other events."""
    for index in TABLES.journal.indexes:
        index.create(connection)
    TABLES.set_aside.create(connection)
    connection.exec_driver_sql(append_only_trigger(TABLES.set_aside, "homologue"))
    for user in connection.execute(_USERS).scalars():  # users of the version 1 tables may use this one
        connection.exec_driver_sql(f"GRANT SELECT, INSERT ON homologue.set_aside TO {user}")


_USERS: Final = sa.text(
    "SELECT DISTINCT quote_ident(grantee) FROM information_schema.role_table_grants"
    " WHERE table_schema = 'homologue' AND table_name = 'journal' AND privilege_type = 'INSERT'"
)


def _migrate(connection: Connection, event: str) -> None:
    """Add links to the rows of an event recorded by version 1."""
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
"""Seconds of silence of the active scorer after which the server ends its session."""

PULSE_S: Final = 1.0
"""How often the active scorer sends a sign of life."""


class JournalLock:
    """The exclusive right of one scorer to write an event's journal."""

    def __init__(self, connection: Connection, event: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the lock. Raises StoreInUse. `clock`: seconds from any origin."""
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
        """Release the lock at once: a busy server may take a while to notice that a session has ended."""
        with suppress(SQLAlchemyError):  # fails if the session has already ended
            self._connection.execute(select(func.pg_advisory_unlock(self._lock)))

    def hold(self) -> None:
        """Check, in a transaction, that the term is ours, and lock it until the transaction ends. Raises StoreLost."""
        self._compare(self._query.with_for_update(read=True))

    def pulse(self) -> None:
        """Send a sign of life, unless one was sent recently. Raises StoreLost.

        The first call sets the session timeouts; before that, a scorer may read a long journal in silence.
        """
        now = self._clock()
        if self._spoke is not None and now - self._spoke < PULSE_S:
            return
        if self._spoke is None:
            for name in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
                self._connection.execute(select(func.set_config(name, f"{SILENCE_S}s", False)))  # noqa: FBT003 - set_config's
        self._compare(self._query)
        self._spoke = now

    def _compare(self, query: Select[tuple[str]]) -> None:
        if self._connection.execute(query).scalar() != self._term:
            raise StoreLost(f"another scorer has become active on {self._event}; this one has stopped writing")


def lock_number(name: str) -> int:
    """Return the number of a lock: 63 bits of a hash."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) >> 1


@contextmanager
def _opening(close: Callable[[], None]) -> Iterator[None]:
    """Close the journal if opening fails. A connection lost meanwhile counts as an unreachable server, to be retried.

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
        """Open the journal read-only. Raises StoreMissing, StoreUnreachable, StoreBroken."""
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
    """One event's journal, open for the active scorer."""

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
        """Close the journal. May be called twice."""
        if hasattr(self, "_lease"):  # opening may have failed
            self._lease.give_up()
        super().close()

    def _hold(self) -> None:
        """Check the term and lock it until the commit ends."""
        self._lease.hold()

    def check(self) -> None:
        """Send a sign of life, and check that this scorer is still the active one. Raises StoreLost."""
        with self._errors("this scorer is no longer the active one"):
            self._lease.pulse()
