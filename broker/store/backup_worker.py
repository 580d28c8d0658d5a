"""Makes copies on its own thread every few minutes while the scorer works, and reports failures.

No error here stops the scorer.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker.errors import BackupFailed, StoreError
from broker.store.backup import Copier, make_copy
from broker.store.records import Fault

REMIND_MS: Final = 30 * 60_000
"""A persisting failure is reported again after this time."""

LATE: Final = 3
"""A copy that takes this many times the interval is considered stuck. A hanging stick reports no error."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A report for the arbiters: copies fail, or succeed again."""

    well: bool
    text: str


@dataclass(slots=True)
class BackupWatch:
    """Tracks the copies of one event, due every `pause_ms`. All times are in ms of a monotonic clock.

    A wall clock that jumps would report a copy as late wrongly, or hide one that is.
    """

    pause_ms: int
    _good_at: int
    """When the last copy was made (or the watch began)."""
    _reported: BackupReport | None = None
    _reported_at: int = 0

    def made(self, now: int) -> BackupReport | None:
        """Record that a copy was made and read back."""
        self._good_at = now
        trouble, self._reported = self._reported, None
        return BackupReport(well=True, text="copies of the event are working again") if trouble else None

    def failed(self, text: str, now: int) -> BackupReport | None:
        """Record that a copy could not be made."""
        report = BackupReport(well=False, text=text)
        if report == self._reported and now - self._reported_at < REMIND_MS:
            return None
        self._reported, self._reported_at = report, now
        return report

    def check_overdue(self, now: int) -> BackupReport | None:
        """Check whether a copy is overdue."""
        if self._reported is None and now - self._good_at > LATE * self.pause_ms:
            return self.failed("the last copy has not finished: the disk does not respond", now)
        return None


MOUNTS: Final = (Path("/media"), Path("/mnt"), Path("/run/media"))
"""Where sticks and second disks are mounted. A folder there on the event's own disk means that the stick is missing."""

CHECK_S: Final = 1.0
"""How often the worker checks whether an urgent copy is requested."""

LAST_S: Final = 10.0
"""How long the scorer waits for the last copy when it stops."""


def refuse_empty_mount(target: Path, folder: Path, *, was_elsewhere: bool) -> bool:
    """Refuse a folder that is meant to be on another disk, but is on the event's own because nothing is mounted there.

    Return whether it is on another disk. Raises BackupFailed, OSError.
    """
    if not target.is_dir():
        raise BackupFailed(f"{target}: there is no such folder: is the stick plugged in and mounted there?")
    elsewhere = target.stat().st_dev != folder.stat().st_dev
    expected = any(target.resolve().is_relative_to(mount) for mount in MOUNTS)
    if (was_elsewhere or expected) and not elsewhere:
        raise BackupFailed(f"{target}: no disk is mounted there")
    return elsewhere


class BackupWorker:
    """Copies the event in `folder` into `target`. A context manager: makes one copy at the start, and one at the end.

    `urgent` returns whether a copy is needed before the next one is due. `clock`: wall clock in ms, for the names of
    copies; `seconds`: monotonic clock, for their age. `on_report` is called with reports for the arbiters, on the
    worker's thread or on that of the caller of `look`; `on_faults` with the altered rows that a copy has shown.
    """

    def __init__(  # noqa: PLR0913 - one parameter per setting
        self,
        folder: Path,
        event: str,
        target: Path,
        *,
        pause_s: float,
        keep: int,
        clock: Callable[[], int],
        on_report: Callable[[BackupReport], None],
        copiers: Sequence[Copier] = (),
        urgent: Callable[[], bool] = lambda: False,
        on_faults: Callable[[Sequence[Fault]], None] = lambda _faults: None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._event, self._target, self._keep = folder, event, target, keep
        self._pause_s, self._clock, self._on_report = pause_s, clock, on_report
        self._copiers, self._urgent, self._on_faults = copiers, urgent, on_faults
        self._seconds = seconds
        self._watch = BackupWatch(int(pause_s * 1000), self._now_ms())
        self._lock = threading.Lock()
        self._was_elsewhere = False
        self._made_at: float | None = None
        self._ending = threading.Event()
        # A daemon, because a hanging disk must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="backup", daemon=True)

    def __enter__(self) -> "BackupWorker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Make the last copy, unless the disk hangs."""
        self._ending.set()
        self._thread.join(LAST_S)

    @property
    def age_s(self) -> float | None:
        """Seconds since the last copy was made, or None if none was made since this program started."""
        return None if self._made_at is None else self._seconds() - self._made_at

    def look(self) -> None:
        """Check whether a copy is stuck. The scorer calls this from time to time."""
        self._report(self._watch.check_overdue)

    def _work(self) -> None:
        while not self._ending.is_set():
            self.make_one()
            self._wait()
        self.make_one()

    def _wait(self) -> None:
        """Wait until the next copy is due, or an urgent one is requested."""
        end = time.monotonic() + self._pause_s
        while (left := end - time.monotonic()) > 0 and not self._ending.wait(min(left, CHECK_S)):
            if self._is_urgent():
                return

    def _is_urgent(self) -> bool:
        try:
            return self._urgent()
        except Exception:  # noqa: BLE001 - if it cannot be determined now, the next regular copy will do
            return False

    def make_one(self) -> None:
        """Make one copy now."""
        try:
            if self._target.is_dir():
                self._was_elsewhere = refuse_empty_mount(self._target, self._folder, was_elsewhere=self._was_elsewhere)
            now = self._clock()
            make_copy(self._folder, self._event, self._target, now, self._keep, self._copiers, self._on_faults)
        except StoreError as error:
            text = str(error)
            self._report(lambda now: self._watch.failed(text, now))
        except Exception as error:  # noqa: BLE001 - whatever the disk does, report it and go on
            text = f"{self._target}: {type(error).__name__}: {error}"
            self._report(lambda now: self._watch.failed(text, now))
        else:
            self._made_at = self._seconds()
            self._report(self._watch.made)

    def _now_ms(self) -> int:
        return int(self._seconds() * 1000)

    def _report(self, update: Callable[[int], BackupReport | None]) -> None:
        with self._lock:
            report = update(self._now_ms())
        if report:
            self._on_report(report)
