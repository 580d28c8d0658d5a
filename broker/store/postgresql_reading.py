"""A journal in PostgreSQL, read while a scorer may be at work on it: one moment of it, with no lock."""

from collections.abc import Generator, Iterator, Mapping
from typing import Final

import psycopg

from broker.store import postgresql_schema
from broker.store.errors import StoreBroken, StoreError, StoreMissing
from broker.store.journal import VERSION, Entry, RefusedRow
from broker.store.postgresql_link import connect, told

AT_ONCE: Final = 5_000
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
            with told(self._connection, "the store cannot be read"):
                self._open()
        except StoreError:
            self.close()
            raise

    def _open(self) -> None:
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        version = "SELECT value FROM homologue.about WHERE event = %s AND key = 'version'"
        there = postgresql_schema.exists(self._connection)
        found = self._connection.execute(version, (self._event,)).fetchone() if there else None
        if found is None:
            raise StoreMissing(f"nothing has been recorded for {self._event} in this database")
        if found != (str(VERSION),):
            raise StoreBroken(f"its version is {found[0]}, not {VERSION}")

    def close(self) -> None:
        """Let go of it; may be called twice."""
        self._connection.close()

    def entries(self) -> Generator[Entry, None, None]:
        """Give all accepted messages as they are stored. Raises StoreLost."""
        return entries_in(self._connection, self._event)

    def refused(self) -> Iterator[RefusedRow]:
        """Give all kept refusals, oldest first. Raises StoreLost."""
        return refused_in(self._connection, self._event)


def entries_in(connection: psycopg.Connection, event: str) -> Generator[Entry, None, None]:
    """Give what a journal holds. Raises StoreBroken, StoreLost."""
    with (
        told(connection, "the journal cannot be read"),
        connection.transaction(),
        psycopg.ServerCursor(connection, "entries") as rows,
    ):
        rows.itersize = AT_ONCE
        yield from rows.execute(ENTRIES, (event,), binary=True)


def refused_in(connection: psycopg.Connection, event: str) -> Iterator[RefusedRow]:
    """Give what was refused. Raises StoreBroken, StoreLost."""
    with told(connection, "what was refused cannot be read"), connection.transaction():
        for at, code, topic, *rest in connection.execute(REFUSED, (event,)):
            yield RefusedRow(at, code, topic.decode(), *rest)
