"""One event's store, of either kind, for the tests that hold for both."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from broker.protocol import LogMessage
from broker.store import STORE, DatabaseAddress, Journal, Reader, open_journal, open_reader, write_address
from tests.broker.scorer.small import NAME
from tests.broker.store.server import PASSWORD, Server


@dataclass(frozen=True)
class Kept:
    """A store in a folder (SQLite), or in the database that the folder's `store.toml` names."""

    folder: Path
    server: Server | None = None
    database: str = ""

    @contextmanager
    def journal(self, name: str = NAME) -> Iterator[Journal]:
        """Open the store as the scorer does, and close it afterwards."""
        journal = open_journal(self.folder, name)
        try:
            yield journal
        finally:
            journal.close()

    @contextmanager
    def reader(self, name: str = NAME) -> Iterator[Reader]:
        """Open the store for reading."""
        reader = open_reader(self.folder, name)
        try:
            yield reader
        finally:
            reader.close()

    def alter(self, statement: str) -> None:
        """Run a statement on the store behind the scorer's back."""
        if self.server:
            for name in ("journal", "about", "set_aside"):
                statement = statement.replace(f" {name}", f" homologue.{name}")
            self.server.ask(statement, self.database)
            return
        connection = sqlite3.connect(self.folder / STORE)
        try:
            connection.execute(statement)
            connection.commit()
        finally:
            connection.close()

    def force(self, statement: str) -> None:
        """Change the journal although the database refuses to, as a failing disk does."""
        if self.server:
            self.server.ask("ALTER TABLE homologue.journal DISABLE TRIGGER append_only", self.database)
            self.alter(statement)
            self.server.ask("ALTER TABLE homologue.journal ENABLE TRIGGER append_only", self.database)
            return
        with closing(sqlite3.connect(self.folder / STORE)) as connection:
            triggers = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'journal'"
            ).fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(statement)
            for _, made in triggers:
                connection.execute(made)
            connection.commit()


Refusal = (sqlite3.Error, psycopg.Error)
"""Errors of a store's own library when it refuses something."""


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
