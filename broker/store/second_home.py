"""The second home: a folder on another disk that gets the desk's decisions before the desk confirms them.

`EVENT.decisions` holds the full rulings and admissions, one per line with a hash. `EVENT.witness` lists all rows of the
journal (records.py). After a restore the scorer adds the decisions that its journal lacks, and lists the rows that are
in neither.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Final

from broker.errors import StoreError
from broker.files import sync
from broker.store.backup_worker import BackupReport, refuse_empty_mount
from broker.store.journal import Journal
from broker.store.records import WITNESS_SUFFIX, Entry, Witness, WitnessLine

DECISIONS: Final = ".decisions"

DIGITS: Final = 16
"""Hex digits of the hash in each line."""

RETRY_S: Final = 5.0
"""Interval between attempts to write to a disk that fails."""

PATIENCE_S: Final = 3.0
"""How long the desk waits for the second disk. Then it confirms with an alert, so that the event goes on."""

MOST_LINES: Final = 100_000
"""Limit of witness lines waiting for the disk; lines beyond it are written at the next start."""


class SecondHome:
    """The files of one event in the second home's folder, which must exist."""

    def __init__(self, folder: Path, event: str) -> None:
        self.folder = folder
        self.decisions, self.witness = folder / f"{event}{DECISIONS}", folder / f"{event}{WITNESS_SUFFIX}"

    def read(self) -> list[Entry]:
        """Return the stored decisions in order, skipping lines whose hash does not match. Raises OSError."""
        if not self.decisions.exists():
            return []
        return [entry for line in self.decisions.read_bytes().splitlines() if (entry := _entry(line))]

    def write(self, entries: Iterable[Entry]) -> None:
        """Append the entries that are not stored yet, and wait until they are on the disk. Raises OSError."""
        stored = {*self.read()}
        missing = [entry for entry in entries if entry not in stored]
        if not missing:
            return
        new = not self.decisions.exists()
        file = os.open(self.decisions, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # The leading newline keeps a line that a power cut left half-written from spoiling the next one.
            content = b"\n" + b"".join(map(_line, missing))
            if os.write(file, content) != len(content):
                raise OSError("the disk is full")
            os.fsync(file)
        finally:
            os.close(file)
        if new:
            sync(self.folder)


def _line(entry: Entry) -> bytes:
    content = b"%d %b" % entry
    return sha256(content).hexdigest()[:DIGITS].encode() + b" " + content + b"\n"


def _entry(line: bytes) -> Entry | None:
    digest, _, content = line.partition(b" ")
    received_at, _, body = content.partition(b" ")
    if sha256(content).hexdigest()[:DIGITS].encode() != digest or not received_at.isdigit():
        return None
    return int(received_at), body


class SecondHomeWriter:
    """Writes to the second home on its own thread, so that a hanging disk does not stop the scorer from taking results.

    `on_report` is called with reports for the arbiters. A context manager.
    """

    def __init__(self, home: SecondHome, event_folder: Path, on_report: Callable[[BackupReport], None]) -> None:
        """Start with nothing to write. `event_folder`: the event's folder, which should be on another disk."""
        self._home, self._event_folder, self._on_report = home, event_folder, on_report
        self._entries: list[Entry] = []
        self._lines: list[WitnessLine] = []
        self._written = 0
        self._changed, self._ended = threading.Condition(), False
        self._failing = ""
        self._was_elsewhere = self._rewrite = self._overflowed = self._file_has_more = False
        self._last: WitnessLine | None = None
        """The last line of the witness file when we started."""
        # A daemon, because a hanging disk must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="second home", daemon=True)

    def __enter__(self) -> "SecondHomeWriter":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is left, unless the disk hangs."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join(PATIENCE_S)

    def queue_entries(self, entries: Sequence[Entry]) -> None:
        """Queue entries for writing. `wait` waits until they are written."""
        with self._changed:
            self._entries.extend(entries)
            self._changed.notify_all()

    def queue_lines(self, lines: Sequence[WitnessLine]) -> None:
        """Queue witness lines for rows of the journal. Lines are dropped if too many are waiting."""
        with self._changed:
            self._overflowed |= len(self._lines) >= MOST_LINES
            if not self._overflowed:  # further lines would leave a gap
                self._lines.extend(lines)
            self._changed.notify_all()

    def queue_journal(self, journal: Journal) -> None:
        """Queue the witness lines of a journal's rows, starting after the last one in the witness file."""
        witness = Witness(self._home.witness, read_only=True)
        self._last = witness.last()
        self._rewrite = not journal.agrees_with(witness)
        self.queue_lines(journal.witness_lines(self._last.height if self._last and not self._rewrite else 0))

    def wait(self) -> bool:
        """Return whether all queued entries are on the disk. Does not wait while writing is already failing."""
        with self._changed:
            wanted = len(self._entries)
            self._changed.wait_for(lambda: self._written >= wanted or self._failing, PATIENCE_S)
            done, failing = self._written >= wanted, bool(self._failing)
        if not done and not failing:
            self._report(f"{self._home.folder}: the disk does not respond")
        return done

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work, None if not self._failing else RETRY_S)
                entries, lines, ended = tuple(self._entries), tuple(self._lines), self._ended
            self._try(entries, lines)
            if ended:
                return

    def _has_work(self) -> bool:
        return self._ended or (not self._failing and (self._written < len(self._entries) or bool(self._lines)))

    def _try(self, entries: tuple[Entry, ...], lines: tuple[WitnessLine, ...]) -> None:
        try:
            self._was_elsewhere = refuse_empty_mount(
                self._home.folder, self._event_folder, was_elsewhere=self._was_elsewhere
            )
            self._home.write(entries[self._written :] if not self._failing else entries)
            self._write_lines(lines)
        except (OSError, StoreError) as error:
            self._report(f"{self._home.folder}: {getattr(error, 'strerror', None) or error}")
            return
        with self._changed:
            self._written = max(self._written, len(entries))
            del self._lines[: len(lines)]
            failed, self._failing = self._failing, ""
            self._changed.notify_all()
        if failed:
            self._on_report(BackupReport(well=True, text="the second home can be written again"))

    def _write_lines(self, lines: tuple[WitnessLine, ...]) -> None:
        """Write witness lines, unless the journal lacks rows that the file lists: the next start compares them.

        Raises OSError.
        """
        with closing(Witness(self._home.witness)) as witness:
            last = witness.last()
            if self._rewrite and last and last != self._last:  # the disk was missing when they were compared
                self._rewrite, self._file_has_more = False, last not in lines
                lines = () if self._file_has_more else lines[lines.index(last) + 1 :]
            if self._file_has_more:
                return
            if not (witness.rewrite if self._rewrite else witness.append)(lines):
                raise OSError("the witness file cannot be written")
        self._rewrite = False

    def _report(self, text: str) -> None:
        with self._changed:
            before, self._failing = self._failing, text
            self._changed.notify_all()
        if before != text:
            self._on_report(BackupReport(well=False, text=text))
