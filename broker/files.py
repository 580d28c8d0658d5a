"""Files that are written in one step: after a power cut there is the old file or the new one."""

import os
import secrets
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 that is never seen half-written nor readable by others, not even for a moment."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
