"""Opening, copying and restoring an event's accounts. Whoever was locked out stays locked out after a restore."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete, select

from broker.errors import StoreError
from broker.files import PEOPLE_FILE
from broker.people.accounts import AuditEntry, AuditLog
from broker.people.database import (
    AUDIT,
    PEOPLE_WITNESS,
    SESSIONS,
    TABLES,
    PeopleDatabase,
    SqlitePeople,
    all_rows,
    insert_all,
)
from broker.people.errors import PeopleError, PeopleStoreBroken
from broker.store import connection_parameters, copy_file, database_of, event_name

MOVED, UNUSED = ".moved", ".unused"

COMMAND_USER: Final = "(command)"


def open_people(folder: Path, now: int) -> PeopleDatabase:
    """Open the accounts of an event: in PostgreSQL if its journal is there, else in `people.sqlite`.

    If both exist, the file is imported or put aside. `now` is the time in ms since 1970. Raises PeopleStoreBroken.
    """
    try:
        place = database_of(folder)
        if place is None:
            return SqlitePeople(folder / PEOPLE_FILE, folder / PEOPLE_WITNESS)
        parameters, event = connection_parameters(place, folder), event_name(folder)
    except StoreError as error:
        raise PeopleStoreBroken(str(error)) from None
    from broker.people.postgresql import PostgresPeople  # noqa: PLC0415 - load the driver only if needed

    store = PostgresPeople(parameters, event, folder / PEOPLE_WITNESS)
    try:
        if (folder / PEOPLE_FILE).exists():
            import_people(folder, store, now)
    except BaseException:
        store.close()
        raise
    return store


def import_people(folder: Path, store: PeopleDatabase, now: int) -> None:
    """Import the folder's own accounts into an empty store, or put the file aside. Raises PeopleStoreBroken."""
    with closing(SqlitePeople(folder / PEOPLE_FILE)) as own, own.commit() as own_sql:
        rows = all_rows(own_sql)
        with store.commit() as sql:
            if _empty(sql):
                insert_all(sql, rows)
                if all_rows(sql) != rows:
                    raise PeopleStoreBroken("the people do not read back as they were copied: nothing was moved")
            contained = contains_log(store, AuditLog(own).newest(1)[0] if rows["audit"] else None)
            if not contained:
                AuditLog(store).note(now, COMMAND_USER, "people_put_aside", f"{PEOPLE_FILE}{UNUSED}")
    _rename_file(folder, MOVED if contained else UNUSED)
    if not contained:
        (folder / PEOPLE_WITNESS).unlink(missing_ok=True)  # it belongs to the log that was put aside


def _empty(sql: Connection) -> bool:
    return all(sql.execute(select(table).limit(1)).first() is None for table in TABLES)


def contains_log(store: PeopleDatabase, last: AuditEntry | None) -> bool:
    """Return whether a store's log contains another log whose last entry is `last`. A digest covers all before it."""
    if last is None:
        return True
    return store.rows(select(AUDIT.c.digest).where(AUDIT.c.number == last.number)) == [(last.digest,)]


def _rename_file(folder: Path, suffix: str) -> None:
    """Rename `people.sqlite` to the first free name, after merging its write-ahead log into it."""
    path = folder / PEOPLE_FILE
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as whole:
            whole.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise PeopleStoreBroken(f"{path}: {error}") from None
    names = (f"{PEOPLE_FILE}{suffix}" + (f"-{attempt}" if attempt else "") for attempt in range(1000))
    path.rename(next(folder / name for name in names if not (folder / name).exists()))


def name_copied(folder: Path) -> None:
    """Rewrite the witness file for an audit log that was copied from another machine.

    Raises PeopleStoreBroken.
    """
    with closing(SqlitePeople(folder / PEOPLE_FILE)) as store:
        store.witness_entries(folder / PEOPLE_WITNESS, rewrite=True)


LOCKOUTS: Final = ("account_disabled", "password_set", "sessions_ended", "token_revoked")
"""Actions that lock somebody out."""


def copy_people(folder: Path, target: Path, now: int = 0) -> None:
    """Write an event's accounts from PostgreSQL into a copy of its folder; a `people.sqlite` is copied like any file.

    Raises PeopleStoreBroken.
    """
    if database_of(folder) is None:
        return
    with closing(open_people(folder, now)) as store, store.commit() as sql:
        rows = all_rows(sql)
    temporary = target / f"{PEOPLE_FILE}.rows"
    with closing(SqlitePeople(temporary)) as new, new.commit() as sql:
        insert_all(sql, rows)
    copy_file(temporary, target / PEOPLE_FILE)
    temporary.unlink()


def restore_people(folder: Path, restored: Path, newer: Iterable[Path], now: int) -> str:
    """Update the accounts of a folder just restored from the copy `restored`; return the name of the copy used.

    The accounts come from the newest of the `newer` copies (newest first) whose audit log continues the restored one,
    so that nobody locked out since gets back in. All sessions are ended. Returns an empty text if there are no
    accounts. Raises PeopleStoreBroken, OSError.
    """
    path = folder / PEOPLE_FILE
    if not path.exists():
        return ""
    source = next((copy for copy in newer if _continues_log(copy / PEOPLE_FILE, path)), restored)
    if source != restored:
        copy_file(source / PEOPLE_FILE, path)
    with closing(SqlitePeople(path)) as store:
        with store.commit() as sql:
            sql.execute(delete(SESSIONS))
            AuditLog(store).note(now, COMMAND_USER, "people_restored", source.name)
        store.witness_entries(folder / PEOPLE_WITNESS, rewrite=True)
    return source.name


def _continues_log(path: Path, older: Path) -> bool:
    """Return whether a copy's audit log is intact and continues an older one."""
    temporary = older.with_name(f".{PEOPLE_FILE}.newer")
    try:
        copy_file(path, temporary)
        with closing(SqlitePeople(older)) as before, closing(SqlitePeople(temporary)) as after:
            last = AuditLog(before).newest(1)
            return bool(list(AuditLog(after).checked())) and contains_log(after, last[0] if last else None)
    except (PeopleError, OSError, sqlite3.Error):
        return False
    finally:
        for end in ("", "-wal", "-shm"):
            temporary.with_name(f"{temporary.name}{end}").unlink(missing_ok=True)


class ClosedAccounts:
    """Notices when somebody is locked out, by this process or another."""

    def __init__(self, store: PeopleDatabase) -> None:
        """Watch for entries after the present ones. Raises PeopleStoreBroken."""
        self._store = store
        self._seen = max((entry.number for entry in AuditLog(store).newest(1)), default=0)

    def news(self) -> bool:
        """Return whether somebody was locked out since the last call. Raises PeopleStoreBroken."""
        query = select(AUDIT.c.number, AUDIT.c.action).where(AUDIT.c.number > self._seen)
        rows = self._store.rows(query.order_by(AUDIT.c.number))
        self._seen = max((number for number, _ in rows), default=self._seen)
        return any(action in LOCKOUTS for _, action in rows)
