"""The way back: from a copy to a folder that a scorer can be started on. Nothing that is there is ever written over."""

from contextlib import closing
from pathlib import Path

from broker.store.address import SETTING, STORE, Place
from broker.store.backup.checking import check
from broker.store.backup.copying import copy_file, flush
from broker.store.backup.keeping import copies
from broker.store.backup.manifest import MANIFEST, Manifest
from broker.store.errors import BackupBroken, BackupMissing, RestoreTaken
from broker.store.journal import Journal, copy
from broker.store.opened import open_journal
from broker.store.sqlite_reading import SqliteReader, rename

FIRST_ASKED_FOR = "event.toml"
"""Written last: without it a folder is no event, and half a restored one must be none."""


def choose(source: Path, event: str | None) -> tuple[Path, Manifest, list[BackupBroken]]:
    """Give the newest copy that is whole, and what is wrong with those that are newer.

    `source` is a copy, or a folder of copies, of one event unless it is named. Raises BackupMissing, BackupBroken.
    """
    if (source / MANIFEST).exists():
        return source, check(source), []
    names = copies((path.name for path in source.iterdir()), event) if source.is_dir() else []
    if event is None and len({name.rsplit("-backup-", 1)[0] for name in names}) > 1:
        raise BackupMissing(f"{source} has copies of several events: say which with --event")
    broken: list[BackupBroken] = []
    for name in names:
        try:
            return source / name, check(source / name), broken
        except BackupBroken as problem:
            broken.append(problem)
    raise BackupMissing(f"no whole copy is in {source}" + "".join(f"; {one}" for one in broken))


def restore(source: Path, manifest: Manifest, folder: Path, place: Place | None = None) -> None:
    """Put a copy into an empty or new folder; with `place` its journal into that database, which must not have it.

    The store gets a new name: tables notice that it may lack what they were told is safe, and send everything again.
    Raises RestoreTaken, StoreError, OSError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RestoreTaken(f"{folder} is not empty: nothing was restored")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place is not None:
        _into_database(source, manifest, folder, place)
    for name in sorted(manifest.files, key=lambda name: (name == FIRST_ASKED_FOR, name)):
        if place is None or name != STORE:
            _put_back(source / name, folder / name)
    flush(folder)


def _put_back(path: Path, new: Path) -> None:
    new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy_file(path, new)
    if new.name == STORE:
        rename(new)


def _into_database(source: Path, manifest: Manifest, folder: Path, place: Place) -> None:
    try:
        with (
            closing(open_journal(folder, manifest.event, place)) as target,
            closing(SqliteReader(source / STORE, manifest.event)) as kept,
        ):
            refuse_taken(target)
            copy(kept, target)
    except BaseException:
        (folder / SETTING).unlink(missing_ok=True)  # nothing was restored: the folder must be as empty as it was
        raise


def refuse_taken(target: Journal) -> None:
    """Refuse to copy into a journal that has something. Raises RestoreTaken."""
    if target.height or list(target.refused()):
        raise RestoreTaken("the database has a journal of this event already: nothing was copied")
