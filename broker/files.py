"""Files that are written in one step, so that a power cut leaves the old one or the new one; exports.

An export goes to standard output, or to a file that is never overwritten unasked.
"""

import errno
import fcntl
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

from broker.errors import NoEvent, RuleError
from broker.i18n import N_

PRIVATE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
PUBLIC: Final = 0o666
"""Less what the user's mask takes off."""


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 that is never seen half-written nor readable by others, not even for a moment."""
    write_file(path, content, PRIVATE)


def write_file(path: Path, content: bytes, mode: int = PUBLIC, *, exactly: bool = False, durable: bool = True) -> None:
    """Write beside and put in place. As `file_beside`."""
    with file_beside(path, content, mode, exactly=exactly, durable=durable):
        pass


@contextmanager
def file_beside(
    path: Path, content: bytes, mode: int = PUBLIC, *, exactly: bool = False, durable: bool = True
) -> Iterator[None]:
    """Write beside, and put in place when the block ends: a reader sees the old file or the new one.

    A full disk spoils none, and a block that fails leaves the old one.
    What the process may not give away by its umask is taken from `mode`, unless that is to be had `exactly`. The call
    waits until the disk has the file, unless it need not be `durable`. Raises OSError.
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        error.filename = str(path)  # nobody has asked for the other name
        raise
    try:
        with os.fdopen(handle, "wb") as file:
            if exactly:
                os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        yield
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    if durable:
        sync(path.parent)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and those above it; when this returns the disk has their names. Raises OSError.

    Else a power cut takes a new folder away with all that is in it, however often its files are synced. A folder that
    is there may be one whose maker was killed before the disk had its name.
    """
    there = path.is_dir()
    if path.parent != path:
        make_folder(path.parent)
    path.mkdir(mode=mode, exist_ok=True)
    with suppress(OSError) if there else nullcontext():  # not every folder above is ours to read
        sync(path.parent)


@contextmanager
def new_folder(path: Path, mode: int = 0o777) -> Iterator[None]:
    """Make a folder, and leave it as it was where what is made in it fails or is broken off.

    What lay in it stays: its maker has looked whether it is empty, but others may have put something there since.
    """
    there = path.is_dir()
    make_folder(path, mode)
    kept = {*path.iterdir()}
    try:
        yield
    except BaseException:
        for one in {*path.iterdir()} - kept:
            if one.is_dir():
                shutil.rmtree(one)
            else:
                one.unlink()
        if not there:
            path.rmdir()
        raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes that ask for it from a folder meanwhile. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sync_log(path: Path) -> None:
    """Wait until the disk has what others have written into a database of SQLite's that is about to be opened.

    SQLite takes every whole commit from the write-ahead log, and does not ask whether it was flushed: one whose process
    was killed before that would be shown, and be gone after a power cut.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        sync(log)
        sync(path.parent)


def sync(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


KIND_BYTES: Final = 4
"""At the beginning of a file that tell PDF, ZIP and text apart."""


def write_whole(output: Path, content: bytes, mode: int = PUBLIC) -> None:
    """Write a file, over one of its kind that is there: it is the old one or the new one.

    Raises RuleError `export_exists` where another kind of file is there, which was hardly meant; OSError.
    """
    if output.exists() and not output.is_file():
        output.write_bytes(content)  # a device or a pipe has no old content, and nothing is put in its place
        return
    if output.exists():
        with output.open("rb") as file:
            if not content.startswith(file.read(KIND_BYTES)):
                raise RuleError("export_exists", f"{output} is there already, and is no {output.suffix or 'such'} file")
    write_file(output, content, mode)


EVENT: Final = "event.toml"

MOVEMENT: Final = "movement.csv"

STANDINGS: Final = "standings.csv"

PLAYERS: Final = "players.csv"

PEOPLE_FILE: Final = "people.sqlite"
"""Accounts of the desk: of an event that is set up there it is the first file."""


def refuse_no_event(folder: Path) -> None:
    """Refuse a folder that was named by mistake, before anything is made in it. Raises NoEvent."""
    if not (folder / EVENT).exists() and not (folder / PEOPLE_FILE).exists():
        raise NoEvent(f"{folder} is no event's folder: there is no {EVENT} in it")


EXPORT_SUFFIXES: Final = (".csv", ".jsonl", ".pdf", ".pmn", ".txt", ".xlsx", ".zip")
"""Ends of names that may be written inside an event's folder; the others there are the event itself."""


def deliver(text: str | bytes, output: Path | None, *, source: Path | None, force: bool, secret: bool = False) -> None:
    """Write an export, text in UTF-8 whatever the locale. A secret one is readable by its owner alone.

    Raises RuleError `export_exists`, `not_an_export` or `unwritable`.
    """
    content = text.encode() if isinstance(text, str) else text
    try:
        if output is None:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            may_write(output, source=source, force=force)
            write_file(output, content, PRIVATE if secret else PUBLIC)
    except BrokenPipeError:
        raise  # click ends quietly when the reader has gone
    except OSError as error:
        raise RuleError(
            "unwritable", N_("{where}: {problem}", where=output or "standard output", problem=error.strerror)
        ) from None


def may_write(output: Path, *, source: Path | None, force: bool) -> None:
    """Say beforehand, where much work comes before the writing, what `deliver` would say of a file.

    Nothing is written over what the export is made from, over an event's own files, or unasked over any file.
    """
    if source is not None and output.exists() and source.exists() and output.samefile(source):
        raise RuleError("not_an_export", f"{output.name} is what the export is made from")
    if output.exists() and not output.is_file():
        raise RuleError("unwritable", f"{output} is no file")
    own = output.suffix.lower() not in EXPORT_SUFFIXES or output.name in {MOVEMENT, STANDINGS, PLAYERS}
    if own and _is_inside(output, source):
        raise RuleError(
            "not_an_export",
            f"{output.name}: in an event's folder only {', '.join(EXPORT_SUFFIXES)} are exports,"
            f" and none of {MOVEMENT}, {PLAYERS} and {STANDINGS}",
        )
    if output.exists() and not force:
        raise RuleError("export_exists", f"{output} is there already; --force overwrites it")
    if not output.parent.is_dir():
        raise RuleError("unwritable", f"{output.parent}: there is no such folder")
    if not os.access(output.parent, os.W_OK):
        raise RuleError("unwritable", N_("{where}: {problem}", where=output.parent, problem=os.strerror(errno.EACCES)))


def _is_inside(output: Path, source: Path | None) -> bool:
    """Return whether a file lies in the folder of an event, this one's or another's."""
    above = output.resolve().parents
    return (above[0] / EVENT).exists() or (source is not None and source.resolve() in above)
