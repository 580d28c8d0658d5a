"""Journals of earlier programs open: the file beside this one was written by the program of its time."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from broker.protocol import LogMessage, decode
from broker.protocol.signing import is_signed_by
from kiosk.journal import TableJournal
from kiosk.table import Phase
from tests.kiosk.journals import OURS, core
from tests.kiosk.tables import sitting_in

BEFORE_SIGNATURES: Final = Path(__file__).parent / "version_4" / "table.sqlite"
"""Two plays to their end, all facts unsent, by the program before facts were signed (f3e3066c)."""


def test_a_table_goes_on_with_the_journal_of_a_program_from_before_signatures(tmp_path: Path) -> None:
    path = shutil.copy(BEFORE_SIGNATURES, tmp_path)
    with closing(sqlite3.connect(path)) as store:
        told = [decode(LogMessage, body) for (body,) in store.execute("SELECT body FROM outbox ORDER BY seq")]
    journal = TableJournal(Path(path), OURS)
    assert core(journal).state == sitting_in(Phase.FINISHED).table
    unsent = journal.unsent_bodies()
    kept = [decode(LogMessage, body) for body in unsent]
    assert [(one.id, one.seq, one.at, one.fact) for one in kept] == [
        (one.id, one.seq, one.at, one.fact) for one in told
    ]
    assert all(is_signed_by(journal.key.public, body, one.signature) for body, one in zip(unsent, kept, strict=True))
    journal.close()
