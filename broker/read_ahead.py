"""Reads and verifies a long journal in separate processes while the scorer's program is still loading.

The scorer's program takes a second to load, and its journal several seconds to read. So this module imports no other
module of ours and no third-party library. Errors are left for the store to report (broker/store/records.py).
"""

import gc
import mmap
import os
import re
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, NamedTuple

STORE: Final = "scorer.sqlite"
"""The file of an event's journal, in the event's folder."""

STORE_ADDRESS_FILE: Final = "store.toml"
"""The file that names the store if the journal is in PostgreSQL instead (broker/store/location.py)."""


def has_started(folder: Path) -> bool:
    """Return whether anything may have been recorded for the event in this folder."""
    return (folder / STORE).exists() or (folder / STORE_ADDRESS_FILE).exists()


FIRST_LINK: Final = bytes(32)
"""The link that precedes the first row."""

StoredRow = tuple[int, int, bytes, bytes]
"""Height, time of receipt (wall clock, ms since 1970), body and link."""

IntactRow = tuple[int, int, bytes]
"""A row whose link was verified: height, time of receipt and body."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection: searching for cycles takes a third of the time in which a journal is read."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


NUMBER: Final = rb"([1-9][0-9]{0,17})"

FACT: Final = re.compile(
    rb'\{"schema":1,"id":"[^"]*","event":"[^"]*","table":%(n)b,"seq":%(n)b,"at":%(n)b,"fact":\{"type":"([a-z_]+)",'
    rb'"round":%(n)b,"deal":%(n)b((?:,"profile":"[^"]*")?(?:,"players":\{[^{}]*\})?)(.*)' % {b"n": NUMBER}
)
"""A fact as our programs write it. The last group has its remaining fields, which are still to be decoded."""

END_STARTS: Final = b'},"device":"'
END: Final = re.compile(
    rb'\},"device":"[^"]*","before":(?:"[^"]*"|null),"signature":(?:"[^"]*"|null)(?:,"sender":null)?\}'
)
"""The end of the message, after the fact. END_STARTS is how it begins."""

USUAL_END: Final = b'},"device":"%b","before":"%b","signature":"%b"}' % (b"0" * 32, b"0" * 64, b"0" * 128)
"""The end of nearly all messages, in which any hex digits may take the place of the zeros."""

HEX: Final = b"0123456789abcdef"
FIXED_BYTES: Final = {at: byte for at, byte in enumerate(USUAL_END) if byte != ord("0")}

PLAIN: Final = bytes({*range(0x20, 0x7F)} - {ord("\\")})
"""Bytes that need no closer look: a body made of these contains no escaped quotes."""

NO_FACT: Final = (b"0", b"0", b"0", b"", b"0", b"0", b"", b"")

COLUMNS: Final = ("height", "received", "length", "table", "seq", "at", "kind", "round", "deal", "players", "rest")
"""Columns of a row. A row without a kind is not a fact, or is a fact that is not written in the usual form."""

TEXTS: Final = ("kind", "players", "rest")
"""Columns that hold indices into `Rows.texts`."""


class Rows(NamedTuple):
    """Verified rows, in columns. Their bodies are concatenated in `source`."""

    columns: Sequence[memoryview]
    """An array of 64-bit numbers for each of COLUMNS."""
    texts: Sequence[bytes]
    source: bytes | mmap.mmap

    @classmethod
    def of(cls, rows: Iterable[IntactRow]) -> "Rows":
        """Return rows in columns."""
        texts = _Texts()
        columns, bodies = _columns(rows, texts)
        return cls([memoryview(one).cast("q") for one in columns], [*texts], bodies)


class _Texts(dict[bytes, int]):
    """Indices of texts, assigned when a text is first looked up."""

    def __missing__(self, text: bytes) -> int:
        number = self[text] = len(self)
        return number


class _NumberCache(dict[bytes, int]):
    """A cache of numbers by their digits, for columns with few different numbers: each is parsed once."""

    def __missing__(self, digits: bytes) -> int:
        number = self[digits] = int(digits)
        return number


REPEATED: Final = {"table", "seq", "round", "deal"}
"""Columns with few different numbers."""

_numbers = _NumberCache()


def _columns(rows: Iterable[IntactRow | StoredRow], texts: _Texts) -> tuple[list[bytes], bytes]:
    """Return rows as packed columns, and their bodies joined."""
    heights, received, bodies, *_ = zip(*rows, strict=True)
    joined = b"".join(bodies)
    plain = joined.isascii() and not joined.translate(None, PLAIN)
    match_fact, match_end = FACT.fullmatch, END.fullmatch
    if plain and _have_usual_ends(bodies):
        size = len(USUAL_END)
        parsed = [found.groups() if (found := match_fact(body, 0, len(body) - size)) else NO_FACT for body in bodies]
    else:
        parsed = [
            found.groups()
            if (plain or not body.translate(None, PLAIN))
            and (end := body.find(END_STARTS)) > 0
            and match_end(body, end)
            and (found := match_fact(body, 0, end))
            else NO_FACT
            for body in bodies
        ]
    known = (heights, received, map(len, bodies), *zip(*parsed, strict=True))
    converters = dict.fromkeys(TEXTS, texts.__getitem__) | dict.fromkeys(REPEATED, _numbers.__getitem__) | {"at": int}
    pack = struct.Struct(f"={len(bodies)}q").pack
    named_columns = zip(COLUMNS, known, strict=True)
    return [pack(*(map(converters[name], one) if name in converters else one)) for name, one in named_columns], joined


def _have_usual_ends(bodies: Sequence[bytes]) -> bool:
    """Return whether all bodies end as USUAL_END does. Comparing them all byte by byte takes a fraction of the time.

    The fields of a fact could contain such an end as well. They are later decoded as JSON, which then rejects the fact.
    """
    size, count = len(USUAL_END), len(bodies)
    ends = b"".join([body[-size:] for body in bodies])
    return (
        len(ends) == size * count
        and all(ends[at::size].count(byte) == count for at, byte in FIXED_BYTES.items())
        and len(ends.translate(None, HEX)) == count * len(USUAL_END.translate(None, HEX))
    )


LARGE: Final = 16 * 2**20
"""Size of a file, in bytes, from which separate processes are worth while."""

PARTS: Final = 2
"""Number of processes, each of which reads one part of the file."""

ROWS_AT_ONCE: Final = 1_000

HEADER: Final = struct.Struct("=q32sq32sqq")
"""Height and link of the row before a part, height and link of its last row, its number of rows and of texts."""

NUMBER_SIZE: Final = 8
"""Bytes of a number in a column."""


class CheckedAhead:
    """Reads a journal's file and verifies its links in separate processes while this one starts. A context manager.

    The processes leave the bodies in shared memory. If they find anything wrong or cannot read the file, the store
    reads and verifies the rows in the ordinary way.
    """

    def __init__(self, path: Path, *, large: int = LARGE) -> None:
        """Start the processes if the file is long."""
        self._parts: list[tuple[subprocess.Popen[bytes], mmap.mmap]] = []
        if not path.is_file() or path.stat().st_size < large:
            return
        with suppress(OSError):  # otherwise the store reads the file in the ordinary way
            for part in range(PARTS):
                self._begin(path, part)

    def _begin(self, path: Path, part: int) -> None:
        shared = os.memfd_create("journal")
        try:
            # The bodies cannot take more memory than the files take on disk; unused pages are never allocated.
            os.ftruncate(shared, sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")))
            bodies = mmap.mmap(shared, 0, access=mmap.ACCESS_READ)
            # It needs no libraries; without them (-I -S) it starts at once.
            address = path.absolute().as_uri() + "?mode=ro"
            words = [sys.executable, "-I", "-S", __file__, address, str(shared), str(part)]
            nowhere = subprocess.DEVNULL
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=nowhere, pass_fds=[shared])
            self._parts.append((process, bodies))
        finally:
            os.close(shared)

    def __enter__(self) -> "CheckedAhead":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the processes whose results have not been fetched. May be called twice."""
        for process, _ in self._parts:
            process.kill()
            process.communicate()
        self._parts.clear()

    def rows(self) -> tuple[list[Rows], int, bytes]:
        """Wait for and return all rows, with height and link of the last one; no rows if anything is wrong."""
        found, height, link = list[Rows](), 0, FIRST_LINK
        parts = [(process.communicate()[0], process.returncode, bodies) for process, bodies in self._parts]
        self._parts.clear()
        if len(parts) < PARTS or any(code for _, code, _ in parts):
            return [], 0, FIRST_LINK
        for output, _, bodies in parts:
            first, before, last, after, count, texts = HEADER.unpack_from(output)
            if (first, before) != (height, link):
                return [], 0, FIRST_LINK
            size, view = count * NUMBER_SIZE, memoryview(output)
            begins = [HEADER.size + at * size for at in range(len(COLUMNS) + 1)]
            columns = [view[start:end].cast("q") for start, end in pairwise(begins)]
            lengths = struct.unpack_from(f"={texts}q", output, begins[-1])
            ends = [*accumulate(lengths, initial=begins[-1] + texts * NUMBER_SIZE)]
            found.append(Rows(columns, [output[start:end] for start, end in pairwise(ends)], bodies))
            height, link = last, after
        return found, height, link


