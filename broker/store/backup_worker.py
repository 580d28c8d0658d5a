"""Makes copies on a thread of its own, every few minutes, while the scorer works, and reports when that fails.

Nothing it meets stops the scorer.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker.errors import BackupFailed, StoreError
from broker.store.backup import CopyMore, make_copy
from broker.store.records import Fault

REMIND_MS: Final = 30 * 60_000
"""What stays wrong is said again after so long."""

LATE: Final = 3
"""A copy that takes so many times the pause between two is stuck: a stick that hangs answers nothing at all."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """Something for the arbiters: copies fail, or are made again."""

    well: bool
    text: str


@dataclass(slots=True)
class BackupWatch:
    """The copies of one event, one every `pause_ms`. All times are of a clock that counts on, in ms.

    A wall clock that jumps would make a copy late that is not, or silence one that is.
    """

    pause_ms: int
    _good_at: int
    """When the last copy was made (or we began)."""
    _said: BackupReport | None = None
    _said_at: int = 0
    _away: bool = field(default=False)

    def made(self, now: int) -> BackupReport | None:
        """A copy was made and read back."""
        self._good_at = now
        trouble, self._said = self._said, None
        return BackupReport(well=True, text="copies of the event are made again") if trouble else None

    def failed(self, text: str, now: int) -> BackupReport | None:
        """A copy could not be made."""
        report = BackupReport(well=False, text=text)
        if report == self._said and now - self._said_at < REMIND_MS:
            return None
        self._said, self._said_at = report, now
        return report

    def looked(self, now: int) -> BackupReport | None:
        """Nothing was heard until now."""
        if self._said is None and now - self._good_at > LATE * self.pause_ms:
            return self.failed("the last copy does not come to an end: the disk does not answer", now)
        return None


MOUNTS: Final = (Path("/media"), Path("/mnt"), Path("/run/media"))
"""Where sticks and second disks are mounted: a folder there that is on the event's own disk has lost its stick."""

LOOK_S: Final = 1.0
"""How often is looked whether a copy is asked for before its time."""

LAST_S: Final = 10.0
"""How long the scorer waits at its end for the last copy."""


def refuse_empty_mount(target: Path, folder: Path, *, was_elsewhere: bool) -> bool:
    """Refuse the folder on which a stick is to be mounted and is not: it is one of the event's own disk.

    Return whether it is on another disk. Raises BackupFailed, OSError.
    """
    if not target.is_dir():
        raise BackupFailed(f"{target}: there is no such folder: is the stick in, and mounted there?")
    elsewhere = target.stat().st_dev != folder.stat().st_dev
    expected = any(target.resolve().is_relative_to(mount) for mount in MOUNTS)
    if (was_elsewhere or expected) and not elsewhere:
        raise BackupFailed(f"{target}: no disk is mounted there")
    return elsewhere


class BackupWorker:
    """Copies of the event in `folder` into `target`. A context manager: makes one at once, and one when it ends.

    `urgent` says whether a copy is to be made before its time. `clock`: wall clock in ms, for the names of copies;
    `seconds` counts on, and says which is late. `tell` hears what arbiters must know, on this worker's thread or the
    caller's of `look`; `found` which rows of the store a copy has shown to be altered.
    """

    def __init__(  # noqa: PLR0913 - a setting each
        self,
        folder: Path,
        event: str,
        target: Path,
        *,
        pause_s: float,
        keep: int,
        clock: Callable[[], int],
        tell: Callable[[BackupReport], None],
        further: Sequence[CopyMore] = (),
        urgent: Callable[[], bool] = lambda: False,
        found: Callable[[Sequence[Fault]], None] = lambda _faults: None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._event, self._target, self._keep = folder, event, target, keep
        self._pause_s, self._clock, self._tell = pause_s, clock, tell
        self._further, self._urgent, self._found = further, urgent, found
        self._seconds = seconds
        self._watch = BackupWatch(int(pause_s * 1000), self._passed_ms())
        self._turn = threading.Lock()
        self._was_elsewhere = False
        self._made_at: float | None = None
        self._ending = threading.Event()
        # A disk that hangs must not keep the process from ending.
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
        """How long ago the last copy was made; None: none was, since this program was started."""
        return None if self._made_at is None else self._seconds() - self._made_at

    def look(self) -> None:
        """Notice that a copy does not come to its end. Called by the scorer, now and then."""
        self._say(self._watch.looked)

    def _work(self) -> None:
        while not self._ending.is_set():
            self.once()
            self._rest()
        self.once()

    def _rest(self) -> None:
        """Wait until the next copy is due, or is asked for before its time."""
        end = time.monotonic() + self._pause_s
        while (left := end - time.monotonic()) > 0 and not self._ending.wait(min(left, LOOK_S)):
            if self._asked_for():
                return

    def _asked_for(self) -> bool:
        try:
            return self._urgent()
        except Exception:  # noqa: BLE001 - what cannot be asked now is copied when it is due
            return False

    def once(self) -> None:
        """Make one copy now."""
        try:
            if self._target.is_dir():
                self._was_elsewhere = refuse_empty_mount(self._target, self._folder, was_elsewhere=self._was_elsewhere)
            now = self._clock()
            make_copy(self._folder, self._event, self._target, now, self._keep, self._further, self._found)
        except StoreError as error:
            text = str(error)
            self._say(lambda now: self._watch.failed(text, now))
        except Exception as error:  # noqa: BLE001 - whatever a disk does, the arbiters are told and the event goes on
            text = f"{self._target}: {type(error).__name__}: {error}"
            self._say(lambda now: self._watch.failed(text, now))
        else:
            self._made_at = self._seconds()
            self._say(self._watch.made)

    def _passed_ms(self) -> int:
        return int(self._seconds() * 1000)

    def _say(self, happened: Callable[[int], BackupReport | None]) -> None:
        with self._turn:
            report = happened(self._passed_ms())
        if report:
            self._tell(report)
