"""Put temporary files into memory, if there is room: tests check what is on a disk, not how fast it is."""

import os
import tempfile
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")

ROOM: Final = 2 << 30
"""Free bytes needed. All tests together used less than a quarter of that; a container may have 64 MiB."""


def memory(folder: Path = MEMORY, room: int = ROOM) -> Path | None:
    """Return a folder in memory for temporary files and programs; None if there is no room."""
    try:
        there = os.statvfs(folder)
    except OSError:
        return None
    fit = there.f_bavail * there.f_frsize >= room and not there.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)
    return folder if fit else None


def use_memory() -> None:
    """Let this process and its children use it for temporary files, unless TMPDIR is set."""
    if "TMPDIR" not in os.environ and (place := memory()):
        os.environ["TMPDIR"] = str(place)
        tempfile.tempdir = None  # clear tempfile's cache
