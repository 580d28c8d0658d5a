"""The chain of a journal's rows: each has a hash over itself and the row before, so that what was changed names itself.

A chain has no secret: it shows what a disk, a stick or a careless hand has changed. Who wrote a fact is shown by its
signature, and that nothing is missing at the end of a journal by its witness (witness.py).
"""

import gc
import mmap
import os
import re
import sqlite3
import struct
import subprocess
import sys
from array import array
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

FIRST_LINK: Final = bytes(32)
"""What the first row follows."""

MOST_MISSING: Final = 100_000
"""Rows that can be missing before one; where it would be more, its own number was changed."""

StoredRow = tuple[int, int, bytes, bytes]
"""Height, when it was taken (wall clock, ms since 1970), body and link."""

IntactRow = tuple[int, int, bytes]
"""The same without its link, which fits."""


class Fault(NamedTuple):
    """Something that is wrong with what is stored: a row that does not count, or one that was there and is not."""

    code: str
    height: int
    table: int | None = None
    """Whose row it is, as far as that is known: 0, the desk's."""
    seq: int | None = None
    id: str | None = None


ALTERED: Final = "row_altered"
"""The content of a row is not what was written."""
LINK_ALTERED: Final = "link_altered"
"""Only its link is not what was written: the row after it shows that its content is, which counts."""
MISSING: Final = "row_missing"
"""There is no row of this height, and there are rows after it."""
LOST: Final = "row_lost"
"""A row from the journal's end, or from a newer state of it, is there no more."""
UNREADABLE_ROW: Final = "row_unreadable"
"""What was written is no message."""
WRONG_POINTS: Final = "row_wrong_points"
"""Its points do not follow from its outcome."""
BAD_SIGNATURE: Final = "row_bad_signature"
"""Its device has not signed it."""


def link_after(before: bytes, height: int, received_at: int, body: bytes) -> bytes:
    """Return the link of a row."""
    return sha256(b"%b%d %d " % (before, height, received_at) + body).digest()


def intact_rows(  # noqa: C901 - a row, the one before it, and what is missing between
    rows: Iterable[StoredRow], faults: list[Fault], before: bytes | None = FIRST_LINK, height: int = 0
) -> Iterator[IntactRow]:
    """Return the rows that are as they were written, in order; what is wrong with others goes into `faults`.

    A row is judged by its own link and by that of the row after it: so a changed link makes no content doubtful. What
    follows a row that is missing is taken as it is. `before` is the link of the row at `height`, which they follow.
    """
    held: StoredRow | None = None
    """The row before this one, where it does not fit its link."""
    for row in rows:
        number, received_at, body, link = row
        if held is None and before is not None and _fits(before, height + 1, row):
            height += 1
            if number != height:
                faults.append(Fault(LINK_ALTERED, height))
            yield height, received_at, body
            before = link
            continue
        if not height < number <= height + MOST_MISSING:
            height += 1
            faults.extend(Fault(ALTERED, altered) for altered in ([held[0]] if held else []) + [height])
            before = held = None
            continue
        fits = before is None or number > height + 1
        if held is not None and before is not None:
            fault, fits = _judge(before, held, row)
            faults.append(fault)
            if fault.code == LINK_ALTERED:
                yield held[:3]
            before, held = held[3], None
        faults.extend(Fault(MISSING, missing) for missing in range(height + 1, number))
        height = number
        if fits:
            yield number, received_at, body
            before = link
        else:
            held = row
    if held is not None:
        faults.append(Fault(ALTERED, height))


def _judge(before: bytes, held: StoredRow, row: StoredRow) -> tuple[Fault, bool]:
    """Return what is wrong with a row that does not fit, and whether the one after it is as it was written."""
    if row[0] > held[0] + 1:
        return Fault(ALTERED, held[0]), True
    due = _link(before, held)
    if due is not None and _fits(due, row[0], row):
        return Fault(LINK_ALTERED, held[0]), True
    return Fault(ALTERED, held[0]), _fits(held[3], row[0], row)


