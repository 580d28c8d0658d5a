"""The people of an event in PostgreSQL, beside its journal: an active scorer and its standby know the same ones."""

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus

from broker.people.errors import PeopleStoreBroken
from broker.people.postgresql_schema import ensure
from broker.people.store import PATIENCE_S
from broker.store.errors import StoreError
from broker.store.postgresql_link import connect

SESSION: Final = """
SELECT set_config('homologue.event', %s, false), set_config('search_path', 'homologue_people', false),
       set_config('lock_timeout', %s, false)
"""


class PostgresStore:
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
        ensure(connection)
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
    def commit(self) -> Iterator["PostgresStore"]:
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
