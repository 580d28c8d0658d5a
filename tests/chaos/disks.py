"""Disks that fail: a file system of its own for each part, where that may be mounted, and writes that are refused."""

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

SIZE_MB: Final = 200
"""Twice what a table needs to have enough room (kiosk/journal.py). It is in memory, and filled to the last byte."""

FILLER: Final = "filler"
PIECE: Final = 1 << 20


IN_NAMESPACE: Final = "CHAOS_MAY_MOUNT"
"""Set where this process has mounts of its own, which end with it."""


def can_mount() -> bool:
    """Return whether this process may mount file systems."""
    return IN_NAMESPACE in os.environ


def enter_namespace(command: Sequence[str]) -> None:
    """Run this program again where it may mount, and nobody else sees it; return where that is not possible.

    Who is not root needs a kernel that lets everybody have namespaces.
    """
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    if can_mount() or shutil.which(own[0]) is None:
        return
    if (
        subprocess.run([*own, "mount", "-t", "tmpfs", "trial", "/mnt"], check=False, capture_output=True).returncode
        == 0
    ):
        os.environ[IN_NAMESPACE] = "1"
        os.execvp(own[0], [*own, *command])


@contextmanager
def mounted(*disks: Path, megabytes: int = SIZE_MB) -> Iterator[None]:
    """Mount a file system in memory on each of these folders."""
    with ExitStack() as leaving:
        for disk in disks:
            disk.mkdir(parents=True, exist_ok=True)
            _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "chaos", str(disk))
            leaving.callback(_run, "umount", "--lazy", str(disk))
        yield


def fill(disk: Path) -> None:
    """Leave no byte on a disk."""
    handle = os.open(disk / FILLER, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    piece = PIECE
    try:
        while piece:
            with suppress(OSError):
                if os.write(handle, bytes(piece)) == piece:
                    continue
            piece //= 2
    finally:
        os.close(handle)


def empty(disk: Path) -> None:
    """Take away what `fill` has put there."""
    (disk / FILLER).unlink(missing_ok=True)


def set_read_only(disk: Path, *, read_only: bool) -> bool:
    """Mount a disk, on which nobody writes just now, for reading alone, or as it was; return whether that worked."""
    how = "remount,ro" if read_only else "remount,rw"
    return subprocess.run(["mount", "-o", how, str(disk)], check=False, capture_output=True).returncode == 0


def refuse_writes(pid: int) -> None:
    """Let every write of a process to a file fail (EFBIG, which SQLite takes for a disk that fails)."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))


def allow_writes(pid: int) -> None:
    """Let a process write again."""
    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
