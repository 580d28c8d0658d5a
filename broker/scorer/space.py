"""Space on the scorer's disk: a reserve file is given up when space runs out, so that results are accepted longer.

The arbiters are alerted early. Next, the desk becomes read-only, so that what is left is for results. Then the reserve
is given up. When that is used, too, messages of tables wait at the broker and at the tables, which store everything.
Each of these steps ends by itself when there is space again.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from broker.logs import get_logger
from broker.protocol import topics
from broker.protocol.link import Incoming

log = get_logger("homologue.scorer")

DiskLevel = Literal["ample", "low", "read_only", "full"]
"""`low`: somebody should free up space; `read_only`: the desk changes nothing; `full`: no messages are accepted."""

READ_ONLY: Final[tuple[DiskLevel, ...]] = ("read_only", "full")
"""Levels at which the desk is read-only."""

RESERVE: Final = "disk-reserve"
"""Name of the reserve file in the event's folder."""

LARGEST_RESERVE: Final = 32_000_000
"""Bytes of the reserve, enough for some 9,000 plays. On a small disk it is an eighth of the disk instead."""

WAIT_S: Final = 1.0

BEAT_END: Final = "/" + topics.BEAT.pattern.rpartition("/")[2]


def disk_room(folder: Path) -> tuple[int, int]:
    """Return the free bytes of a folder's disk (0 if it is read-only), and its size in bytes."""
    disk = os.statvfs(folder)
    free = 0 if disk.f_flag & os.ST_RDONLY else disk.f_bavail * disk.f_frsize
    return free, disk.f_blocks * disk.f_frsize


class DiskSpace:
    """Watches the disk of an event's folder, and keeps a reserve on it.

    Messages for which there is no space wait here; the broker has them too.
    """

    def __init__(self, folder: Path, room: Callable[[Path], tuple[int, int]] = disk_room) -> None:
        self._folder, self._file, self._room = folder, folder / RESERVE, room
        self.size = min(LARGEST_RESERVE, room(folder)[1] // 8)
        """Size of the reserve in bytes."""
        self.level: DiskLevel = "ample"
        self.waiting: list[Incoming] = []

    def update(self) -> DiskLevel:
        """Update the level, giving up or making the reserve as needed. Raises OSError if the folder is gone."""
        free = self._room(self._folder)[0]
        if self._file.exists():
            if free < self.size // 2:
                try:
                    self._file.unlink(missing_ok=True)
                except OSError:  # a read-only disk; an open file may still fill its free blocks
                    self.level = "full"
                    return self.level
                log.warning("scorer_disk_read_only", folder=str(self._folder), free=free)
                free = self._room(self._folder)[0]
        elif free >= 3 * self.size:
            self._make()
        self.level = self._level_for(free, has_reserve=self._file.exists())
        return self.level

    def _level_for(self, free: int, *, has_reserve: bool) -> DiskLevel:
        """Return the level for this many free bytes. Read-only lasts until twice as much is free as when it began."""
        if not has_reserve:
            return "full" if free < self.size // 4 else "read_only"
        if free < (2 * self.size if self.level in {"read_only", "full"} else self.size):
            return "read_only"
        return "low" if free < 2 * self.size else "ample"

    def _make(self) -> None:
        try:
            handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.posix_fallocate(handle, 0, self.size)
            finally:
                os.close(handle)
        except OSError:  # such as for a quota; tried again later
            self._file.unlink(missing_ok=True)

    def wait(self, stop: threading.Event, on_wait: Callable[[str], None]) -> bool:
        """Wait until there is space. Return False if `stop` was set. `on_wait` is called once with the reason."""
        reported = False
        while self.update() == "full":
            if not reported:
                on_wait(f"scorer_disk_full: no room on the disk of {self._folder}: waiting until there is")
            reported = True
            if stop.wait(WAIT_S):
                return False
        return True

    def admit(self, arrived: list[Incoming]) -> list[Incoming]:
        """Return the messages for which there is space; the others wait. Beats take none, and no broker stores them."""
        if self.level != "full":
            return arrived
        self.waiting.extend(one for one in arrived if not one.topic.endswith(BEAT_END))
        return [one for one in arrived if one.topic.endswith(BEAT_END)]

    def released(self) -> list[Incoming]:
        """Return the waiting messages, once there is space."""
        if self.level == "full":
            return []
        waiting, self.waiting = self.waiting, []
        return waiting
