"""Atomic writes, after which a power cut leaves the old file or the new one, and exports.

An export goes to standard output or to a file. Existing files are overwritten only on request.
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
"""The mode of files that are not private, before the umask is applied."""


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 that others never see half-written, and cannot read even for an instant."""
    write_file(path, content, PRIVATE)


def write_file(path: Path, content: bytes, mode: int = PUBLIC, *, exactly: bool = False, durable: bool = True) -> None:
    """Write a file atomically. Arguments and errors are those of `replacing_file`."""
    with replacing_file(path, content, mode, exactly=exactly, durable=durable):
        pass


@contextmanager
def replacing_file(
    path: Path, content: bytes, mode: int = PUBLIC, *, exactly: bool = False, durable: bool = True
) -> Iterator[None]:
    """Write a temporary file beside `path`, and move it into place when the block ends.

    Readers see the old file or the new one. A full disk damages neither, and a block that fails leaves the old file.
    The umask applies to `mode`, unless `exactly` this mode is wanted. The call waits until the file is on disk, unless
    it need not be `durable`. Raises OSError.
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        error.filename = str(path)  # report the file that was requested, not the temporary one
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
    """Make a folder and its parents, and wait until their names are on disk. Raises OSError.

    Otherwise a power cut removes a new folder with all its contents, however often its files are synced. Existing
    folders are synced too: whoever made them may have been killed before their names were on disk.
    """
    existed = path.is_dir()
    if path.parent != path:
        make_folder(path.parent)
    path.mkdir(mode=mode, exist_ok=True)
    with suppress(OSError) if existed else nullcontext():  # we may not be allowed to read every parent
        sync(path.parent)


@contextmanager
def new_folder(path: Path, mode: int = 0o777) -> Iterator[None]:
    """Make a folder, and remove what was put into it (and the folder, if new) if the block fails or is interrupted.

    Earlier contents stay: the caller has checked that the folder is empty, but others may have added files since.
    """
    existed = path.is_dir()
    make_folder(path, mode)
    earlier = {*path.iterdir()}
    try:
        yield
    except BaseException:
        for added in {*path.iterdir()} - earlier:
            if added.is_dir():
                shutil.rmtree(added)
            else:
                added.unlink()
        if not existed:
            path.rmdir()
        raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder during the block, waiting until it is free. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sync_log(path: Path) -> None:
    """Flush the write-ahead log of an SQLite database that is about to be opened, and wait until it is on disk.

    SQLite accepts every complete commit in the log, whether or not it was flushed. A commit whose process was killed
    before the flush would be shown now, and be gone after a power cut.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        sync(log)
        sync(path.parent)


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, and wait until they are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


KIND_BYTES: Final = 4
"""Length of the beginning of a file that distinguishes PDF, ZIP and text."""


def write_if_same_kind(output: Path, content: bytes, mode: int = PUBLIC) -> None:
    """Write a file atomically, replacing an existing file of the same kind.

    Raises RuleError `export_exists` if another kind of file exists, which was hardly meant to be replaced; OSError.
    """
    if output.exists() and not output.is_file():
        output.write_bytes(content)  # a device or a pipe has no old content, and must not be replaced
        return
    if output.exists():
        with output.open("rb") as file:
            if not content.startswith(file.read(KIND_BYTES)):
                kind = f"a {output.suffix}" if output.suffix else "such a"
                raise RuleError("export_exists", f"{output} already exists, and is not {kind} file")
    write_file(output, content, mode)


EVENT: Final = "event.toml"

MOVEMENT: Final = "movement.csv"

STANDINGS: Final = "standings.csv"

PLAYERS: Final = "players.csv"

PEOPLE_FILE: Final = "people.sqlite"
"""Accounts of the desk. In an event that is set up at the desk, it is the first file."""


def refuse_no_event(folder: Path) -> None:
    """Raise NoEvent for a folder that was named by mistake, before anything is made in it."""
    if not (folder / EVENT).exists() and not (folder / PEOPLE_FILE).exists():
        raise NoEvent(f"{folder} is not the folder of an event: it contains no {EVENT}")


EXPORT_SUFFIXES: Final = (".csv", ".jsonl", ".pdf", ".pmn", ".txt", ".xlsx", ".zip")
"""Suffixes of exports that may be written into an event's folder; files with other suffixes belong to the event."""


def write_export(
    text: str | bytes, output: Path | None, *, source: Path | None, force: bool, secret: bool = False
) -> None:
    """Write an export, with text in UTF-8 whatever the locale. A secret one is readable only by its owner.

    Raises RuleError `export_exists`, `not_an_export` or `unwritable`.
    """
    content = text.encode() if isinstance(text, str) else text
    try:
        if output is None:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            refuse_unwritable(output, source=source, force=force)
            write_file(output, content, PRIVATE if secret else PUBLIC)
    except BrokenPipeError:
        raise  # click ends quietly when the reader has gone
    except OSError as error:
        raise RuleError(
            "unwritable", N_("{where}: {problem}", where=output or "standard output", problem=error.strerror)
        ) from None


def refuse_unwritable(output: Path, *, source: Path | None, force: bool) -> None:
    """Raise the errors that `write_export` would raise for a file, before much work goes into the export.

    An export never replaces its own source or an event's own files, and replaces any other file only with `force`.
    """
    if source is not None and output.exists() and source.exists() and output.samefile(source):
        raise RuleError("not_an_export", f"{output.name} is what the export is made from")
    if output.exists() and not output.is_file():
        raise RuleError("unwritable", f"{output} is not a file")
    own = output.suffix.lower() not in EXPORT_SUFFIXES or output.name in {MOVEMENT, STANDINGS, PLAYERS}
    if own and _is_inside(output, source):
        raise RuleError(
            "not_an_export",
            f"{output.name}: in an event's folder an export ends in {', '.join(EXPORT_SUFFIXES)},"
            f" and is not called {MOVEMENT}, {PLAYERS} or {STANDINGS}",
        )
    if output.exists() and not force:
        raise RuleError("export_exists", f"{output} already exists; --force overwrites it")
    if not output.parent.is_dir():
        raise RuleError("unwritable", f"{output.parent}: there is no such folder")
    if not os.access(output.parent, os.W_OK):
        raise RuleError("unwritable", N_("{where}: {problem}", where=output.parent, problem=os.strerror(errno.EACCES)))


def _is_inside(output: Path, source: Path | None) -> bool:
    """Return whether a file is in the folder of an event, this one or another."""
    above = output.resolve().parents
    return (above[0] / EVENT).exists() or (source is not None and source.resolve() in above)
