"""People in the copies of an event, and on the way back: who was closed out stays out.

A copy is as old as it is, and an account may have been closed since. So accounts do not go back in time with the
results: they are those of the newest copy whose log goes on where that of the restored one ends, and nobody stays
logged in. What was closed after the newest copy cannot be known: a scorer that makes copies makes one at once when
somebody is closed out.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

from broker.people.audit import Audit
from broker.people.errors import PeopleError
from broker.people.opened import HERE, has_log, open_people
from broker.people.sqlite import SqliteStore
from broker.people.store import FILE, Store, all_rows, put_all
from broker.store.address import place_of
from broker.store.backup.copying import copy_file

CLOSING: Final = ("account_disabled", "password_set", "sessions_ended")
"""What is done to keep somebody out."""


def copy_people(folder: Path, target: Path, now: int = 0) -> None:
    """Write an event's people into a copy, if they are in a database: else their file is copied as any other.

    Raises PeopleStoreBroken.
    """
    if place_of(folder) is None:
        return
    with closing(open_people(folder, now)) as store, store.commit() as sql:
        rows = all_rows(sql)
    fresh = target / f"{FILE}.rows"
    with closing(SqliteStore(fresh)) as new, new.commit() as sql:
        put_all(sql, rows)
    copy_file(fresh, target / FILE)
    fresh.unlink()


def settle_people(folder: Path, restored: Path, newer: Iterable[Path], now: int) -> str:
    """Make the people of a folder that was just restored from `restored` those that may come in; give whose they are.

    `newer`: later copies of the event, the newest first. Empty where there are none. Raises PeopleStoreBroken, OSError.
    """
    path = folder / FILE
    if not path.exists():
        return ""
    taken = next((copy for copy in newer if _goes_on(copy / FILE, path)), restored)
    if taken != restored:
        copy_file(taken / FILE, path)
    with closing(SqliteStore(path)) as store, store.commit() as sql:
        sql.execute("DELETE FROM sessions")
        Audit(store).note(now, HERE, "people_restored", taken.name)
    return taken.name


def _goes_on(path: Path, older: Path) -> bool:
    """Say whether a copy's log is whole, and goes on where an older one ends."""
    beside = older.with_name(f".{FILE}.newer")
    try:
        copy_file(path, beside)
        with closing(SqliteStore(older)) as before, closing(SqliteStore(beside)) as after:
            last = Audit(before).newest(1)
            return bool(list(Audit(after).checked())) and has_log(after, last[0] if last else None)
    except (PeopleError, OSError, sqlite3.Error):
        return False
    finally:
        for end in ("", "-wal", "-shm"):
            beside.with_name(f"{beside.name}{end}").unlink(missing_ok=True)


class Closings:
    """Notices when somebody was closed out, by this process or another."""

    def __init__(self, store: Store) -> None:
        """Begin with what is there now. Raises PeopleStoreBroken."""
        self._store = store
        self._seen = max((entry.number for entry in Audit(store).newest(1)), default=0)

    def news(self) -> bool:
        """Say whether somebody was closed out since this was asked last. Raises PeopleStoreBroken."""
        rows = self._store.rows("SELECT number, action FROM audit WHERE number > ? ORDER BY number", self._seen)
        self._seen = max((int(str(number)) for number, _ in rows), default=self._seen)
        return any(action in CLOSING for _, action in rows)
