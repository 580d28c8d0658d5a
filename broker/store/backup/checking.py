"""A copy read back: it must be what it says, and an event must be able to go on from it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from broker.store.address import STORE
from broker.store.backup.manifest import Manifest, digest, read
from broker.store.errors import BackupBroken, StoreError
from broker.store.journal import decoded
from broker.store.sqlite_reading import SqliteReader, for_reading


def check(copy: Path) -> Manifest:
    """Read a whole copy from its disk, every message too. Raises BackupBroken."""
    manifest = check_files(copy)
    try:
        with closing(SqliteReader(copy / STORE, manifest.event)) as journal:
            found = sum(1 for _ in decoded(journal.entries())), sum(1 for _ in journal.refused())
    except StoreError as error:
        raise BackupBroken(f"{copy.name}: {error}") from None
    if found != (manifest.height, manifest.refused):
        raise BackupBroken(f"{copy.name}: {found[0]} messages and {found[1]} refusals are not what it should have")
    return manifest


def check_files(copy: Path) -> Manifest:
    """Read all files of a copy from its disk, and see that its store is a whole one. Raises BackupBroken."""
    manifest = read(copy)
    for name, expected in manifest.files.items():
        try:
            found = digest(copy / name, from_disk=True)
        except OSError as error:
            raise BackupBroken(f"{copy.name}: {name}: {error.strerror}") from None
        if found != expected:
            raise BackupBroken(f"{copy.name}: {name} is not what was written")
    if STORE in manifest.files:
        _check_store(copy)
    return manifest


def _check_store(copy: Path) -> None:
    try:
        with closing(for_reading(copy / STORE)) as store:
            (said,) = store.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        said = error
    if said != "ok":
        raise BackupBroken(f"{copy.name}: {STORE}: {said}")
