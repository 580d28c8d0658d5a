"""Files that are nobody else's: whole or not there, and never readable by others, not even for a moment."""

import os
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 in one step: after a power cut there is the old file or the new one."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
