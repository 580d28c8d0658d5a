"""Copies of an event, and the way back.

A copy is made beside the others, read back from its disk, and only then counted; then the oldest may go. `backup.json`
says what is in it and is written last, so a copy without it is none. Copies are numbered: a clock that was set back
makes no old copy the newest. Restoring never overwrites anything. A copy's journal is always in SQLite, so that it can
be read without a server. Not copied are the broker's store, `store.toml` and the key of sealed deals; nothing else is
encrypted.
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
from broker.read_ahead import SETTING, STORE
from broker.store.journal import Journal, copy_journal
from broker.store.location import DatabaseAddress, database_of, open_journal, open_reader
from broker.store.records import WITNESS_SUFFIX, Fault, decoded
from broker.store.sqlite import SqliteJournal, SqliteReader, give_new_name, open_for_reading

MANIFEST: Final = "backup.json"


class BackupManifest(Struct, frozen=True, forbid_unknown_fields=True):
    """A copy. `made_at`: wall clock, ms since 1970; `files`: by their path in the event's folder, the SHA-256."""

    schema: Literal[1]
    event: EventName
    made_at: int
    height: int
    """Messages in the journal."""
    refused: int
    files: dict[str, Hash]


def read_manifest(folder: Path) -> BackupManifest:
    """Read what a copy says of itself. Raises BackupBroken."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=BackupManifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BackupBroken(f"{folder.name}: {MANIFEST}: {reason(error)}") from None
    for name in manifest.files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise BackupBroken(f"{folder.name}: {name} is outside of it")
    return manifest


def file_digest(path: Path, *, from_disk: bool = False) -> str:
    """Return a file's SHA-256. `from_disk`: not from the memory in which the system keeps what was just written."""
    with path.open("rb") as file:
        if from_disk:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.file_digest(file, "sha256").hexdigest()


COPY_NAME: Final = re.compile(r"(?P<event>[a-z0-9][a-z0-9-]*)-backup-(?P<number>\d{6,})-\d{8}T\d{6}Z")


def copy_names(names: Iterable[str], event: str | None = None) -> list[str]:
    """Return those names that are of copies (of one event), the newest first."""
    found = [match for name in names if (match := COPY_NAME.fullmatch(name)) and event in {None, match["event"]}]
    return [match[0] for match in sorted(found, key=lambda match: (match["event"], -int(match["number"])))]


def next_copy_name(names: Iterable[str], event: str, now: int) -> str:
    """Name the copy after those that there are. `now` in ms since 1970; people read it, nothing else does."""
    newest = next(iter(copy_names(names, event)), None)
    match = COPY_NAME.fullmatch(newest) if newest else None
    number = int(match["number"]) + 1 if match else 1
    return f"{event}-backup-{number:06}-{datetime.fromtimestamp(now / 1000, UTC):%Y%m%dT%H%M%SZ}"


SQLITE_HEADER: Final = b"SQLite format 3\0"
"""How a file of SQLite's begins."""

WORKING_SUFFIXES: Final = ("-wal", "-shm", ".lock", ".new", WITNESS_SUFFIX)
"""Ends of names that belong to a file being worked on."""

LEFT_OUT: Final = (SETTING, "broker", "disk-reserve", "deals.key", "draw.key")
"""Where the journal was; the broker's own store, which is nothing without the broker; what keeps room on the disk, and
goes when it is short; and what opens sealed deals: a copy tells no faces to who finds it, and people's shares of the
key open it again.
"""

CopyMore = Callable[[Path, Path], None]
"""Puts what a room above keeps beside the journal in a database into a copy: the event's folder, the copy's."""


def copy_event(folder: Path, event: str, target: Path, further: Iterable[CopyMore] = ()) -> None:
    """Copy all files of an event, and its journal, into an empty folder. Raises StoreError, OSError."""
    for path in files_of(folder):
        new = target / path.relative_to(folder)
        for part in reversed(path.relative_to(folder).parents[:-1]):
            (target / part).mkdir(exist_ok=True)  # never `target`: a stick's folder is not made where the stick was
        copy_file(path, new)
    if database_of(folder) is not None:
        _copy_rows(folder, event, target / STORE)
    for copied in further:
        copied(folder, target)


