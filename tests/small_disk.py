"""A real disk that is small, to test what happens when it is full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

MEGABYTE = 1_000_000


@contextmanager
def small_disk(folder: Path, megabytes: float) -> Iterator[Path]:
    """Mount a file system in memory; skip the test if that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={int(megabytes * MEGABYTE)}", "homologue-test", str(folder)]
    made = subprocess.run(mount, capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no small disk can be mounted here: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Ballast:
    """The file that fills the disk."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ballast"

    def fill(self, leave: int = 0) -> None:
        """Write until only so many bytes are left."""
        with suppress(OSError), self._file.open("ab", buffering=0) as file:
            while (free := _free(self._file)) > leave:
                file.write(b"\0" * min(65_536, max(1, free - leave)))

    def remove(self) -> None:
        """Make room again."""
        self._file.unlink()


def _free(file: Path) -> int:
    disk = os.statvfs(file.parent)
    return disk.f_bavail * disk.f_frsize
