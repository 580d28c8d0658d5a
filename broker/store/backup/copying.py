"""A whole event put into another folder while a scorer is at work on it."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from broker.store.address import SETTING, STORE, place_of
from broker.store.journal import copy
from broker.store.opened import open_reader
from broker.store.sqlite import SqliteJournal
from broker.store.sqlite_reading import for_reading

HEADER: Final = b"SQLite format 3\0"
"""How a file of SQLite's begins."""

BESIDE: Final = ("-wal", "-shm", ".lock", ".new")
"""Ends of names that belong to a file being worked on."""

LEFT_OUT: Final = (SETTING, "broker")
"""Where the journal was; and the broker's own store, which is nothing without the broker."""


Further = Callable[[Path, Path], None]
"""Puts what a room above keeps beside the journal in a database into a copy: the event's folder, the copy's."""


def copy_event(folder: Path, event: str, target: Path, further: Iterable[Further] = ()) -> None:
    """Copy all files of an event, and its journal, into an empty folder. Raises StoreError, OSError."""
    for path in files_of(folder):
        new = target / path.relative_to(folder)
        for part in reversed(path.relative_to(folder).parents[:-1]):
            (target / part).mkdir(exist_ok=True)  # never `target`: a stick's folder is not made where the stick was
        copy_file(path, new)
    if place_of(folder) is not None:
        _copy_rows(folder, event, target / STORE)
    for copied in further:
        copied(folder, target)


def files_of(folder: Path) -> Iterator[Path]:
    """Give the files that make up an event: no links, nothing hidden, nothing that is only being worked on."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name.endswith(BESIDE) or path.name in LEFT_OUT or path.is_symlink():
            continue
        if path.is_dir():
            yield from files_of(path)
        elif path.is_file():
            yield path


def copy_file(path: Path, new: Path) -> None:
    """Copy one file; one of SQLite's as it is at one moment, whoever writes to it."""
    with path.open("rb") as file:
        live = file.read(len(HEADER)) == HEADER
    if live:
        _copy_sqlite(path, new)
    else:
        shutil.copyfile(path, new)
    new.chmod(0o600)
    flush(new)


def flush(path: Path) -> None:
    """See to it that a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy_sqlite(path: Path, new: Path) -> None:
    try:
        with closing(for_reading(path)) as source, closing(sqlite3.connect(new, isolation_level=None)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, which lies on a stick as it is
    except sqlite3.Error as error:
        raise OSError(f"{path.name}: {error}") from error


def _copy_rows(folder: Path, event: str, new: Path) -> None:
    """Make a copy in SQLite of a journal that is elsewhere: every copy can be read without a server."""
    fresh = new.with_name("rows.sqlite")
    with closing(open_reader(folder, event)) as source, closing(SqliteJournal(fresh, event)) as target:
        copy(source, target)
    copy_file(fresh, new)
    for path in (fresh, fresh.with_suffix(".lock")):
        path.unlink()
