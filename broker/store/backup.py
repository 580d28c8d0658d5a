"""Make and restore copies of an event.

A new copy is made beside the others and read back from its disk; only then does it count, and the oldest may be
removed. `backup.json` lists the contents and is written last, so a folder without it is not a copy. Copies are
numbered, so a clock that was set back cannot make an old copy the newest. Restoring never overwrites anything. A copy's
journal is always in SQLite, so that it can be read without a server. The broker's store, `store.toml` and the key of
sealed deals are not copied; nothing else is encrypted.
"""

import hashlib
import os
import re
import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.errors import BackupBroken, BackupFailed, BackupMissing, RestoreTaken, StoreError, reason
from broker.files import PRIVATE_FOLDER, new_folder, sync
from broker.protocol import EventName, Hash
from broker.read_ahead import STORE, STORE_ADDRESS_FILE
from broker.store.journal import Journal, copy_journal
from broker.store.location import DatabaseAddress, database_of, open_journal, open_reader
from broker.store.records import WITNESS_SUFFIX, Fault, decoded
from broker.store.sqlite import SqliteJournal, SqliteReader, open_for_reading, renew_identity

MANIFEST: Final = "backup.json"


class BackupManifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The manifest of a copy. `made_at`: wall clock, ms since 1970. `files`: SHA-256 by path in the event's folder."""

    schema: Literal[1]
    event: EventName
    made_at: int
    height: int
    """Number of messages in the journal."""
    refused: int
    files: dict[str, Hash]


def read_manifest(folder: Path) -> BackupManifest:
    """Read and check the manifest of a copy. Raises BackupBroken."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=BackupManifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BackupBroken(f"{folder.name}: {MANIFEST}: {reason(error)}") from None
    for name in manifest.files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise BackupBroken(f"{folder.name}: {name} is outside of it")
    return manifest


def file_digest(path: Path, *, from_disk: bool = False) -> str:
    """Return a file's SHA-256. `from_disk`: drop the system's cache first, so that the file is read from the disk."""
    with path.open("rb") as file:
        if from_disk:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.file_digest(file, "sha256").hexdigest()


COPY_NAME: Final = re.compile(r"(?P<event>[a-z0-9][a-z0-9-]*)-backup-(?P<number>\d{6,})-\d{8}T\d{6}Z")


def copy_names(names: Iterable[str], event: str | None = None) -> list[str]:
    """Return the names that are those of copies (of `event`, if given), newest first."""
    found = [match for name in names if (match := COPY_NAME.fullmatch(name)) and event in {None, match["event"]}]
    return [match[0] for match in sorted(found, key=lambda match: (match["event"], -int(match["number"])))]


def next_copy_name(names: Iterable[str], event: str, now: int) -> str:
    """Return the name of the next copy. `now`: ms since 1970, included in the name only for people."""
    newest = next(iter(copy_names(names, event)), None)
    match = COPY_NAME.fullmatch(newest) if newest else None
    number = int(match["number"]) + 1 if match else 1
    return f"{event}-backup-{number:06}-{datetime.fromtimestamp(now / 1000, UTC):%Y%m%dT%H%M%SZ}"


SQLITE_HEADER: Final = b"SQLite format 3\0"
"""The first bytes of a SQLite file."""

WORKING_SUFFIXES: Final = ("-wal", "-shm", ".lock", ".new", WITNESS_SUFFIX)
"""Suffixes of temporary and auxiliary files, which are not copied."""

LEFT_OUT: Final = (STORE_ADDRESS_FILE, "broker", "disk-reserve", "deals.key", "draw.key")
"""Files that are not copied.

They are the journal's address; the broker's own store, useless without the broker; the reserve that is deleted when the
disk runs short; and the keys of sealed deals. A copy must not reveal faces to anyone who finds it; the key can
be recovered from the shares that people hold.
"""

Copier = Callable[[Path, Path], None]
"""A function that adds another package's database content to a copy. Takes the event's folder and the copy's."""


def copy_event(folder: Path, event: str, target: Path, copiers: Iterable[Copier] = ()) -> None:
    """Copy all files of an event, including its journal, into an empty folder. Raises StoreError, OSError."""
    for path in files_of(folder):
        new = target / path.relative_to(folder)
        for part in reversed(path.relative_to(folder).parents[:-1]):
            (target / part).mkdir(exist_ok=True)  # never `target`: its stick may be gone
        copy_file(path, new)
    if database_of(folder) is not None:
        _copy_rows(folder, event, target / STORE)
    for copy_more in copiers:
        copy_more(folder, target)


def files_of(folder: Path, left_out: Sequence[str] = LEFT_OUT) -> Iterator[Path]:
    """Yield the files that make up an event, without links, hidden files and temporary files."""
    for path in sorted(folder.iterdir()):
        name = path.name
        if name.startswith(".") or name.endswith(WORKING_SUFFIXES) or name in left_out or path.is_symlink():
            continue
        if path.is_dir():
            yield from files_of(path, left_out)
        elif path.is_file():
            yield path


