"""What a store is: an append-only journal of accepted messages, and apart from it what was refused.

All else is derived. The laws are tests that every store passes: tests/broker/store/test_journal.py.
"""

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass
from typing import Final, Protocol

from broker.errors import StoreBroken
from broker.protocol import UNREADABLE, LogMessage, Refused, Ruling, decode, decoder

VERSION: Final = 1

MOST_REFUSALS: Final = 1_000
"""Of one table (or of none); beyond it they are only told, so that nobody can fill the disk with them."""

MOST_BYTES: Final = 16_384
"""Of a refused message's body."""

DESK: Final = 0
"""The desk's number where a table's stands: its rulings have an order of their own."""

Recorded = LogMessage | Ruling
"""What is accepted: facts of the tables, and rulings from the desk."""

Entry = tuple[int, bytes]
"""When a message was taken (wall clock, ms since 1970), and its body as it is on the wire."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A message that was not taken."""

    received_at: int
    code: str
    topic: str
    body: bytes
    table: int | None = None
    seq: int | None = None
    id: str | None = None


class Reader(Protocol):
    """A journal as it was at one moment. Changes nothing, locks nothing, hinders no scorer."""

    def entries(self) -> Generator[Entry, None, None]:
        """Return all accepted messages as they are stored, in the order in which they were taken."""

    def refused(self) -> Iterator[RefusedRow]:
        """Return all kept refusals, oldest first."""

    def close(self) -> None:
        """Let go of it; may be called twice."""


class Journal(Reader, Protocol):
    """One event's store, open for the one scorer that is active. Not for several threads at once."""

    @property
    def store(self) -> str:
        """Which store this is: another one, or an older copy of it, has another name."""

    @property
    def height(self) -> int:
        """How many messages are in the journal."""

    def commit(self) -> AbstractContextManager[None]:
        """Write a batch as one: all of it is durable at the end, or none. Raises StoreBroken, StoreLost."""

    def append(self, message: Recorded, received_at: int) -> None:
        """Add one accepted message. Inside `commit` only."""

    def refuse(self, row: RefusedRow) -> bool:
        """Keep one refused message; the same refusal of the same fact is kept once. Tell whether it is a new one."""

    def remember(self, key: str, value: str) -> None:
        """Keep beside the journal what is no message, in the place of what this key had. Inside `commit` only."""

    def remembered(self, prefix: str) -> dict[str, str]:
        """Return what is kept beside the journal under keys that begin so, by what follows in the key."""

    def messages(self) -> Iterator[Recorded]:
        """Return all accepted messages in the order in which they were taken. Raises StoreBroken."""

    def check(self) -> None:
        """Show that this scorer is alive, and learn whether it is still the active one. Raises StoreLost.

        To be called every second or so.
        """


def sequence_of(message: Recorded) -> tuple[int, int]:
    """Return whose message it is, and which of theirs: each pair is in a journal once."""
    return (DESK, message.number) if isinstance(message, Ruling) else (message.table, message.seq)


def decoded(entries: Generator[Entry, None, None]) -> Iterator[Recorded]:
    """Return the messages of a journal. Raises StoreBroken."""
    with closing(entries):  # else it would end whenever the interpreter likes, maybe after its connection
        for _, body in entries:
            yield message_of(body)


fact_of: Final[Callable[[bytes], LogMessage]] = decoder(LogMessage).decode


def message_of(body: bytes) -> Recorded:
    """Return what is stored as a message: nearly always a fact. Raises StoreBroken."""
    try:
        return fact_of(body)
    except UNREADABLE as no_fact:
        with suppress(Refused):
            return decode(Ruling, body)
        raise StoreBroken(f"the journal holds what is no message: {str(no_fact)[:300]}") from None


def fingerprint(reader: Reader) -> str:
    """Return a hash of everything that was taken and refused: equal journals have the same one."""
    digest = hashlib.sha256()
    for received_at, body in reader.entries():
        digest.update(b"%d %d " % (received_at, len(body)) + body)
    for row in reader.refused():
        digest.update(repr(row).encode())
    return digest.hexdigest()


def copy_journal(source: Reader, target: Journal) -> int:
    """Copy a journal into an empty one, all or nothing, and read it back; return its height. Raises StoreBroken."""
    with target.commit():
        for received_at, body in source.entries():
            target.append(message_of(body), received_at)
        for row in source.refused():
            target.refuse(row)
    if fingerprint(target) != fingerprint(source):
        raise StoreBroken("the copy of the journal does not read back as what was copied")
    return target.height
