"""An event's people, opened where its journal is: in its folder, or in the PostgreSQL that `store.toml` names.

What a folder has is taken into the database when that has nothing yet. Where it has people already, they count: the
folder's file is put beside, under another name, and nobody comes in by it.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from broker.people.audit import Audit, Entry
from broker.people.errors import PeopleStoreBroken
from broker.people.sqlite import SqliteStore
from broker.people.store import FILE, TABLES, Sql, Store, all_rows, put_all
from broker.store.address import event_name, parameters, place_of
from broker.store.errors import StoreError

MOVED, UNUSED = ".moved", ".unused"

HERE: Final = "(command)"


def open_people(folder: Path, now: int) -> Store:
    """Open them. `now`: wall clock, ms since 1970. Raises PeopleStoreBroken."""
    try:
        place = place_of(folder)
        if place is None:
            return SqliteStore(folder / FILE)
        told, event = parameters(place, folder), event_name(folder)
    except StoreError as error:
        raise PeopleStoreBroken(str(error)) from None
    from broker.people.postgresql import PostgresStore  # noqa: PLC0415 - only events in PostgreSQL load its library

    store = PostgresStore(told, event)
    try:
        if (folder / FILE).exists():
            take_in(folder, store, now)
    except BaseException:
        store.close()
        raise
    return store


def take_in(folder: Path, store: Store, now: int) -> None:
    """Take the folder's own people into a store that has none, or put their file aside. Raises PeopleStoreBroken."""
    with closing(SqliteStore(folder / FILE)) as own, own.commit() as mine:
        rows = all_rows(mine)
        with store.commit() as sql:
            if _empty(sql):
                put_all(sql, rows)
                if all_rows(sql) != rows:
                    raise PeopleStoreBroken("the people do not read back as they were copied: nothing was moved")
            known = has_log(store, Audit(own).newest(1)[0] if rows["audit"] else None)
            if not known:
                Audit(store).note(now, HERE, "people_put_aside", f"{FILE}{UNUSED}")
    _put_beside(folder, MOVED if known else UNUSED)


def _empty(sql: Sql) -> bool:
    return all(sql.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is None for table in TABLES)  # noqa: S608 - names of ours


def has_log(store: Store, last: Entry | None) -> bool:
    """Say whether a store's log goes on where another one ends, `last` being its last: a digest covers all before."""
    if last is None:
        return True
    return store.rows("SELECT digest FROM audit WHERE number = ?", last.number) == [(last.digest,)]


def _put_beside(folder: Path, end: str) -> None:
    """Rename the file, as one file, to a name that is free."""
    path = folder / FILE
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as whole:
            whole.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise PeopleStoreBroken(f"{path}: {error}") from None
    names = (f"{FILE}{end}" + (f"-{again}" if again else "") for again in range(1000))
    path.rename(next(folder / name for name in names if not (folder / name).exists()))