def copy_file(path: Path, new: Path) -> None:
    """Copy one file. A SQLite file is copied as a consistent snapshot, even while it is being written."""
    with path.open("rb") as file:
        is_sqlite = file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    if is_sqlite:
        _copy_sqlite(path, new)
    else:
        shutil.copyfile(path, new)
    new.chmod(0o600)
    sync(new)


def _copy_sqlite(path: Path, new: Path) -> None:
    try:
        with closing(open_for_reading(path)) as source, closing(sqlite3.connect(new, isolation_level=None)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # a single file, which a stick can hold as it is
    except sqlite3.Error as error:
        raise OSError(f"{path.name}: {error}") from error


def _copy_rows(folder: Path, event: str, new: Path) -> None:
    """Copy a journal from a database into a SQLite file, so that the copy can be read without a server."""
    fresh = new.with_name("rows.sqlite")
    with closing(open_reader(folder, event)) as source, closing(SqliteJournal(fresh, event)) as target:
        copy_journal(source, target)
    copy_file(fresh, new)
    for path in (fresh, fresh.with_suffix(".lock"), fresh.with_suffix(WITNESS_SUFFIX)):
        path.unlink()


def check_copy(copy: Path) -> BackupManifest:
    """Read a whole copy from its disk, including every message. Raises BackupBroken."""
    manifest = check_files(copy)
    if STORE not in manifest.files:
        return manifest  # no scorer has been started yet
    try:
        with closing(SqliteReader(copy / STORE, manifest.event)) as journal:
            deque(decoded(journal.entries()), maxlen=0)
            found = sum(1 for _ in journal.linked_rows()), sum(1 for _ in journal.refused())
    except StoreError as error:
        raise BackupBroken(f"{copy.name}: {error}") from None
    if found != (manifest.height, manifest.refused):
        raise BackupBroken(f"{copy.name}: {found[0]} messages and {found[1]} refusals are not what it should have")
    return manifest


def copy_faults(copy: Path, event: str) -> list[Fault]:
    """Return the faults in the rows of an otherwise intact copy, which must come from the event's own store.

    Raises BackupBroken.
    """
    if not (copy / STORE).exists():
        return []
    try:
        with closing(SqliteReader(copy / STORE, event)) as journal:
            return journal.faults()
    except StoreError as error:
        raise BackupBroken(f"{copy.name}: {error}") from None


def check_files(copy: Path) -> BackupManifest:
    """Read all files of a copy from its disk, and check the integrity of its store. Raises BackupBroken."""
    manifest = read_manifest(copy)
    for name, expected in manifest.files.items():
        try:
            found = file_digest(copy / name, from_disk=True)
        except OSError as error:
            raise BackupBroken(f"{copy.name}: {name}: {error.strerror}") from None
        if found != expected:
            raise BackupBroken(f"{copy.name}: {name} is not what was written")
    if STORE in manifest.files:
        check_sqlite(copy)
    return manifest


def check_sqlite(copy: Path) -> None:
    """Run SQLite's quick check on the store of a folder. Raises BackupBroken."""
    try:
        with closing(open_for_reading(copy / STORE)) as store:
            (result,) = store.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        result = error
    if result != "ok":
        raise BackupBroken(f"{copy.name}: {STORE}: {result}")


UNFINISHED: Final = ".unfinished-"
_GONE: Final = "there is no such folder: is the stick plugged in and mounted there?"


def make_copy(
    folder: Path,
    event: str,
    target: Path,
    now: int,
    keep: int,
    copiers: Sequence[Copier] = (),
    on_faults: Callable[[Sequence[Fault]], None] = lambda _faults: None,
) -> Path:
    """Copy the event in `folder` into the folder `target`, which must exist. Return the copy, or the last if unchanged.

    `now`: wall clock, ms since 1970. `copiers`: functions that copy what other packages have in a database.
    `on_faults` is called with the faults of the store, if any; while there are any, no older copy is removed. Raises
    BackupFailed, leaving `target` as it was.
    """
    try:
        _check_target(folder, target)
        new = target / f"{UNFINISHED}{event}"
        shutil.rmtree(new, ignore_errors=True)
        try:
            manifest = _write_copy(folder, event, new, now, copiers)
            if faults := copy_faults(new, event):
                on_faults(faults)
            return _finish(new, manifest, None if faults else keep)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:  # our own errors that can occur here are OSErrors, too
        why = (error.strerror or error) if target.is_dir() else _GONE
        raise BackupFailed(f"{target}: {why}") from error
    except StoreError as error:
        raise BackupFailed(f"{target}: {reason(error)}") from error


def _check_target(folder: Path, target: Path) -> None:
    if not target.is_dir():
        raise BackupFailed(_GONE)
    if folder.resolve() in (target.resolve(), *target.resolve().parents):
        raise BackupFailed("it is inside the event's folder")


def _write_copy(folder: Path, event: str, new: Path, now: int, copiers: Sequence[Copier]) -> BackupManifest:
    new.mkdir(mode=0o700)
    copy_event(folder, event, new, copiers)
    files = {str(path.relative_to(new)): file_digest(path) for path in files_of(new)}
    height, refused = _count_rows(new / STORE)
    manifest = BackupManifest(1, event, now, height, refused, files)
    (new / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    sync(new / MANIFEST)
    _sync_names(new)
    check_files(new)
    return manifest


def _sync_names(folder: Path) -> None:
    """Wait until the names of all files in a folder and its subfolders are on the disk."""
    for within, _, _ in os.walk(folder):
        sync(Path(within))


def _count_rows(store: Path) -> tuple[int, int]:
    """Count messages and refusals. An event that has not begun has no store."""
    if not store.exists():
        return 0, 0
    try:
        with closing(open_for_reading(store)) as opened:
            count = "SELECT (SELECT count(*) FROM journal), (SELECT count(*) FROM refused)"
            height, refused = opened.execute(count).fetchone()
    except sqlite3.Error as error:
        raise BackupFailed(f"{store.name}: {error}") from error
    return height, refused


def _finish(new: Path, manifest: BackupManifest, keep: int | None) -> Path:
    """Name the copy and remove the oldest ones. If nothing has changed, return the last copy instead."""
    target = new.parent
    names = [path.name for path in target.iterdir()]
    last = next(iter(copy_names(names, manifest.event)), None)
    if last and _has_same_content(target / last, manifest):
        return target / last
    made = target / next_copy_name(names, manifest.event, manifest.made_at)
    os.rename(new, made)  # noqa: PTH104 - never replaces an existing folder, because the name is new
    sync(target)
    for name in copy_names([*names, made.name], manifest.event)[keep:] if keep else ():
        _remove_copy(target / name, new)
    return made


def _remove_copy(copy: Path, unfinished: Path) -> None:
    """Remove a copy. It is renamed first, so that a power cut does not leave a partial copy under its name."""
    with suppress(OSError):
        os.rename(copy, unfinished)  # noqa: PTH104 - the name is new here too
        sync(copy.parent)
    shutil.rmtree(unfinished, ignore_errors=True)


def _has_same_content(last: Path, manifest: BackupManifest) -> bool:
    """Return whether another copy has the same content."""
    try:
        unchanged = replace(read_manifest(last), made_at=manifest.made_at) == manifest
        return unchanged and check_files(last) is not None
    except BackupBroken:
        return False


WRITTEN_LAST = "event.toml"
"""Written last. A folder without it is not an event, and neither must a partly restored one be."""


def choose_copy(source: Path, event: str | None) -> tuple[Path, BackupManifest, list[BackupBroken]]:
    """Return the newest intact copy, with its manifest and the errors of the newer ones.

    `source` is a copy or a folder of copies. Without `event`, the folder's copies must all be of one event. Raises
    BackupMissing, BackupBroken.
    """
    if (source / MANIFEST).exists():
        return source, check_copy(source), []
    names = copy_names((path.name for path in source.iterdir()), event) if source.is_dir() else []
    if event is None and len({name.rsplit("-backup-", 1)[0] for name in names}) > 1:
        raise BackupMissing(f"{source} has copies of several events: say which with --event")
    broken: list[BackupBroken] = []
    for name in names:
        try:
            return source / name, check_copy(source / name), broken
        except BackupBroken as problem:
            broken.append(problem)
    raise BackupMissing(f"there is no intact copy in {source}" + "".join(f"; {one}" for one in broken))


def restore_copy(source: Path, manifest: BackupManifest, folder: Path, database: DatabaseAddress | None = None) -> None:
    """Restore a copy into an empty or new folder. With `database`, restore its journal into that one, still empty.

    The store gets a new name. From that, tables notice that it may lack facts whose receipt they have, and send
    everything again. Raises RestoreTaken, StoreError, OSError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RestoreTaken(f"{folder} is not empty: nothing was restored; name a new folder")
    with new_folder(folder, PRIVATE_FOLDER):
        if database is not None:
            _into_database(source, manifest, folder, database)
        for name in sorted(manifest.files.keys() - {WRITTEN_LAST}):
            if database is None or name != STORE:
                _restore_file(source / name, folder / name)
        _sync_names(folder)
        if WRITTEN_LAST in manifest.files:
            copy_file(source / WRITTEN_LAST, folder / WRITTEN_LAST)
            sync(folder)


def _restore_file(path: Path, new: Path) -> None:
    new.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    copy_file(path, new)
    if new.name == STORE:
        renew_identity(new)


def _into_database(source: Path, manifest: BackupManifest, folder: Path, database: DatabaseAddress) -> None:
    with (
        closing(open_journal(folder, manifest.event, database)) as target,
        closing(SqliteReader(source / STORE, manifest.event)) as source_journal,
    ):
        refuse_nonempty(target)
        copy_journal(source_journal, target)


def refuse_nonempty(target: Journal) -> None:
    """Refuse to copy into a journal that is not empty. Raises RestoreTaken."""
    if target.height or list(target.refused()):
        raise RestoreTaken("the database has a journal of this event already: nothing was copied")
