"""Journals of tables for tests, and a store that fails on demand."""

import sqlite3
from pathlib import Path

from broker.protocol import Confirmed, LogMessage, Receipt, Refusal, Taken
from kiosk.journal import JournaledTable, TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.table import Table
from kiosk.table.events import NextDealCalled
from tests.kiosk.tables import EVENT, STORE, TABLE

OURS = JournalOwner(EVENT, TABLE)
CONFIRMED = Confirmed(round=1, deal=1)
HAPPENED = NextDealCalled(at=1)


def core(journal: TableJournal) -> JournaledTable:
    """Return the table that a journal holds."""
    return JournaledTable(journal, wall=lambda: 1_604_142_000_000)


def played(path: Path) -> Table:
    """Open a journal, play it, and close it."""
    journal = TableJournal(path, OURS)
    try:
        return core(journal).state
    finally:
        journal.close()


def told(journal: TableJournal, count: int) -> list[LogMessage]:
    """Put facts into the outbox, one for each event."""
    return [journal.record(HAPPENED, [CONFIRMED], wall=5)[0] for _ in range(count)]


def receipt(
    *,
    taken: dict[int, str] | None = None,
    refused: dict[int, tuple[str, str]] | None = None,
    upto: int | None = None,
    gaps: tuple[int, ...] = (),
    store: str = STORE,
) -> Receipt:
    """Return a receipt that names these numbers: taken ones with their ids, refused ones with ids and codes.

    `upto` is by default the highest number taken.
    """
    return Receipt(
        id="receipt-1",
        event=EVENT,
        seq=1,
        table=TABLE,
        store=store,
        upto=max(taken or {}, default=0) if upto is None else upto,
        gaps=gaps,
        taken=tuple(Taken(seq=seq, id=one) for seq, one in (taken or {}).items()),
        refused=tuple(Refusal(seq=seq, id=one, code=code) for seq, (one, code) in (refused or {}).items()),
    )


class Broken:
    """A store that fails at the n-th statement that contains a word."""

    def __init__(self, store: sqlite3.Connection, word: str, nth: int) -> None:
        self._store, self._word, self._left = store, word, nth

    def execute(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        if self._word in statement:
            self._left -= 1
            if self._left == 0:
                raise sqlite3.OperationalError("disk I/O error")
        return self._store.execute(statement, values)

    @property
    def in_transaction(self) -> bool:
        return self._store.in_transaction

    def close(self) -> None:
        self._store.close()
