"""The people of an event in PostgreSQL, beside its journal: an active scorer and its standby know the same ones.

The tables are in a schema of their own, and hold the people of any number of events.
"""

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, LiteralString

import psycopg
from psycopg.pq import TransactionStatus

from broker.errors import StoreError
from broker.people.database import PATIENCE_S
from broker.people.errors import PeopleStoreBroken
from broker.store.postgresql import connect

SESSION: Final = """
SELECT set_config('homologue.event', %s, false), set_config('search_path', 'homologue_people', false),
       set_config('lock_timeout', %s, false)
"""


class PostgresPeople:
    """One event's people. A connection that was lost is made anew for whoever asks next."""

    def __init__(self, parameters: Mapping[str, str], event: str) -> None:
        """Open it; the tables are made if there are none. Raises PeopleStoreBroken."""
        self._parameters, self._event, self._lock = parameters, event, threading.RLock()
        self._key = int.from_bytes(hashlib.sha256(f"homologue people {event}".encode()).digest()[:8]) >> 1
        self._ended = self._inside = False
        self._connection = self._connected()

    def _connected(self) -> psycopg.Connection:
        try:
            connection = connect(self._parameters)
        except StoreError as error:
            raise PeopleStoreBroken(str(error)) from None
        try:
            self._settle(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            connection.close()
            raise PeopleStoreBroken(f"the tables of people are another user's to make: {_line(error)}") from None
        except psycopg.Error as error:
            connection.close()
            raise PeopleStoreBroken(_line(error)) from None
        except PeopleStoreBroken:
            connection.close()
            raise
        return connection

    def _settle(self, connection: psycopg.Connection) -> None:
        if connection.execute("SHOW server_encoding").fetchone() != ("UTF8",):
            raise PeopleStoreBroken("names are kept in UTF8: make the database anew with that encoding")
        ensure_people_schema(connection)
        connection.execute(SESSION, (self._event, f"{PATIENCE_S:.0f}s"))

    def close(self) -> None:
        """Close it; may be called twice."""
        with self._lock:
            self._ended = True
            self._connection.close()

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Ask. Raises PeopleStoreBroken."""
        with self._lock:
            try:
                return self._again(query, values).fetchall()
            except psycopg.Error as error:
                raise PeopleStoreBroken(_line(error)) from error

    @contextmanager
    def commit(self) -> Iterator["PostgresPeople"]:
        """Write as one: all of it is durable at the end, or none. May be nested. Raises PeopleStoreBroken."""
        with self._lock:
            if self._inside:
                yield self
            else:
                with self._whole():
                    yield self

    def execute(self, query: str, values: Sequence[object] = (), /) -> psycopg.Cursor[Any]:
        """Do something in the commit that is open."""
        return self._connection.execute(query.replace("?", "%s").encode(), values)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            self._again("BEGIN", ())
            self._inside = True
            self.execute("SELECT pg_advisory_xact_lock(?)", (self._key,))
            yield
            self.execute("COMMIT")
        except BaseException as error:
            self._roll_back()
            if isinstance(error, psycopg.Error):
                raise PeopleStoreBroken(f"it is not known to be kept: {_line(error)}") from error
            raise
        finally:
            self._inside = False

    def _roll_back(self) -> None:
        try:
            if self._connection.info.transaction_status is not TransactionStatus.IDLE:
                self.execute("ROLLBACK")
        except psycopg.Error:
            self._connection.close()  # what the server has of it, it drops with the session

    def _again(self, query: str, values: Sequence[object]) -> psycopg.Cursor[Any]:
        """Do something: on a new connection where the old one turns out to be lost, but for what is in a commit."""
        try:
            return self.execute(query, values)
        except psycopg.OperationalError:
            if not self._connection.closed or self._ended or self._inside:
                raise
        self._connection = self._connected()
        return self.execute(query, values)


def _line(error: psycopg.Error) -> str:
    return " ".join(str(error).split()) or type(error).__name__


FIRST: Final[LiteralString] = """
CREATE SCHEMA homologue_people;
CREATE TABLE homologue_people.about (version integer NOT NULL);
INSERT INTO homologue_people.about VALUES (0);
CREATE TABLE homologue_people.all_accounts (
    event    text    NOT NULL DEFAULT current_setting('homologue.event'),
    name     text    NOT NULL,
    "full"   text    NOT NULL,
    role     text    NOT NULL,
    password text    NOT NULL,
    disabled integer NOT NULL DEFAULT 0,
    made_at  bigint  NOT NULL,
    PRIMARY KEY (event, name)
);
CREATE TABLE homologue_people.all_sessions (
    event   text   NOT NULL DEFAULT current_setting('homologue.event'),
    key     text   NOT NULL,
    name    text   NOT NULL,
    made_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    agent   text   NOT NULL,
    address text   NOT NULL,
    PRIMARY KEY (event, key),
    FOREIGN KEY (event, name) REFERENCES homologue_people.all_accounts
);
CREATE TABLE homologue_people.all_audit (
    event   text   NOT NULL DEFAULT current_setting('homologue.event'),
    number  bigint NOT NULL,
    at      bigint NOT NULL,
    who     text   NOT NULL,
    address text   NOT NULL,
    action  text   NOT NULL,
    about   text   NOT NULL,
    detail  text   NOT NULL,
    digest  text   NOT NULL,
    PRIMARY KEY (event, number)
);
CREATE TABLE homologue_people.all_orders (
    event  text   NOT NULL DEFAULT current_setting('homologue.event'),
    number bigint NOT NULL,
    id     text   NOT NULL,
    at     bigint NOT NULL,
    tables text   NOT NULL,
    who    text   NOT NULL,
    body   bytea  NOT NULL,
    PRIMARY KEY (event, number),
    UNIQUE (event, id)
);
CREATE TABLE homologue_people.all_keyings (
    event    text    NOT NULL DEFAULT current_setting('homologue.event'),
    number   bigint  NOT NULL,
    at       bigint  NOT NULL,
    who      text    NOT NULL,
    whose    text    NOT NULL,
    round    integer NOT NULL,
    table_no integer NOT NULL,
    after    text    NOT NULL,
    body     bytea   NOT NULL,
    reason   text    NOT NULL,
    PRIMARY KEY (event, number)
);
CREATE VIEW homologue_people.accounts AS SELECT name, "full", role, password, disabled, made_at
    FROM homologue_people.all_accounts WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.sessions AS SELECT key, name, made_at, seen_at, agent, address
    FROM homologue_people.all_sessions WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.audit AS SELECT number, at, who, address, action, about, detail, digest
    FROM homologue_people.all_audit WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.orders AS SELECT number, id, at, tables, who, body
    FROM homologue_people.all_orders WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.keyings AS SELECT number, at, who, whose, round, table_no, after, body, reason
    FROM homologue_people.all_keyings WHERE event = current_setting('homologue.event');
CREATE FUNCTION homologue_people.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'audit log, orders and keyings are append-only'; END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue_people.all_audit
    FOR EACH STATEMENT EXECUTE FUNCTION homologue_people.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue_people.all_orders
    FOR EACH STATEMENT EXECUTE FUNCTION homologue_people.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue_people.all_keyings
    FOR EACH STATEMENT EXECUTE FUNCTION homologue_people.append_only();
"""

MIGRATIONS: Final[tuple[LiteralString, ...]] = (FIRST,)
"""Statements that lead from one version to the next; none is ever changed once it was shipped."""

ONE_AT_A_TIME: Final = 0x686F6D6F70656F
"""Lock under which the tables are made: "homopeo" in ASCII."""


def ensure_people_schema(connection: psycopg.Connection) -> None:
    """Bring the tables to our version; whoever may only use them is not asked to. Raises PeopleStoreBroken."""
    if _version(connection) == len(MIGRATIONS):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (ONE_AT_A_TIME,))
        found = _version(connection)
        if found > len(MIGRATIONS):
            raise PeopleStoreBroken(f"the tables of people are of version {found}, not {len(MIGRATIONS)}")
        for statements in MIGRATIONS[found:]:
            connection.execute(statements)
            connection.execute("UPDATE homologue_people.about SET version = version + 1")


def _version(connection: psycopg.Connection) -> int:
    """Return the version of the tables; 0 where there are none."""
    if connection.execute("SELECT to_regclass('homologue_people.about')").fetchone() == (None,):
        return 0
    row = connection.execute("SELECT version FROM homologue_people.about").fetchone()
    return int(row[0]) if row else 0
