"""The journal in PostgreSQL: the same laws as in SQLite, for several events and for scorers on several machines.

Three things decide which scorer is active. First, a lock of its session: it goes when the session goes, and the journal
is written in that same session. Second, a term, one higher with each scorer that becomes active, compared in every
commit; it holds even where a pooler shares sessions. Third, the session ends if the active scorer says nothing for some
seconds, so that one that is frozen or cut off does not keep the event from going on.
"""

import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, LiteralString

import psycopg
from psycopg.conninfo import make_conninfo

from broker.errors import StoreBroken, StoreError, StoreInUse, StoreLost, StoreMissing, StoreUnreachable
from broker.protocol import encode
from broker.store.journal import MOST_BYTES, MOST_REFUSALS, VERSION, Entry, Recorded, RefusedRow, decoded, sequence_of

SCHEMA: Final[LiteralString] = """
CREATE SCHEMA IF NOT EXISTS homologue;
CREATE TABLE homologue.journal (
    event       text    NOT NULL,
    height      bigint  NOT NULL,
    received_at bigint  NOT NULL,
    table_no    integer NOT NULL,
    seq         bigint  NOT NULL,
    id          text    NOT NULL,
    body        bytea   NOT NULL,
    PRIMARY KEY (event, height),
    UNIQUE (event, table_no, seq),
    UNIQUE (event, id)
);
CREATE TABLE homologue.refused (
    event       text    NOT NULL,
    number      bigint  GENERATED ALWAYS AS IDENTITY,
    received_at bigint  NOT NULL,
    code        text    NOT NULL,
    topic       bytea   NOT NULL, -- a text here cannot hold everything that a topic may
    table_no    integer,
    seq         bigint,
    id          text,
    body        bytea   NOT NULL,
    PRIMARY KEY (event, number)
);
CREATE INDEX refused_by_id ON homologue.refused (event, id);
CREATE TABLE homologue.about (
    event text NOT NULL,
    key   text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (event, key)
);
CREATE FUNCTION homologue.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue.journal
    FOR EACH STATEMENT EXECUTE FUNCTION homologue.append_only();
"""

SCHEMA_LOCK: Final = 0x686F6D6F6C6F67
"""Lock under which the tables are made: "homolog" in ASCII. Those of events are hashes."""


def _ensure_schema(connection: psycopg.Connection) -> None:
    """Make the tables where there are none; whoever may only use them is not asked to."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        if not _schema_exists(connection):
            connection.execute(SCHEMA)


def _schema_exists(connection: psycopg.Connection) -> bool:
    """Return whether there are tables."""
    return connection.execute("SELECT to_regclass('homologue.about')").fetchone() != (None,)


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


def connect(parameters: Mapping[str, str]) -> psycopg.Connection:
    """Connect. Raises StoreUnreachable, and StoreBroken where the server cannot do what a journal needs."""
    try:
        connection = psycopg.connect(make_conninfo("", **(CLIENT | dict(parameters))), autocommit=True)
    except psycopg.Error as error:
        raise StoreUnreachable(_one_line(error)) from None
    try:
        _set_up_session(connection)
    except psycopg.Error as error:
        connection.close()
        raise StoreUnreachable(_one_line(error)) from None
    except StoreBroken:
        connection.close()
        raise
    return connection


def _set_up_session(connection: psycopg.Connection) -> None:
    if connection.info.server_version < OLDEST:
        raise StoreBroken(f"PostgreSQL 14 or later is needed; this is {connection.info.server_version // 10_000}")
    if connection.execute("SHOW fsync").fetchone() == ("off",):
        raise StoreBroken("this server runs with fsync = off: it would lose in a power cut what it said was safe")
    connection.execute(SERVER)


@contextmanager
def _store_errors(connection: psycopg.Connection, what: str) -> Iterator[None]:
    """Return the library's errors as ours: the store is lost with its connection, otherwise it is broken."""
    try:
        yield
    except psycopg.Error as error:
        kind = StoreLost if connection.broken or connection.closed else StoreBroken
        raise kind(f"{what}: {_one_line(error)}") from error


def _one_line(error: psycopg.Error) -> str:
    """Return its text in one line. libpq puts no password into it."""
    return " ".join(str(error).split()) or type(error).__name__


SILENCE_S: Final = 15
"""After so long without a word of the active scorer the server ends its session."""

PULSE_S: Final = 1.0
"""How often the active scorer says something."""

NEXT_TERM: Final = """
INSERT INTO homologue.about VALUES (%s, 'term', '1')
ON CONFLICT (event, key) DO UPDATE SET value = (about.value::bigint + 1)::text RETURNING value
"""

TERM: Final = "SELECT value FROM homologue.about WHERE event = %s AND key = 'term'"