def _link(before: bytes, row: StoredRow) -> bytes | None:
    """Return the link that a row should have; None if a changed byte has left no such row."""
    try:
        return link_after(before, *row[:3])
    except TypeError:
        return None


def _fits(before: bytes, height: int, row: StoredRow) -> bool:
    """Return whether a row follows the one before it."""
    try:
        return sha256(b"%b%d %d " % (before, height, row[1]) + row[2]).digest() == row[3]
    except TypeError:
        return False


FACT: Final = re.compile(rb',"table":([0-9]+),"seq":[0-9]+,"at":-?[0-9]+,"fact":\{"type":"([a-z_]+)"')
"""Table and kind of a fact. In a JSON string there are no such quotes: they are escaped."""

STEPS: Final = frozenset({b"seated", b"confirmed", b"declared"})
"""What comes between the walls of a play and its result."""

MOST_TOLD: Final = 5
"""Facts of a play that is told without a break: its walls, these steps, its result."""


def by_plays(rows: Iterable[IntactRow]) -> Iterator[list[IntactRow]]:
    """Return rows with those together that may be all facts of a play, where the last of them stands.

    All others come one by one: also what a table has told of a play before it, or the desk, has said anything else.
    """
    under_way: dict[bytes, list[IntactRow]] = {}
    for row in rows:
        fact = FACT.search(row[2])
        if fact is None:
            yield from ([one] for told in under_way.values() for one in told)
            under_way.clear()
            yield [row]
            continue
        table, kind = fact.groups()
        told = under_way.get(table)
        if told is not None and kind in STEPS and len(told) < MOST_TOLD:
            told.append(row)
        elif kind == b"restored":
            if told is not None:
                yield from ([one] for one in told)
            under_way[table] = [row]
        elif told is None:
            yield [row]
        else:
            del under_way[table]
            told.append(row)
            yield from [told] if kind == b"result" else ([one] for one in told)
    yield from ([one] for told in under_way.values() for one in told)


class ReadRows(NamedTuple):
    """Rows that were read together, by columns."""

    heights: Sequence[int]
    received: Sequence[int]
    lengths: Sequence[int]
    """Of the bodies."""


class Stretch(NamedTuple):
    """One row, or several that belong together; their bodies lie in something larger, as an array of JSON."""

    rows: ReadRows
    first: int
    """Where its own begin among those."""
    size: int
    source: bytes | mmap.mmap
    start: int
    end: int
    """Where that array lies."""

    @classmethod
    def of(cls, rows: Iterable[IntactRow]) -> "Stretch":
        """Return rows as a stretch of their own."""
        heights, received, bodies = zip(*rows, strict=True)
        array = _array_of(bodies)
        return cls(ReadRows(heights, received, [*map(len, bodies)]), 0, len(bodies), array, 0, len(array))

    @property
    def received(self) -> Sequence[int]:
        """When each row was taken."""
        return self.rows.received[self.first : self.first + self.size]

    def array(self) -> bytes:
        """Return the bodies as one array of JSON."""
        return self.source[self.start : self.end]

    def each(self) -> Iterator[IntactRow]:
        """Return the rows one by one."""
        begin = self.start + 1
        for at in range(self.first, self.first + self.size):
            length = self.rows.lengths[at]
            yield self.rows.heights[at], self.rows.received[at], self.source[begin : begin + length]
            begin += length + 1


