"""A table's connection to the scorer: the link to the event's broker, wherever it runs now, and what is sent over it.

The broker may run on the scorer's machine, or on the standby's after a takeover. The scorer announces its standby, and
the table stores that address, so that a table started while the first machine is down finds the other one. An address
needs no trust: only the event's broker has the event's certificate.

Facts are sent until a receipt names them; the table's state is sent with its health.
"""

import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from broker.files import write_private
from broker.protocol import (
    AT_THE_TABLE,
    AtCentre,
    Kept,
    KeptBack,
    Lifecycle,
    LogMessage,
    Receipt,
    ScorerState,
    TableState,
    clock_is_behind,
    encode,
    stored_form,
    topics,
    wall_clock_ms,
    with_sender,
)
from broker.protocol.link import Incoming, Link, LinkChanged, Place, Will, session_id
from broker.version import program_version
from kiosk.config import Config, KioskSettings
from kiosk.errors import JournalFull
from kiosk.journal import TableJournal
from kiosk.table import Table, paused_ms, play_minutes, played_ms


class MessageSender(Protocol):
    """Something that sends messages."""

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if connected."""


class TableConnection(MessageSender, Protocol):
    """What a table's program needs of a link."""

    @property
    def up(self) -> bool:
        """Whether the link is connected."""

    def start(self) -> None:
        """Start to connect."""

    def stop(self) -> None:
        """Disconnect; may be called twice."""

    def flush(self, timeout_s: float) -> object:
        """Wait until the last message has been sent."""


OpenLink = Callable[[Callable[[Incoming | LinkChanged], None]], TableConnection]
"""Opens a link that reports messages and changes from its own thread."""


def open_table_link(settings: KioskSettings, lost: TableState, tell: Callable[[Incoming | LinkChanged], None]) -> Link:
    """Return a table's link, not yet connected. `lost` is the state that the broker publishes if the table is lost."""
    event, table = settings.config.event, settings.config.table
    return Link(
        settings.address(),
        # One id per device: two devices with the same id would keep disconnecting each other.
        client_id=session_id(f"homologue-{event}-table-{table}", settings.folder),
        topics=[topic.at(event, table=table) for topic in topics.TOPICS if "table" in topic.readers],
        on_event=tell,
        will=Will(topics.STATE.at(event, table=table), encode(lost)),
    )


PLACES_FILE: Final = "brokers.json"
"""File in the table's folder with the known addresses, the last one reached first."""

GONE_NS: Final = 5_000_000_000
"""How long after its broker reports the scorer gone another address is tried."""

MOST_PLACES: Final = 4
"""Most addresses to remember."""


class Brokers:
    """The addresses of one table's broker. Times are monotonic, in ns."""

    def __init__(self, link: Link, folder: Path) -> None:
        """Start from the address that was reached last. To be called before the link is started."""
        self._link, self._file = link, folder / PLACES_FILE
        self._gone_since: int | None = None
        self._term = 0
        """The term of the scorer that was announced last at this broker."""
        configured = link.place
        self._places = self._read() or [configured]
        if configured not in self._places:
            self._places = [configured, *self._places]  # the device was paired or configured again
        self._known = list(self._places)
        link.set_brokers(*self._places)

    def _read(self) -> list[Place]:
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self._file.read_bytes(), type=list[Place])
        return []

    def connected(self) -> None:
        """Remember the address that was reached."""
        self._gone_since, self._term = None, 0
        self._remember(self._link.place)

    def _remember(self, first: Place, *more: Place) -> None:
        self._places = list(dict.fromkeys((first, *more, *self._places)))[:MOST_PLACES]
        if self._places != self._known:
            with suppress(OSError):  # otherwise the next start uses the configured address
                write_private(self._file, msgspec.json.encode(self._places))
                self._known = list(self._places)

    def take(self, state: ScorerState, now: int) -> None:
        """Note where a scorer and its standby say they are. Nothing is raised: bad addresses were refused before."""
        gone = state.lifecycle == "gone"
        if gone and 0 < state.term < self._term:  # term 0: a standby, where tables do not stay
            return  # outdated: another scorer has been started since
        self._term = state.term
        self._gone_since = None if not gone else now if self._gone_since is None else self._gone_since
        if moved := _parsed_address(state.moved):
            self._remember(moved)
            self._link.move(moved)
        elif standby := _parsed_address(state.standby):
            self._remember(self._link.place, standby)
            self._link.set_other_brokers(*self._places)

    def due(self, now: int, *, silent: bool) -> None:
        """Move to the next address if the scorer here is gone or silent."""
        gone = self._gone_since is not None and now - self._gone_since >= GONE_NS
        others = [one for one in self._places if one != self._link.place]
        if others and (gone or silent):
            self._gone_since = None
            self._link.move(others[0])


