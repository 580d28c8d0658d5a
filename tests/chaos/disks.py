"""Failing disks: a small file system for each part, if mounting is allowed, and processes whose writes fail."""

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

SIZE_MB: Final = 200
"""Twice the space that a table requires (kiosk/journal.py). The disk is in memory, and is filled to the last byte."""

FILLER: Final = "filler"
PIECE: Final = 1 << 20


IN_NAMESPACE: Final = "CHAOS_MAY_MOUNT"
"""Set if this process has its own mount namespace."""


def can_mount() -> bool:
    """Return whether this process may mount file systems."""
    return IN_NAMESPACE in os.environ


def enter_namespace(command: Sequence[str]) -> None:
    """Run this program again in its own mount namespace; return if that is not possible.

    Without root, this needs a kernel that allows unprivileged namespaces.
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
    """Fill a disk completely."""
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
    """Delete the file that `fill` has written."""
    (disk / FILLER).unlink(missing_ok=True)


def set_read_only(disk: Path, *, read_only: bool) -> bool:
    """Remount a disk read-only or writable; return whether that worked. No process may be writing to it."""
    how = "remount,ro" if read_only else "remount,rw"
    return subprocess.run(["mount", "-o", how, str(disk)], check=False, capture_output=True).returncode == 0


def refuse_writes(pid: int) -> None:
    """Make every write of a process to a file fail (EFBIG, which SQLite treats as a disk error)."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))


def allow_writes(pid: int) -> None:
    """Let a process write again."""
    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