def _array_of(bodies: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(bodies)


LONG: Final = 16 * 2**20
"""Bytes of a file from which on a process of its own is worth while."""

STRETCHES_AT_ONCE: Final = 100

HEAD: Final = struct.Struct("=q32s")
"""The height of the last row, and its link."""


class NotAsWrittenError(Exception):
    """The process that reads ahead has found something wrong, or cannot read the file."""


class CheckedAhead:
    """Reads a file in a process of its own while this one starts, and verifies its links. A context manager.

    What it has read it leaves in memory that both have. Where it finds anything wrong, or cannot read the file, the
    rows are read and verified as always.
    """

    def __init__(self, path: Path, *, long: int = LONG) -> None:
        """Begin, if the file is long."""
        self._process: subprocess.Popen[bytes] | None = None
        self._shared: mmap.mmap | None = None
        if not path.is_file() or path.stat().st_size < long:
            return
        with suppress(OSError):  # without it all is read as always
            self._begin(path)

    def _begin(self, path: Path) -> None:
        shared = os.memfd_create("journal")
        try:
            # What is in the file has room in as much memory again; what is not used of it is not there.
            os.ftruncate(shared, 2 * sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*")))
            self._shared = mmap.mmap(shared, 0, access=mmap.ACCESS_READ)
            # Without the libraries, of which it needs none, it is there at once.
            words = [sys.executable, "-I", "-S", __file__, path.absolute().as_uri() + "?mode=ro", str(shared)]
            nowhere = subprocess.DEVNULL
            self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=nowhere, pass_fds=[shared])
        finally:
            os.close(shared)

    def __enter__(self) -> "CheckedAhead":
        """Go on."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """End it, if nobody waits for it any more; may be called twice."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = self._shared = None

    def stretches(self) -> Generator[Stretch, None, tuple[int, bytes]]:
        """Return all rows by plays, as soon as they are there; at the end height and link of the last one.

        Raises NotAsWrittenError: nothing that was returned is to be taken then.
        """
        process, shared, begin = self._process, self._shared, 0
        if process is None or process.stdout is None or shared is None:
            return 0, FIRST_LINK
        for line in process.stdout:
            (plays, rows), numbers = map(int, line.split()), array("q")
            size = (2 * plays + 3 * rows) * numbers.itemsize
            numbers.frombytes(shared[begin : begin + size])
            begin += size
            for stretch in _unpacked(numbers, plays, rows, shared, begin):
                yield stretch
                begin = stretch.end
        if process.wait():
            raise NotAsWrittenError
        self.close()
        return HEAD.unpack_from(shared, begin)


def _unpacked(numbers: "array[int]", plays: int, rows: int, source: mmap.mmap, begin: int) -> Iterator[Stretch]:
    """Return stretches by the numbers that were written: rows and bytes of each, then the columns of all rows."""
    read = ReadRows(*(numbers[2 * plays + at * rows : 2 * plays + (at + 1) * rows] for at in range(3)))
    first = 0
    for count, size in zip(numbers[:plays], numbers[plays : 2 * plays], strict=True):
        yield Stretch(read, first, count, source, begin, begin := begin + size)
        first += count


def _check(address: str, shared: int) -> None:
    """Write a file's rows into memory, and print how much there is; end where one is not as it was written."""
    last = [0, FIRST_LINK]
    with sqlite3.connect(address, uri=True) as store, open(shared, "wb") as out:
        store.execute("BEGIN")
        plays = by_plays(_linked(store.execute(ROWS), last))
        while some := [*islice(plays, STRETCHES_AT_ONCE)]:
            heights, received, bodies = zip(*chain.from_iterable(some), strict=True)
            arrays = [_array_of([row[2] for row in one]) for one in some]
            sizes = [*map(len, some), *map(len, arrays)]
            out.write(array("q", [*sizes, *heights, *received, *map(len, bodies)]).tobytes())
            out.write(b"".join(arrays))
            out.flush()
            print(len(some), len(bodies), flush=True)
        out.write(HEAD.pack(*last))


def _linked(rows: Iterable[StoredRow], last: list[Any]) -> Iterator[IntactRow]:
    """Return rows that all are as they were written, and leave height and link in `last`; where one is not, end."""
    height, before = 0, FIRST_LINK
    for number, received_at, body, link in rows:
        height += 1
        if number != height or sha256(b"%b%d %d " % (before, height, received_at) + body).digest() != link:
            sys.exit(1)
        yield height, received_at, body
        before = link
    last[:] = height, before


ROWS: Final = "SELECT height, received_at, body, link FROM journal ORDER BY height"

if __name__ == "__main__":
    gc.disable()  # there are no cycles to be found among half a million rows
    _check(sys.argv[1], int(sys.argv[2]))