def _parsed_address(address: str) -> Place | None:
    host, _, port = address.rpartition(":")
    return (host.strip("[]"), int(port)) if host else None


SECOND_NS: Final = 1_000_000_000
MIB: Final = 1024 * 1024
RESEND_NS: Final = 3 * SECOND_NS
"""Unsent facts are sent again after so long without a receipt, as a PUBACK proves nothing."""

MOST_AT_ONCE: Final = 50
MOST_GIVEN_BACK: Final = 3
"""Records in one message: even the largest ones fit."""


class Uplink:
    """A table's messages to and from the scorer. `wall` returns ms since 1970, sent to reveal a wrong clock."""

    def __init__(
        self,
        journal: TableJournal,
        sender: MessageSender,
        event: str,
        table: int,
        wall: Callable[[], int] = wall_clock_ms,
    ) -> None:
        self._journal, self._sender, self._wall = journal, sender, wall
        self._scorer_time: int | None = None
        """The scorer's wall clock at its last receipt, in ms since 1970."""
        self._log = topics.LOG.at(event, table=table)
        self._state = topics.STATE.at(event, table=table)
        self._last_state: TableState | None = None
        self._states = 0
        self._sent_at: int | None = None
        self._sent_upto: int | None = None
        """The last number sent, if more facts wait behind it; None if all were sent."""
        self._answered = True
        """Whether a receipt has come since something was sent."""
        self.unsent, self._first = journal.waiting()
        """Number of facts without a receipt, and the number of the first."""
        self.refused = journal.refused()
        """Number and code of each fact that the scorer refused."""
        self.anchor = ""
        """The anchor in the last receipt. It proves later what the scorer had stored by then."""
        self._centre: AtCentre | None = None
        """What the centre has of the facts, according to the last receipt."""

    def send(self, messages: Iterable[LogMessage], now: int, *, connected: bool = True) -> None:
        """Send new facts. Without a connection, or behind a backlog, they wait for their turn."""
        for message in messages:
            if not self.unsent:
                self._sent_at, self._sent_upto, self._answered = now, None, False
                self._first = message.seq
            if connected and (self._sent_upto is None or self.unsent < MOST_AT_ONCE):
                self._publish_fact(encode(message))
            self.unsent += 1

    def _publish_fact(self, body: bytes) -> None:
        """Send one fact with this device's id: the scorer takes facts only from the device that serves the table."""
        self._sender.publish(self._log, with_sender(stored_form(body), self._journal.device), retain=topics.LOG.retain)

    def publish(self, state: Callable[[], TableState], *, again: bool = False) -> None:
        """Publish the table's state if it has changed, or in any case (`again`) after a new connection.

        It is then sent twice. The repetition tells the scorer that a device has connected, and it answers with its
        plan, whatever has changed meanwhile and whichever state it received last.
        """
        new, before = replace(state(), at=self._wall(), heard=self._scorer_time), self._last_state
        if again or before is None or _content(new) != _content(before):
            self._publish_state(new)
        if again and before is not None:
            self._publish_state(replace(new, id=uuid.uuid4().hex))

    def _publish_state(self, state: TableState) -> None:
        self._states += 1
        self._last_state = replace(state, count=self._states)
        self._sender.publish(self._state, encode(self._last_state), retain=topics.STATE.retain)

    def reconnected(self, now: int) -> None:
        """Send everything not safely stored again, refused facts as well: the scorer's plan may have been corrected."""
        with suppress(JournalFull):  # refused facts are reopened at the next connection
            self._journal.reopen_refused()
        self._refresh_counts()
        self._answered = True
        self.resend(now)

    def resend(self, now: int) -> None:
        """Send unsent facts in order, after a new connection or when no receipt comes.

        They go in portions, the next one when the last is safe. While the last portion has no receipt, only its first
        fact is repeated: a scorer that is behind must not get whole portions again and again from a thousand tables.
        """
        waiting = self._journal.unsent_rows(MOST_AT_ONCE if self._answered else 1)
        for _, body in waiting:
            self._publish_fact(body)
        if self._answered:  # else the whole portion is still on its way
            self._sent_upto = waiting[-1][0] if len(waiting) < self.unsent else None
        self._sent_at, self._answered = now, False

    def take(self, message: Receipt | Kept, now: int) -> None:
        """Handle the scorer's message about its store."""
        if isinstance(message, Kept):
            self.store_records(message)
        else:
            self.apply_receipt(message, now)

    def apply_receipt(self, receipt: Receipt, now: int) -> None:
        """Process a receipt."""
        self._scorer_time = receipt.at
        before, signed = self.unsent, False
        self.anchor, self._centre = receipt.anchor or "", receipt.centre
        with suppress(JournalFull):  # once they are resent, the receipt comes again
            signed = self._journal.apply_receipt(receipt)
        self._refresh_counts()
        if signed:
            self._sent_at = None
        elif self.unsent < before:
            self._sent_at = now
        self._answered |= signed or self.unsent != before

    def at_centre(self, seq: int) -> bool | None:
        """Return whether the centre has a fact as well; None if there is no centre, or the scorer lacks facts."""
        centre = self._centre
        if centre is None or self.unsent or any(seq == one for one, _ in self.refused):
            return None
        return seq <= centre.upto and seq not in centre.lacks

    def store_records(self, message: Kept) -> None:
        """Store the scorer's records, and return to it those that it lacks."""
        with suppress(JournalFull):  # other tables keep them too
            lacking = self._journal.store_records(message.records)
            for first in range(0, len(lacking), MOST_GIVEN_BACK):
                back = KeptBack(
                    id=uuid.uuid4().hex,
                    event=message.event,
                    table=message.table,
                    records=lacking[first : first + MOST_GIVEN_BACK],
                )
                topic = topics.KEPT_BACK
                self._sender.publish(topic.at(message.event, table=message.table), encode(back), retain=topic.retain)

    def _refresh_counts(self) -> None:
        self.unsent, self._first = self._journal.waiting()
        self.refused = self._journal.refused()

    def overdue(self, now: int) -> bool:
        """Return whether to send facts: a receipt is overdue, or has come while more facts wait."""
        if not self.unsent:
            return False
        if self._sent_at is None or now - self._sent_at >= RESEND_NS:
            return True
        return self._sent_upto is not None and self._first > self._sent_upto


