"""One copy of an event, made beside the others, read back, and only then counted; then the oldest may go."""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from broker.store.address import STORE
from broker.store.backup.checking import check_files
from broker.store.backup.copying import Further, copy_event, files_of, flush
from broker.store.backup.keeping import beyond, copies, next_name
from broker.store.backup.manifest import MANIFEST, Manifest, digest, read
from broker.store.errors import BackupBroken, BackupFailed, StoreError
from broker.store.sqlite_reading import for_reading

UNFINISHED: Final = ".unfinished-"
_GONE: Final = "there is no such folder: is the stick in, and mounted there?"


def make(folder: Path, event: str, target: Path, now: int, keep: int, further: Sequence[Further] = ()) -> Path:
    """Copy the event in `folder` into `target`, which must be there; give the copy, or the last one if nothing is new.

    `now`: wall clock, ms since 1970; `further`: what rooms above have in a database. Raises BackupFailed; what was in
    `target` is then as it was.
    """
    try:
        _may_be_in(folder, target)
        new = target / f"{UNFINISHED}{event}"
        shutil.rmtree(new, ignore_errors=True)
        try:
            return _finish(new, _written(folder, event, new, now, further), keep)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:  # all of ours that can come here are of this kind, too
        why = (error.strerror or error) if target.is_dir() else _GONE
        raise BackupFailed(f"{target}: {why}") from error
    except StoreError as error:
        raise BackupFailed(f"{target}: {error}") from error


def _may_be_in(folder: Path, target: Path) -> None:
    if not target.is_dir():
        raise BackupFailed(_GONE)
    if folder.resolve() in (target.resolve(), *target.resolve().parents):
        raise BackupFailed("it is inside the event's folder")


def _written(folder: Path, event: str, new: Path, now: int, further: Sequence[Further]) -> Manifest:
    new.mkdir(mode=0o700)
    copy_event(folder, event, new, further)
    files = {str(path.relative_to(new)): digest(path) for path in files_of(new)}
    height, refused = _counted(new / STORE)
    manifest = Manifest(1, event, now, height, refused, files)
    (new / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    for path in (new / MANIFEST, new):
        flush(path)
    check_files(new)
    return manifest


def _counted(store: Path) -> tuple[int, int]:
    """Count messages and refusals; an event that has not begun has no store."""
    if not store.exists():
        return 0, 0
    try:
        with closing(for_reading(store)) as opened:
            count = "SELECT (SELECT count(*) FROM journal), (SELECT count(*) FROM refused)"
            height, refused = opened.execute(count).fetchone()
    except sqlite3.Error as error:
        raise BackupFailed(f"{store.name}: {error}") from error
    return height, refused


def _finish(new: Path, manifest: Manifest, keep: int) -> Path:
    """Give the copy its name, and let the oldest ones go; where it says nothing new, the last one stays the last."""
    target = new.parent
    names = [path.name for path in target.iterdir()]
    last = next(iter(copies(names, manifest.event)), None)
    if last and _still_says(target / last, manifest):
        return target / last
    made = target / next_name(names, manifest.event, manifest.made_at)
    os.rename(new, made)  # noqa: PTH104 - a folder that is there is never replaced: the name is a new one
    flush(target)
    for name in beyond([*names, made.name], manifest.event, keep):
        shutil.rmtree(target / name, ignore_errors=True)
    return made


def _still_says(last: Path, manifest: Manifest) -> bool:
    try:
        return read(last).same_content(manifest) and check_files(last) is not None
    except BackupBroken:
        return False
