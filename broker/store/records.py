"""What an event's journal holds: facts of the tables, what the desk has ruled, and which devices speak for tables."""

from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from typing import Final, Generic, Literal, NamedTuple, TypeVar

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


F_co = TypeVar("F_co", covariant=True)


class ToldFact(msgspec.Struct, Generic[F_co], frozen=True, gc=False):
    """What a stored fact says, and when: all but its names, and who vouches for it."""

    table: int
    seq: int
    at: int
    fact: F_co


class KeptFact(ToldFact[F_co], Generic[F_co], frozen=True, kw_only=True):
    """A fact as it is kept: its texts were looked at when it was taken, and to do it again takes most of the time."""

    schema: Literal[1]
    id: str
    event: str
    device: str | None = None
    before: str | None = None
    signature: str | None = None

    def saying(self, fact: Fact) -> LogMessage:
        """Return the message as it came, given what it says."""
        return LogMessage(
            id=self.id,
            event=self.event,
            table=self.table,
            seq=self.seq,
            at=self.at,
            fact=fact,
            device=self.device,
            before=self.before,
            signature=self.signature,
        )


_FACTS: Final[msgspec.json.Decoder[tuple[KeptFact[Fact], ...]]] = msgspec.json.Decoder(tuple[KeptFact[Fact], ...])
_FACT: Final[msgspec.json.Decoder[KeptFact[Fact]]] = msgspec.json.Decoder(KeptFact[Fact])


def facts_of(array: bytes) -> tuple[LogMessage, ...]:
    """Return what is stored as facts, given as an array. Raises UNREADABLE if one is another kind of message."""
    return tuple([kept.saying(kept.fact) for kept in _FACTS.decode(array)])


_DEVICE_RECORDS: Final[msgspec.json.Decoder[DeviceRecord]] = msgspec.json.Decoder(DeviceRecord)


def message_of(body: bytes) -> Recorded:
    """Return what is stored as a message: nearly always a fact. Raises StoreBroken."""
    try:
        kept = _FACT.decode(body)
        return kept.saying(kept.fact)
    except UNREADABLE as no_fact:
        with suppress(Refused):
            return decode(Ruling, body)
        with suppress(*UNREADABLE):
            return _DEVICE_RECORDS.decode(body)
        raise StoreBroken(f"the journal holds what is no message: {str(no_fact)[:300]}") from None
