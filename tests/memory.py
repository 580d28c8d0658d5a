"""Where tests write: in memory, if there is room, as what they ask is what is on a disk and not how fast it is."""

import os
import tempfile
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")

ROOM: Final = 2 << 30
"""Bytes that must be free. All tests at once have had less than a quarter of it; a container may have 64 MiB."""


def memory(folder: Path = MEMORY, room: int = ROOM) -> Path | None:
    """Return a folder in memory for temporary files, in which programs may stand too; None where there is no room."""
    try:
        there = os.statvfs(folder)
    except OSError:
        return None
    fit = there.f_bavail * there.f_frsize >= room and not there.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)
    return folder if fit else None


def use_memory() -> None:
    """Let this process and those that it starts have their temporary files there, unless TMPDIR names a place."""
    if "TMPDIR" not in os.environ and (place := memory()):
        os.environ["TMPDIR"] = str(place)
        tempfile.tempdir = None  # forget what was found before
