"""What an event's journal holds: facts of the tables, what the desk has ruled, and which devices speak for tables."""

import gc
from collections.abc import Generator, Iterable, Iterator, MutableMapping
from contextlib import closing, contextmanager, suppress
from typing import Final, Literal, NamedTuple

import msgspec

from broker.errors import StoreBroken
from broker.protocol import UNREADABLE, DeviceRecord, Fact, LogMessage, Refused, Ruling, decode

DESK: Final = 0
"""The desk's number where a table's stands: its rulings have an order of their own."""

DEVICES: Final = -1
"""The same of what is decided about devices."""

Recorded = LogMessage | Ruling | DeviceRecord
"""What is accepted: facts of the tables, rulings from the desk, and which devices may speak for which table."""

Entry = tuple[int, bytes]
"""When a message was taken (wall clock, ms since 1970), and its body as it is on the wire."""


class Decided(NamedTuple):
    """A record of what the desk has decided: no fact of a table."""

    message: Ruling | DeviceRecord
    received_at: int
    body: bytes


def sequence_of(message: Recorded) -> tuple[int, int]:
    """Return whose message it is, and which of theirs: each pair is in a journal once."""
    if isinstance(message, LogMessage):
        return message.table, message.seq
    return (DESK if isinstance(message, Ruling) else DEVICES), message.number


def decoded(entries: Generator[Entry, None, None]) -> Iterator[Recorded]:
    """Return the messages of a journal. Raises StoreBroken."""
    with closing(entries):  # else it would end whenever the interpreter likes, maybe after its connection
        for _, body in entries:
            yield message_of(body)


class KeptFact(msgspec.Struct, frozen=True):
    """A fact as it is kept: its texts were looked at when it was taken, and to do it again takes most of the time."""

    schema: Literal[1]
    id: str
    event: str
    table: int
    seq: int
    at: int
    fact: Fact
    device: str | None = None
    before: str | None = None
    signature: str | None = None

    def message(self) -> LogMessage:
        """Return it as it came."""
        return LogMessage(
            id=self.id,
            event=self.event,
            table=self.table,
            seq=self.seq,
            at=self.at,
            fact=self.fact,
            device=self.device,
            before=self.before,
            signature=self.signature,
        )


KEPT_FACTS: Final[msgspec.json.Decoder[KeptFact]] = msgspec.json.Decoder(KeptFact)


def fact_of(body: bytes) -> LogMessage:
    """Return what is stored as a fact. Raises msgspec.ValidationError where it is another kind of message."""
    return KEPT_FACTS.decode(body).message()


class FactsByNumber(MutableMapping[int, LogMessage]):
    """Facts of one table; those that are given as their JSON are read when somebody asks for them."""

    def __init__(self) -> None:
        self._facts: dict[int, LogMessage | bytes] = {}

    def __getitem__(self, seq: int) -> LogMessage:
        """Return a fact."""
        found = self._facts[seq]
        return fact_of(found) if isinstance(found, bytes) else found

    def __setitem__(self, seq: int, fact: LogMessage) -> None:
        """Take in a fact."""
        self._facts[seq] = fact

    def __delitem__(self, seq: int) -> None:
        """Forget a fact."""
        del self._facts[seq]

    def __contains__(self, seq: object) -> bool:
        """Return whether there is a fact of a number."""
        return seq in self._facts

    def __iter__(self) -> Iterator[int]:
        """Return all numbers, as they were taken."""
        return iter(self._facts)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._facts)

    def take_in(self, numbers: Iterable[int], facts: Iterable[LogMessage | bytes]) -> None:
        """Take in facts, some as their JSON."""
        self._facts.update(zip(numbers, facts, strict=True))


_DEVICE_RECORDS: Final[msgspec.json.Decoder[DeviceRecord]] = msgspec.json.Decoder(DeviceRecord)


def message_of(body: bytes) -> Recorded:
    """Return what is stored as a message: nearly always a fact. Raises StoreBroken."""
    try:
        return fact_of(body)
    except UNREADABLE as no_fact:
        with suppress(Refused):
            return decode(Ruling, body)
        with suppress(*UNREADABLE):
            return _DEVICE_RECORDS.decode(body)
        raise StoreBroken(f"the journal holds what is no message: {str(no_fact)[:300]}") from None


@contextmanager
def gc_paused() -> Iterator[None]:
    """Look for no cycles meanwhile: to do so again and again while a journal is read takes a third of its time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
