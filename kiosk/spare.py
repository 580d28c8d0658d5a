"""Where a table's journal goes on while its card takes no writes: whole, in another folder, until it does again.

A spare holds everything that the card holds, and what has happened since; so whoever finds both takes the one that is
ahead. Where each of them has something that the other has not (the table was played without its stick), the facts of
the spare join those of the card: they keep their ids, by which the scorer takes each once.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from broker.files import make_folder
from broker.protocol import decode_fact, is_signed_by

FILE: Final = "table.sqlite"


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal's file as every one is opened. Raises sqlite3.Error."""
    store = sqlite3.connect(path, isolation_level=None)
    try:
        store.execute("PRAGMA journal_mode=WAL")
        store.execute("PRAGMA synchronous=FULL")
    except BaseException:
        store.close()
        raise
    return store


def _make_own_folder(folder: Path) -> None:
    """Make a spare's folder, for this user alone. Raises OSError, also if it is somebody else's."""
    make_folder(folder, 0o700)
    for made in (folder, folder.parent):
        if made.stat().st_uid != os.getuid():
            raise PermissionError(f"{made} belongs to another user")


def remove(path: Path) -> None:
    """Remove a journal's files; what cannot be removed is found behind the card at the next start, and dropped."""
    for suffix in ("-wal", "-shm", ""):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _put_aside(path: Path) -> None:
    """Keep what could not be joined to the card, for somebody to look at."""
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(path.with_name(f"unjoined-{path.name}{suffix}"))


def copy_into(folders: Iterable[Path], store: sqlite3.Connection) -> tuple[Path, sqlite3.Connection] | None:
    """Copy a journal into the first folder that takes it, and return its file there, open; None: none does."""
    for folder in folders:
        spare = None
        try:
            _make_own_folder(folder)
            _put_aside(folder / FILE)
            spare = connect(folder / FILE)
            store.backup(spare)
        except (OSError, sqlite3.Error):
            if spare is not None:
                spare.close()
        else:
            return folder / FILE, spare
    return None


def open_without_card(folders: Iterable[Path], card: Path) -> Path | None:
    """Return the journal's file in the first folder that takes it, as far as this or the card has got.

    The card can be read, but not by SQLite, which writes to read: its files are copied.
    """
    for folder in folders:
        spare, copy = folder / FILE, folder / "card.sqlite"
        try:
            _make_own_folder(folder)
            remove(copy)
            for suffix in ("-wal", ""):
                if (source := card.with_name(card.name + suffix)).exists():
                    shutil.copyfile(source, copy.with_name(copy.name + suffix))
            if copy.exists() and length(copy) > length(spare):
                with closing(connect(copy)) as ahead, closing(connect(spare)) as behind:
                    ahead.backup(behind)
            remove(copy)
            connect(spare).close()
        except (OSError, sqlite3.Error):
            continue
        return spare
    return None


def length(path: Path) -> int:
    """Return how many events a journal's file holds; none if there is no such file. Raises sqlite3.Error."""
    if not path.exists():
        return 0
    with closing(connect(path)) as store:
        return _length(store)


def is_ahead(spare: sqlite3.Connection, card: sqlite3.Connection) -> bool:
    """Return whether a spare holds all events of the card, and more."""
    have = _length(card)
    event = "SELECT wall, event FROM happened WHERE number = ?"
    same = spare.execute(event, (have,)).fetchone() == card.execute(event, (have,)).fetchone()
    return same and _length(spare) > have


def written_by(spare: sqlite3.Connection, card: sqlite3.Connection, key: str) -> bool:
    """Return whether each fact in a spare is signed with a device's key, or on the card too; and nothing in it acts."""
    known = {body for (body,) in card.execute("SELECT body FROM outbox")}
    more = [body for (body,) in spare.execute("SELECT body FROM outbox") if body not in known]
    signed = all(is_signed_by(key, body, decode_fact(body).signature) for body in more)
    acts = "SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view')"
    return signed and spare.execute(acts).fetchone() is None


def _length(store: sqlite3.Connection) -> int:
    if not store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'happened'").fetchone():
        return 0
    (count,) = store.execute("SELECT coalesce(max(number), 0) FROM happened").fetchone()
    return int(count)


PAGES: Final = 500
"""Of the log, then it begins anew: one event of some 400 waits for that."""

MORE_PAGES: Final = 50
"""More pages than one event adds when the log is nearly full."""


def allocate_log(store: sqlite3.Connection, pages: int = PAGES) -> None:
    """Write the log full and take back what was written: the file keeps the room, for events to come.

    Raises sqlite3.OperationalError if there is no room; then the log grows with the events, as SQLite's do.
    """
    (size,) = store.execute("PRAGMA page_size").fetchone()
    store.execute("DROP TABLE IF EXISTS ahead")  # of a start that was cut here
    store.execute("CREATE TABLE ahead (pages BLOB)")
    store.execute("INSERT INTO ahead VALUES (zeroblob(?))", ((pages + MORE_PAGES) * size,))
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute("DROP TABLE ahead")
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute(f"PRAGMA wal_autocheckpoint={pages}")