def _check(address: str, shared: int, part: int) -> None:
    """Write the bodies of a part of a file's rows to shared memory, and print the columns. Exit at a changed row."""
    packed, texts, count = list[list[bytes]](), _Texts(), 0
    with sqlite3.connect(address, uri=True) as store, open(shared, "wb") as out:
        store.execute("BEGIN")
        highest = store.execute("SELECT max(height) FROM journal").fetchone()[0] or 0
        first, last = (highest * number // PARTS for number in (part, part + 1))
        known = store.execute("SELECT link FROM journal WHERE height = ?", (first,)).fetchone() if first else None
        before = link = known[0] if known else FIRST_LINK
        rows = store.execute(ROWS, (first, last))
        while chunk := rows.fetchmany(ROWS_AT_ONCE):
            link = _verified(chunk, first + count, link)
            columns, bodies = _columns(chunk, texts)
            packed.append(columns)
            count += len(chunk)
            out.write(bodies)
    if count != last - first:
        sys.exit(1)
    output = sys.stdout.buffer
    output.write(HEADER.pack(first, before, last, link, count, len(texts)))
    for column in zip(*packed, strict=True):
        output.writelines(column)
    output.write(struct.pack(f"={len(texts)}q", *map(len, texts)))
    output.writelines(texts)


def _verified(rows: Sequence[StoredRow], height: int, before: bytes) -> bytes:
    """Verify the rows that follow a height, and return the link of the last one. Exit at a row that was changed."""
    for number, received_at, body, link in rows:
        height += 1
        if number != height or sha256(b"%b%d %d %b" % (before, height, received_at, body)).digest() != link:
            sys.exit(1)
        before = link
    return before


ROWS: Final = "SELECT height, received_at, body, link FROM journal WHERE height > ? AND height <= ? ORDER BY height"

if __name__ == "__main__":
    gc.disable()  # there are no cycles to be found among half a million rows
    _check(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
