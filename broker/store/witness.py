"""The witness: a file beside a journal that names each of its rows, so that rows that are gone are missed by name.

It is written after each commit and never waited for: it follows the journal, and catches up when that is opened. So it
notices what a journal cannot notice itself: that its end is gone, or that an older copy lies in its place.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from broker.files import sync

SUFFIX: Final = ".witness"

LINK_DIGITS: Final = 16
"""Of a link in hex; enough to tell two histories apart."""

LONGEST_LINE: Final = 200


class WitnessLine(NamedTuple):
    """One row: its height, whose it is, which of theirs, its message's id, and how its link begins."""

    height: int
    table: int
    seq: int
    id: str
    link: str

    @classmethod
    def of(cls, height: int, table: int, seq: int, id_: str, link: bytes | None) -> "WitnessLine":
        """Return the line of a row."""
        return cls(height, table, seq, id_, (link or b"").hex()[:LINK_DIGITS])


class Witness:
    """The file of one journal. It is never the reason why something stops: what it cannot write it writes later."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open or make it, readable by its owner alone; or only read it, if there is one."""
        self._path = path
        self._file: int | None = None
        if read_only:
            return
        with suppress(OSError):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            self._cut_half_line()

    def close(self) -> None:
        """Close it; may be called twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def lines(self) -> Iterator[WitnessLine]:
        """Return all that can be read, in order."""
        with suppress(OSError), self._path.open("rb") as file:
            for line in file:
                if found := _read(line):
                    yield found

    def last(self) -> WitnessLine | None:
        """Return the last line."""
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_LINE))
            end = file.read().splitlines(keepends=True)
            return _read(end[-1]) if end else None
        return None

    def note(self, lines: Iterable[WitnessLine]) -> None:
        """Write that these rows are in the journal by now."""
        told = "".join("{} {} {} {} {}\n".format(*line) for line in lines).encode()
        if self._file is None or not told:
            return
        try:
            if os.write(self._file, told) != len(told):
                self.close()
        except OSError:
            self.close()  # what follows would leave a hole: the next start writes all of it

    def rewrite(self, lines: Iterable[WitnessLine]) -> None:
        """Forget everything, and begin with these rows."""
        with suppress(OSError):
            if self._file is not None:
                os.ftruncate(self._file, 0)
        self.note(lines)

    def sync(self) -> None:
        """Wait until the disk has all lines, and the name of the file."""
        with suppress(OSError):
            if self._file is not None:
                os.fsync(self._file)
                sync(self._path.parent)

    def _cut_half_line(self) -> None:
        """Take away the line at which a power cut has stopped."""
        if self._file is None:
            return
        size = os.fstat(self._file).st_size
        end = os.pread(self._file, LONGEST_LINE, max(0, size - LONGEST_LINE))
        if end and not end.endswith(b"\n"):
            os.ftruncate(self._file, size - len(end) + end.rfind(b"\n") + 1)


def _read(line: bytes) -> WitnessLine | None:
    """Read one line; None if a changed byte or a power cut has left none."""
    try:
        height, table, seq, id_, link = line.decode("ascii").split(" ")
        if not link.endswith("\n"):
            return None
        return WitnessLine(int(height), int(table), int(seq), id_, link.rstrip("\n"))
    except ValueError:
        return None