def files_of(folder: Path, left_out: Sequence[str] = LEFT_OUT) -> Iterator[Path]:
    """Return the files that make up an event: no links, nothing hidden, nothing that is only being worked on."""
    for path in sorted(folder.iterdir()):
        name = path.name
        if name.startswith(".") or name.endswith(WORKING_SUFFIXES) or name in left_out or path.is_symlink():
            continue
        if path.is_dir():
            yield from files_of(path, left_out)
        elif path.is_file():
            yield path


def copy_file(path: Path, new: Path) -> None:
    """Copy one file; one of SQLite's as it is at one moment, whoever writes to it."""
    with path.open("rb") as file:
        live = file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    if live:
        _copy_sqlite(path, new)
    else:
        shutil.copyfile(path, new)
    new.chmod(0o600)
    sync(new)


def _copy_sqlite(path: Path, new: Path) -> None:
    try:
        with closing(open_for_reading(path)) as source, closing(sqlite3.connect(new, isolation_level=None)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, which lies on a stick as it is
    except sqlite3.Error as error:
        raise OSError(f"{path.name}: {error}") from error


def _copy_rows(folder: Path, event: str, new: Path) -> None:
    """Make a copy in SQLite of a journal that is elsewhere: every copy can be read without a server."""
    fresh = new.with_name("rows.sqlite")
    with closing(open_reader(folder, event)) as source, closing(SqliteJournal(fresh, event)) as target:
        copy_journal(source, target)
    copy_file(fresh, new)
    for path in (fresh, fresh.with_suffix(".lock"), fresh.with_suffix(WITNESS_SUFFIX)):
        path.unlink()


def check_copy(copy: Path) -> BackupManifest:
    """Read a whole copy from its disk, every message too. Raises BackupBroken."""
    manifest = check_files(copy)
    if STORE not in manifest.files:
        return manifest  # no scorer was started yet
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
    """Return what is wrong with rows of a copy that is what was written: so they were in the event's own store.

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
    """Read all files of a copy from its disk, and see that its store is a whole one. Raises BackupBroken."""
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
    """Let SQLite look for damage in the store of a folder. Raises BackupBroken."""
    try:
        with closing(open_for_reading(copy / STORE)) as store:
            (said,) = store.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        said = error
    if said != "ok":
        raise BackupBroken(f"{copy.name}: {STORE}: {said}")


UNFINISHED: Final = ".unfinished-"
_GONE: Final = "there is no such folder: is the stick in, and mounted there?"


def make_copy(
    folder: Path,
    event: str,
    target: Path,
    now: int,
    keep: int,
    further: Sequence[CopyMore] = (),
    found: Callable[[Sequence[Fault]], None] = lambda _faults: None,
) -> Path:
    """Copy the event in `folder` into `target`, which must be there; return the copy, or the last one if unchanged.

    `now`: wall clock, ms since 1970; `further`: what rooms above have in a database. `found` hears which rows of the
    store are not as they were written: as long as there are any, no older copy goes. Raises BackupFailed; what was in
    `target` is then as it was.
    """
    try:
        _check_target(folder, target)
        new = target / f"{UNFINISHED}{event}"
        shutil.rmtree(new, ignore_errors=True)
        try:
            manifest = _write_copy(folder, event, new, now, further)
            if faults := copy_faults(new, event):
                found(faults)
            return _finish(new, manifest, None if faults else keep)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:  # all of ours that can come here are of this kind, too
        why = (error.strerror or error) if target.is_dir() else _GONE
        raise BackupFailed(f"{target}: {why}") from error
    except StoreError as error:
        raise BackupFailed(f"{target}: {reason(error)}") from error


def _check_target(folder: Path, target: Path) -> None:
    if not target.is_dir():
        raise BackupFailed(_GONE)
    if folder.resolve() in (target.resolve(), *target.resolve().parents):
        raise BackupFailed("it is inside the event's folder")


def _write_copy(folder: Path, event: str, new: Path, now: int, further: Sequence[CopyMore]) -> BackupManifest:
    new.mkdir(mode=0o700)
    copy_event(folder, event, new, further)
    files = {str(path.relative_to(new)): file_digest(path) for path in files_of(new)}
    height, refused = _count_rows(new / STORE)
    manifest = BackupManifest(1, event, now, height, refused, files)
    (new / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    sync(new / MANIFEST)
    _sync_names(new)
    check_files(new)
    return manifest


def _sync_names(folder: Path) -> None:
    """Wait until the disk has the names of all files in a folder, and in those within it."""
    for within, _, _ in os.walk(folder):
        sync(Path(within))


def _count_rows(store: Path) -> tuple[int, int]:
    """Count messages and refusals; an event that has not begun has no store."""
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
    """Return the copy its name, and let the oldest ones go; where it says nothing new, the last one stays the last."""
    target = new.parent
    names = [path.name for path in target.iterdir()]
    last = next(iter(copy_names(names, manifest.event)), None)
    if last and _has_same_content(target / last, manifest):
        return target / last
    made = target / next_copy_name(names, manifest.event, manifest.made_at)
    os.rename(new, made)  # noqa: PTH104 - a folder that is there is never replaced: the name is a new one
    sync(target)
    for name in copy_names([*names, made.name], manifest.event)[keep:] if keep else ():
        _remove_copy(target / name, new)
    return made


def _remove_copy(copy: Path, unfinished: Path) -> None:
    """Remove a copy: it has lost its name before it loses a file, or a power cut would leave half of one."""
    with suppress(OSError):
        os.rename(copy, unfinished)  # noqa: PTH104 - as above
        sync(copy.parent)
    shutil.rmtree(unfinished, ignore_errors=True)


def _has_same_content(last: Path, manifest: BackupManifest) -> bool:
    """Return whether another copy would tell nothing new."""
    try:
        unchanged = replace(read_manifest(last), made_at=manifest.made_at) == manifest
        return unchanged and check_files(last) is not None
    except BackupBroken:
        return False


WRITTEN_LAST = "event.toml"
"""Written last: without it a folder is no event, and half a restored one must be none."""


def choose_copy(source: Path, event: str | None) -> tuple[Path, BackupManifest, list[BackupBroken]]:
    """Return the newest copy that is whole, and what is wrong with those that are newer.

    `source` is a copy, or a folder of copies, of one event unless it is named. Raises BackupMissing, BackupBroken.
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
    raise BackupMissing(f"no whole copy is in {source}" + "".join(f"; {one}" for one in broken))


def restore_copy(source: Path, manifest: BackupManifest, folder: Path, place: DatabaseAddress | None = None) -> None:
    """Put a copy into an empty or new folder; with `place` its journal into that database, which must not have it.

    The store gets a new name: tables notice that it may lack what they were told is safe, and send everything again.
    Raises RestoreTaken, StoreError, OSError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RestoreTaken(f"{folder} is not empty: nothing was restored; name a new folder")
    with new_folder(folder, PRIVATE_FOLDER):
        if place is not None:
            _into_database(source, manifest, folder, place)
        for name in sorted(manifest.files.keys() - {WRITTEN_LAST}):
            if place is None or name != STORE:
                _put_back(source / name, folder / name)
        _sync_names(folder)
        if WRITTEN_LAST in manifest.files:
            copy_file(source / WRITTEN_LAST, folder / WRITTEN_LAST)
            sync(folder)


def _put_back(path: Path, new: Path) -> None:
    new.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    copy_file(path, new)
    if new.name == STORE:
        give_new_name(new)


def _into_database(source: Path, manifest: BackupManifest, folder: Path, place: DatabaseAddress) -> None:
    with (
        closing(open_journal(folder, manifest.event, place)) as target,
        closing(SqliteReader(source / STORE, manifest.event)) as kept,
    ):
        refuse_taken(target)
        copy_journal(kept, target)


def refuse_taken(target: Journal) -> None:
    """Refuse to copy into a journal that has something. Raises RestoreTaken."""
    if target.height or list(target.refused()):
        raise RestoreTaken("the database has a journal of this event already: nothing was copied")
