"""What the scorer counts while it works, for those who look after it. Counts tell of plays: they are for arbiters."""

from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from broker.protocol import LogMessage
from broker.protocol.link import Incoming
from broker.scorer.intake import IntakeVerdict

TAKEN: Final = "taken"
AGAIN: Final = "again"
"""It was there already."""

BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ScorerMetrics:
    """Counted on the scorer's thread; any thread may read `registry`."""

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
