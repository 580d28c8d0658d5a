"""Files that only their owner may read, written in one step: what was there stays until all of the new is on disk."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from vision.errors import UnwritableError


@contextmanager
def written_privately(path: Path, content: bytes) -> Iterator[None]:
    """Write a file that takes its name when the block ends, and is gone without a trace if the block fails.

    Raises UnwritableError.
    """
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:  # made with mode 0600
            written = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UnwritableError(f"{path}: {error.strerror}") from error
    try:
        yield
        _take_name(written, path)
    finally:
        written.unlink(missing_ok=True)


def _take_name(written: Path, path: Path) -> None:
    """Give a file its name, so that it has it after a power cut too."""
    try:
        written.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise UnwritableError(f"{path}: {error.strerror}") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep others of ours from a folder's files meanwhile: of two who add to one file, the second adds to the first's.

    Raises UnwritableError.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UnwritableError(f"{folder}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
