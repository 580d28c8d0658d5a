"""From the outbox to the scorer: a fact is sent until the scorer's receipt names it."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Protocol

from msgspec.structs import replace

from broker.contract import topics
from broker.contract.clock import is_behind
from broker.contract.messages import LogMessage, Receipt, TableState
from broker.contract.wire import encode
from kiosk.errors import JournalFull
from kiosk.journal import Journal

RESEND_NS: Final = 3_000_000_000
"""Without a receipt for so long, what is unsent is sent again: a PUBACK proves nothing."""

MOST_AT_ONCE: Final = 50


class Sender(Protocol):
    """What the uplink needs of a link."""

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if connected."""


class Wire(Sender, Protocol):
    """What a table's program needs of a link."""

    @property
    def up(self) -> bool:
        """Whether somebody listens."""

    def start(self) -> None:
        """Begin to connect."""

    def stop(self) -> None:
        """End; may be called twice."""

    def flush(self, timeout_s: float) -> None:
        """Wait until the last message is away."""


def wall_clock() -> int:
    """Give the wall clock in ms since 1970."""
    return time.time_ns() // 1_000_000


class Uplink:
    """One table's way to the scorer. `wall` gives ms since 1970: told, so that a clock far off is noticed."""

    def __init__(
        self, journal: Journal, sender: Sender, event: str, table: int, wall: Callable[[], int] = wall_clock
    ) -> None:
        self._journal, self._sender, self._wall = journal, sender, wall
        self._heard: int | None = None
        """The scorer's wall clock, ms since 1970, as its last receipt told it."""
        self._log = topics.LOG.at(event, table=table)
        self._state = topics.STATE.at(event, table=table)
        self._said: TableState | None = None
        self._states = 0
        self._sent_at: int | None = None
        self.unsent = len(journal.unsent())
        """Facts for which no receipt has come."""
        self.refused = journal.refused()
        """Facts that the scorer did not take: number and code."""

    def send(self, messages: Iterable[LogMessage], now: int) -> None:
        """Send new facts."""
        for message in messages:
            self._publish(message)
            self._sent_at = now
            self.unsent += 1

    def _publish(self, message: LogMessage) -> None:
        """Send one fact, and say which device does: the scorer takes those of the one that serves the table."""
        sent = replace(message, device=self._journal.device)
        self._sender.publish(self._log, encode(sent), retain=topics.LOG.retain)

    def say(self, state: Callable[[], TableState], *, again: bool = False) -> None:
        """Publish the table's state where it has changed, or again after a new connection."""
        new = replace(state(), at=self._wall(), heard=self._heard)
        if again or self._said is None or _content(new) != _content(self._said):
            self._states += 1
            new = replace(new, count=self._states)
            self._said = new
            self._sender.publish(self._state, encode(new), retain=topics.STATE.retain)

    def reconnected(self, now: int) -> None:
        """Send all again that is not safe, what was refused as well: the scorer's plan may have been put right."""
        with suppress(JournalFull):  # what was refused is opened again at the next connection
            self._journal.reconsider()
        self._count()
        self.resend(now)

    def resend(self, now: int) -> None:
        """Send what is unsent, in order: after a new connection, and when no receipt comes."""
        for message in self._journal.unsent()[:MOST_AT_ONCE]:
            self._publish(message)
        self._sent_at = now

    def settle(self, receipt: Receipt) -> None:
        """Take a receipt in."""
        self._heard = receipt.at
        with suppress(JournalFull):  # the scorer names it again when it is sent again
            self._journal.settle(receipt)
        self._count()

    def _count(self) -> None:
        self.unsent = len(self._journal.unsent())
        self.refused = self._journal.refused()

    def overdue(self, now: int) -> bool:
        """Whether a receipt should have come by now."""
        return bool(self.unsent) and (self._sent_at is None or now - self._sent_at >= RESEND_NS)


def _content(state: TableState) -> tuple[object, ...]:
    """Give that of a state for which it is said anew.

    The times of a play, added time and who is let in have no place here: where they change, a fact is told, and with
    it `seq` grows. A PIN is taken without one, and so is a plan with other minutes.
    """
    return (
        state.seq,
        state.lifecycle,
        state.state,
        state.round,
        state.deal,
        state.unsent,
        state.calling,
        state.paused,
        state.ordered,
        state.pin,
        state.minutes,
        state.at is not None and is_behind(state.at, state.heard),
        tuple(state.health.items()),
    )
