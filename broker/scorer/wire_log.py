"""What goes over the wire: the last messages, for arbiters, and counts of them, for those who look after the scorer."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram

from broker.protocol import LogMessage, topics
from broker.protocol.link import Incoming
from broker.scorer.intake import IntakeVerdict

TAKEN: Final = "taken"
AGAIN: Final = "again"
"""It was there already."""

BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WireMetrics:
    """Counts for those who look after the scorer. They tell of plays, and are for arbiters alone."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._messages = Counter(
            "homologue_messages",
            "Messages of tables, by what became of them: taken, again (it was there already), or why refused",
            ["result"],
            registry=self.registry,
        )
        self._receipts = Histogram(
            "homologue_receipt_delay_seconds",
            "From the arrival of a table's fact until its receipt was given to the broker",
            buckets=BUCKETS_S,
            registry=self.registry,
        )

    def judged(self, verdict: IntakeVerdict) -> None:
        """Count a message that was judged."""
        new = verdict.new or not isinstance(verdict.message, LogMessage)
        self._messages.labels(verdict.code or (TAKEN if new else AGAIN)).inc()

    def answered(self, facts: Iterable[Incoming], now: float) -> None:
        """Take in when facts were answered. `now` in s of the clock that has marked them."""
        for one in facts:
            self._receipts.observe(max(0.0, now - one.came_at))


MESSAGES_KEPT: Final = 1_000
LONGEST_TEXT: Final = 2_000
"""Bytes of a message that are kept: a thousand of them are two megabytes at most."""

WITHHELD: Final = frozenset(
    one.name for one in (topics.ASSIGNMENT, topics.KEPT, topics.KEPT_BACK, topics.PIN, topics.PIN_GIVEN)
)
"""Only the table itself reads what it is to restore and whom it lets in; arbiters see that there was a message."""


class WireMessage(NamedTuple):
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
    """Keeps the newest messages, and counts those of tables. The scorer's thread writes, any may read."""

    def __init__(self) -> None:
        self.metrics = WireMetrics()
        self._kept: deque[WireMessage] = deque(maxlen=MESSAGES_KEPT)
        self._number = 0

    def note(self, at: int, way: Literal["in", "out"], topic: str, payload: bytes, code: str | None = None) -> None:
        """Keep one message."""
        self._number += 1
        place = topics.parse_topic(topic)
        kind = place.topic.name if place else ""
        text = None if kind in WITHHELD else payload[:LONGEST_TEXT].decode("utf-8", "replace")
        table = place.table if place else None
        self._kept.append(WireMessage(self._number, at, way, topic[:200], kind, table, len(payload), text, code))

    def newest(self, *, kind: str = "", table: int | None = None, text: str = "") -> Iterator[WireMessage]:
        """Return what is kept, newest first: of one kind of topic, one table, or with a text in topic or message."""
        wanted = text.casefold()
        for one in reversed(tuple(self._kept)):
            if kind and one.kind != kind:
                continue
            if table is not None and one.table != table:
                continue
            if wanted in one.topic.casefold() or wanted in (one.text or "").casefold() or wanted in (one.code or ""):
                yield one