def _content(state: TableState) -> tuple[object, ...]:
    """Return the parts of a state that are published when they change.

    The times of a play, added time, and the arbiter who is let in are left out: a change of these produces a fact, and
    so changes `seq`. A new PIN and a plan with other minutes produce none.
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
        state.at is not None and clock_is_behind(state.at, state.heard),
        tuple(state.health.items()),
        state.upgrade,
    )


def state_message(
    config: Config,
    journal: TableJournal,
    state: Table,
    lifecycle: Lifecycle,
    unsent: int,
    health: dict[str, str],
    pin: str | None = None,
) -> TableState:
    """Return the message with the table's state; the uplink sets its count."""
    return TableState(
        id=uuid.uuid4().hex,
        event=config.event,
        table=config.table,
        seq=journal.last_seq,
        device=journal.device,
        key=journal.key.public,
        start=journal.start,
        count=0,
        lifecycle=lifecycle,
        state=state.public,
        round=state.play.round if state.play else None,
        deal=state.play.deal if state.play else None,
        unsent=unsent,
        calling=state.calling,
        paused=state.paused,
        ordered=state.last_order,
        obeyed=dict(state.handled_orders),
        refused=dict(state.refused_orders),
        pin=pin,
        minutes=play_minutes(state),
        extra_min=state.extra_min,
        stood_ms=paused_ms(state),
        played_ms=played_ms(state),
        arbiter="" if state.arbiter == AT_THE_TABLE else state.arbiter,
        health=health,
        version=program_version(),
        store=journal.store,
        safe=journal.upto,
    )
