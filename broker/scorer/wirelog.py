"""The last messages on the wire, for arbiters who want to see them as they are."""

from collections import deque
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from broker.contract import topics

KEPT: Final = 1_000
LONGEST: Final = 2_000
"""Bytes of a message that are kept: a thousand of them are two megabytes at most."""

WITHHELD: Final = frozenset({topics.ASSIGNMENT.name})
"""Only the table itself reads what it is to restore: of such a message the arbiter is told that it was sent."""


class OnWire(NamedTuple):
    """One message. `number` grows; `code` says why it was refused."""

    number: int
    at: int
    way: Literal["in", "out"]
    topic: str
    kind: str
    table: int | None
    size: int
    text: str | None
    """None where it is not for arbiters."""
    code: str | None


class WireLog:
    """Keeps the newest messages. The scorer's thread writes, any may read."""

    def __init__(self) -> None:
        self._kept: deque[OnWire] = deque(maxlen=KEPT)
        self._number = 0

    def note(self, at: int, way: Literal["in", "out"], topic: str, payload: bytes, code: str | None = None) -> None:
        """Keep one message."""
        self._number += 1
        place = topics.parse(topic)
        kind = place.topic.name if place else ""
        text = None if kind in WITHHELD else payload[:LONGEST].decode("utf-8", "replace")
        table = place.table if place else None
        self._kept.append(OnWire(self._number, at, way, topic[:200], kind, table, len(payload), text, code))

    def newest(self, *, kind: str = "", table: int | None = None, text: str = "") -> Iterator[OnWire]:
        """Give what is kept, newest first: of one kind of topic, one table, or with a text in topic or message."""
        wanted = text.casefold()
        for one in reversed(tuple(self._kept)):
            if kind and one.kind != kind:
                continue
            if table is not None and one.table != table:
                continue
            if wanted in one.topic.casefold() or wanted in (one.text or "").casefold() or wanted in (one.code or ""):
                yield one