class Lease:
    """One scorer's right to write an event's journal."""

    def __init__(self, connection: psycopg.Connection, event: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Take it. Raises StoreInUse. `clock` in s, from anywhere."""
        self._connection, self._event, self._clock = connection, event, clock
        if connection.execute("SELECT pg_try_advisory_lock(%s)", (_lock_number(event),)).fetchone() != (True,):
            raise StoreInUse(f"another scorer is active on {event}")
        self._term = connection.execute(NEXT_TERM, (event,)).fetchone()
        self._spoke: float | None = None

    def hold(self) -> None:
        """Make sure of it inside a transaction: until its end nobody begins another term. Raises StoreLost."""
        self._compare(self._connection.execute(f"{TERM} FOR SHARE", (self._event,)).fetchone())

    def pulse(self) -> None:
        """Say that we are alive, if we have not done so lately. Raises StoreLost.

        The first time it promises the server to go on so; before that, a scorer may read a long journal in silence.
        """
        now = self._clock()
        if self._spoke is not None and now - self._spoke < PULSE_S:
            return
        with _store_errors(self._connection, "this scorer is not the active one any more"):
            if self._spoke is None:
                for name in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
                    self._connection.execute("SELECT set_config(%s, %s, false)", (name, f"{SILENCE_S}s"))
            self._compare(self._connection.execute(TERM, (self._event,)).fetchone())
        self._spoke = now

    def _compare(self, found: object) -> None:
        if found != self._term:
            raise StoreLost(f"another scorer has become active on {self._event}; this one writes no more")


def _lock_number(event: str) -> int:
    """Return the number of an event's lock: 63 bits of a hash."""
    return int.from_bytes(hashlib.sha256(f"homologue {event}".encode()).digest()[:8]) >> 1


ROWS_AT_ONCE: Final = 5_000
"""Rows that are fetched together: a long journal is not held in memory twice."""

ENTRIES: Final = "SELECT received_at, body FROM homologue.journal WHERE event = %s ORDER BY height"

REFUSED: Final = """
SELECT received_at, code, topic, body, table_no, seq, id FROM homologue.refused WHERE event = %s ORDER BY number
"""


class PostgresReader:
    """A journal in PostgreSQL, as it was when it was opened."""

    def __init__(self, parameters: Mapping[str, str], event: str) -> None:
        """Open it for reading alone. Raises StoreMissing, StoreUnreachable, StoreBroken."""
        self._event = event
        self._connection = connect(parameters)
        try:
            with _store_errors(self._connection, "the store cannot be read"):
                self._open()
        except StoreError:
            self.close()
            raise

    def _open(self) -> None:
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        version = "SELECT value FROM homologue.about WHERE event = %s AND key = 'version'"
        there = _schema_exists(self._connection)
        found = self._connection.execute(version, (self._event,)).fetchone() if there else None
        if found is None:
            raise StoreMissing(f"nothing has been recorded for {self._event} in this database")
        if found != (str(VERSION),):
            raise StoreBroken(f"its version is {found[0]}, not {VERSION}")

    def close(self) -> None:
        """Let go of it; may be called twice."""
        self._connection.close()

    def entries(self) -> Generator[Entry, None, None]:
        """Return all accepted messages as they are stored. Raises StoreLost."""
        return _entries_in(self._connection, self._event)

    def refused(self) -> Iterator[RefusedRow]:
        """Return all kept refusals, oldest first. Raises StoreLost."""
        return _refused_in(self._connection, self._event)


def _entries_in(connection: psycopg.Connection, event: str) -> Generator[Entry, None, None]:
    """Return what a journal holds. Raises StoreBroken, StoreLost."""
    with (
        _store_errors(connection, "the journal cannot be read"),
        connection.transaction(),
        psycopg.ServerCursor(connection, "entries") as rows,
    ):
        rows.itersize = ROWS_AT_ONCE
        yield from rows.execute(ENTRIES, (event,), binary=True)


def _refused_in(connection: psycopg.Connection, event: str) -> Iterator[RefusedRow]:
    """Return what was refused. Raises StoreBroken, StoreLost."""
    with _store_errors(connection, "what was refused cannot be read"), connection.transaction():
        for at, code, topic, *rest in connection.execute(REFUSED, (event,)):
            yield RefusedRow(at, code, topic.decode(), *rest)


ABOUT: Final = "INSERT INTO homologue.about VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"

REMEMBER: Final = """
INSERT INTO homologue.about VALUES (%s, %s, %s) ON CONFLICT (event, key) DO UPDATE SET value = EXCLUDED.value
"""

REMEMBERED: Final = "SELECT key, value FROM homologue.about WHERE event = %s AND starts_with(key, %s)"

APPEND: Final = "COPY homologue.journal (event, height, received_at, table_no, seq, id, body) FROM STDIN"

AT_ONCE: Final = 5_000
"""Messages that are sent together; a commit may have more."""

SAME: Final = "SELECT 1 FROM homologue.refused WHERE event = %s AND id = %s AND code = %s AND body = %s"

REFUSE: Final = """
INSERT INTO homologue.refused (event, received_at, code, topic, table_no, seq, id, body)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""


class PostgresJournal:
    """One event's journal, open for the scorer that is active."""

    def __init__(self, parameters: Mapping[str, str], event: str) -> None:
        """Become the active scorer. Raises StoreInUse, StoreUnreachable, StoreBroken."""
        self._event = event
        self._connection = connect(parameters)
        try:
            with _store_errors(self._connection, "the store cannot be opened"):
                self._open()
        except StoreError:
            self.close()
            raise

    def _open(self) -> None:
        _ensure_schema(self._connection)
        self._lease = Lease(self._connection, self._event)
        for key, value in (("version", str(VERSION)), ("store", uuid.uuid4().hex)):
            self._connection.execute(ABOUT, (self._event, key, value))
        rows = self._connection.execute("SELECT key, value FROM homologue.about WHERE event = %s", (self._event,))
        about: dict[str, str] = dict(rows.fetchall())
        if about["version"] != str(VERSION):
            raise StoreBroken(f"its version is {about['version']}, not {VERSION}")
        self.store: str = about["store"]
        counted = "SELECT table_no, count(*) FROM homologue.refused WHERE event = %s GROUP BY table_no"
        self._refusals: Counter[int | None] = Counter(
            dict(self._connection.execute(counted, (self._event,)).fetchall())
        )
        self._height = self._count()
        self._batch: list[tuple[Recorded, int]] = []

    def _count(self) -> int:
        highest = "SELECT coalesce(max(height), 0) FROM homologue.journal WHERE event = %s"
        row = self._connection.execute(highest, (self._event,)).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Close it, and be active no more; may be called twice."""
        self._connection.close()

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Write a batch as one: all of it is durable at the end, or none."""
        self._batch.clear()
        before = self._height
        try:
            with _store_errors(self._connection, "nothing of the batch was kept"), self._connection.transaction():
                self._lease.hold()
                yield
                self._write()
        except BaseException:
            self._height = before
            raise

    def _write(self) -> None:
        if not self._batch:
            return
        with self._connection.cursor().copy(APPEND) as rows:
            for height, (message, received_at) in enumerate(self._batch, self._height + 1):
                told_by = (*sequence_of(message), message.id)
                rows.write_row((self._event, height, received_at, *told_by, encode(message)))
        self._height += len(self._batch)
        self._batch.clear()

    @property
    def height(self) -> int:
        """How many messages are in the journal."""
        return self._height

    def append(self, message: Recorded, received_at: int) -> None:
        """Add one accepted message."""
        self._batch.append((message, received_at))
        if len(self._batch) == AT_ONCE:
            self._write()

    def refuse(self, row: RefusedRow) -> bool:
        """Keep one refused message; the same refusal of the same fact is kept once. Tell whether it is a new one."""
        body = row.body[:MOST_BYTES]
        if row.id and self._connection.execute(SAME, (self._event, row.id, row.code, body)).fetchone():
            return False
        if self._refusals[row.table] < MOST_REFUSALS:
            self._refusals[row.table] += 1
            about = (row.received_at, row.code, row.topic.encode(), row.table, row.seq, row.id)
            self._connection.execute(REFUSE, (self._event, *about, body))
        return True

    def remember(self, key: str, value: str) -> None:
        """Keep beside the journal what is no message, in the place of what this key had."""
        self._connection.execute(REMEMBER, (self._event, key, value))

    def remembered(self, prefix: str) -> dict[str, str]:
        """Return what is kept beside the journal under keys that begin so, by what follows in the key."""
        rows = self._connection.execute(REMEMBERED, (self._event, prefix)).fetchall()
        return {key.removeprefix(prefix): value for key, value in rows}

    def messages(self) -> Iterator[Recorded]:
        """Return all accepted messages in the order in which they were taken. Raises StoreBroken."""
        return decoded(self.entries())

    def entries(self) -> Generator[Entry, None, None]:
        """Return all accepted messages as they are stored. Raises StoreBroken, StoreLost."""
        return _entries_in(self._connection, self._event)

    def refused(self) -> Iterator[RefusedRow]:
        """Return all kept refusals, oldest first."""
        return _refused_in(self._connection, self._event)

    def check(self) -> None:
        """Say that we are alive, and learn whether we are still the active one. Raises StoreLost."""
        self._lease.pulse()
