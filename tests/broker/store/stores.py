"""One event's store of either kind, as the tests of its laws handle it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from broker.protocol import LogMessage
from broker.store import STORE, DatabaseAddress, Journal, Reader, open_journal, open_reader, write_address
from tests.broker.scorer.small import NAME
from tests.broker.store.server import PASSWORD, Server


@dataclass(frozen=True)
class Kept:
    """A store in a folder (SQLite), or in a database that the folder's `store.toml` names."""

    folder: Path
    server: Server | None = None
    database: str = ""

    @contextmanager
    def journal(self, name: str = NAME) -> Iterator[Journal]:
        """Open the store as the scorer does, and close it."""
        journal = open_journal(self.folder, name)
        try:
            yield journal
        finally:
            journal.close()

    @contextmanager
    def reader(self, name: str = NAME) -> Iterator[Reader]:
        """Open it for reading."""
        reader = open_reader(self.folder, name)
        try:
            yield reader
        finally:
            reader.close()

    def alter(self, statement: str) -> None:
        """Do something to the store behind the scorer's back."""
        if self.server:
            for name in ("journal", "about"):
                statement = statement.replace(f" {name}", f" homologue.{name}")
            self.server.ask(statement, self.database)
            return
        connection = sqlite3.connect(self.folder / STORE)
        try:
            connection.execute(statement)
            connection.commit()
        finally:
            connection.close()


Refusal = (sqlite3.Error, psycopg.Error)
"""What a store's own library says when it does not do something."""


def in_postgresql(folder: Path, server: Server) -> Kept:
    """Return an event's folder whose store is in a new database."""
    folder.mkdir(exist_ok=True)
    database = server.database()
    password = folder / "store-password"
    password.touch(mode=0o600)
    password.write_text(PASSWORD + "\n", encoding="utf-8")
    write_address(folder, DatabaseAddress(server.address(database), password.name))
    return Kept(folder, server, database)


def fill(journal: Journal, *messages: LogMessage) -> None:
    """Commit messages as one batch."""
    with journal.commit():
        for message in messages:
            journal.append(message, 7)
