"""The journal's log has its length before anybody plays.

SQLite writes each commit into a log beside the file and waits until it is on the card. Where the log grows by that, the
file system must note its new length in a journal of its own, and on ext4 that waits for whatever else is being written
to the card: a press then takes as long as an update of the system. Writing over bytes that are there needs none of it.
So the log is written full once, at the start; SQLite begins anew at its front when all of it is in the file, and does
not cut it.
"""

import sqlite3
from typing import Final

PAGES: Final = 500
"""Of the log, then it begins anew: one event of some 400 waits for that."""

SPARE: Final = 50
"""More pages than one event adds when the log is nearly full."""


def lay_out(store: sqlite3.Connection, pages: int = PAGES) -> None:
    """Write the log full and take back what was written: the file keeps the room, for events to come.

    Raises sqlite3.OperationalError where there is no room; then the log grows with the events, as SQLite's do.
    """
    (size,) = store.execute("PRAGMA page_size").fetchone()
    store.execute("DROP TABLE IF EXISTS ahead")  # of a start that was cut here
    store.execute("CREATE TABLE ahead (pages BLOB)")
    store.execute("INSERT INTO ahead VALUES (zeroblob(?))", ((pages + SPARE) * size,))
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute("DROP TABLE ahead")
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute(f"PRAGMA wal_autocheckpoint={pages}")
