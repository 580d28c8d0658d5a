"""A table's way to the scorer: the link to the event's broker, wherever that is by now, and what is sent there.

The broker may be at the scorer's machine, or at that of its standby once that has taken over. The scorer says where its
standby is, and the table keeps that: a table that is started while the first machine is gone finds the other one.
Nobody has to be believed for it, as only the event's broker has the event's certificate.

Facts are sent until a receipt names them, and the table's state with its health.
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
    """What sends messages."""

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if connected."""


class TableConnection(MessageSender, Protocol):
    """What a table's program needs of a link."""

    @property
    def up(self) -> bool:
        """Whether somebody listens."""

    def start(self) -> None:
        """Begin to connect."""

    def stop(self) -> None:
        """End; may be called twice."""

    def flush(self, timeout_s: float) -> object:
        """Wait until the last message is away."""


OpenLink = Callable[[Callable[[Incoming | LinkChanged], None]], TableConnection]
"""Opens a link, which tells from its own thread what comes."""


def open_table_link(settings: KioskSettings, lost: TableState, tell: Callable[[Incoming | LinkChanged], None]) -> Link:
    """Return a table's link, which does not connect yet. `lost`: what the broker says when the table is gone."""
    event, table = settings.config.event, settings.config.table
    return Link(
        settings.address(),
        # Of each device its own: under one id two devices would cut each other off, again and again.
        client_id=session_id(f"homologue-{event}-table-{table}", settings.folder),
        topics=[topic.at(event, table=table) for topic in topics.TOPICS if "table" in topic.readers],
        on_event=tell,
        will=Will(topics.STATE.at(event, table=table), encode(lost)),
    )


PLACES_FILE: Final = "brokers.json"
"""In the table's folder: the places, the one that was reached last first."""

GONE_NS: Final = 5_000_000_000
"""So long after a broker has said that its scorer is gone, another place is tried."""

MOST_PLACES: Final = 4
"""Places that are remembered."""


class Brokers:
    """The places of one table's link. Times are monotonic, in ns."""

    def __init__(self, link: Link, folder: Path) -> None:
        """Begin where the broker was reached last. Before the link is started."""
        self._link, self._file = link, folder / PLACES_FILE
        self._gone_since: int | None = None
        self._term = 0
        """Of the scorer of which this broker has told last."""
        configured = link.place
        self._places = self._read() or [configured]
        if configured not in self._places:
            self._places = [configured, *self._places]  # the device was paired, or configured, again
        self._known = list(self._places)
        link.set_brokers(*self._places)

    def _read(self) -> list[Place]:
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self._file.read_bytes(), type=list[Place])
        return []

    def connected(self) -> None:
        """Remember where the broker is."""
        self._gone_since, self._term = None, 0
        self._remember(self._link.place)

    def _remember(self, first: Place, *more: Place) -> None:
        self._places = list(dict.fromkeys((first, *more, *self._places)))[:MOST_PLACES]
        if self._places != self._known:
            with suppress(OSError):  # without it, the next start begins at the place that is configured
                write_private(self._file, msgspec.json.encode(self._places))
                self._known = list(self._places)

    def take(self, state: ScorerState, now: int) -> None:
        """Take in where a scorer says that it is, and its standby. Raises nothing: what is no place was refused."""
        gone = state.lifecycle == "gone"
        if gone and 0 < state.term < self._term:  # 0: of a standby, at whose broker tables are not to stay
            return  # it has come late: another scorer was started since
        self._term = state.term
        self._gone_since = None if not gone else now if self._gone_since is None else self._gone_since
        if moved := _place(state.moved):
            self._remember(moved)
            self._link.move(moved)
        elif standby := _place(state.standby):
            self._remember(self._link.place, standby)
            self._link.set_other_brokers(*self._places)

    def due(self, now: int, *, silent: bool) -> None:
        """Go on to the next place where the scorer here is gone, or says nothing."""
        gone = self._gone_since is not None and now - self._gone_since >= GONE_NS
        others = [one for one in self._places if one != self._link.place]
        if others and (gone or silent):
            self._gone_since = None
            self._link.move(others[0])


def _place(told: str) -> Place | None:
    host, _, port = told.rpartition(":")
    return (host.strip("[]"), int(port)) if host else None


SECOND_NS: Final = 1_000_000_000
MIB: Final = 1024 * 1024
RESEND_NS: Final = 3 * SECOND_NS
"""Without a receipt for so long, what is unsent is sent again: a PUBACK proves nothing."""

MOST_AT_ONCE: Final = 50
MOST_GIVEN_BACK: Final = 3
"""Records in one message: the largest that there can be have room there."""


class Uplink:
    """One table's way to the scorer. `wall` gives ms since 1970: told, so that a clock far off is noticed."""

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
        """The scorer's wall clock, ms since 1970, as its last receipt told it."""
        self._log = topics.LOG.at(event, table=table)
        self._state = topics.STATE.at(event, table=table)
        self._last_state: TableState | None = None
        self._states = 0
        self._sent_at: int | None = None
        self._sent_upto: int | None = None
        """The number up to which facts were sent where more wait behind it; None: all were sent."""
        self._answered = True
        """Whether a receipt has come since something was sent."""
        self.unsent, self._first = journal.waiting()
        """Facts for which no receipt has come, and the number of the first of them."""
        self.refused = journal.refused()
        """Facts that the scorer did not take: number and code."""
        self.anchor = ""
        """That of the last receipt: it proves later what the scorer had stored then."""
        self._centre: AtCentre | None = None
        """What the centre has of the facts, as the last receipt says."""

    def send(self, messages: Iterable[LogMessage], now: int, *, connected: bool = True) -> None:
        """Send new facts; without a connection, and behind a long day offline, they wait for their turn."""
        for message in messages:
            if not self.unsent:
                self._sent_at, self._sent_upto, self._answered = now, None, False
                self._first = message.seq
            if connected and (self._sent_upto is None or self.unsent < MOST_AT_ONCE):
                self._publish(encode(message))
            self.unsent += 1

    def _publish(self, body: bytes) -> None:
        """Send one fact, and say which device does: the scorer takes those of the one that serves the table."""
        self._sender.publish(self._log, with_sender(stored_form(body), self._journal.device), retain=topics.LOG.retain)

    def publish(self, state: Callable[[], TableState], *, again: bool = False) -> None:
        """Publish the table's state where it has changed, or again after a new connection.

        Then twice: the scorer knows by the repetition that a device has connected, and answers with its plan, whatever
        has changed meanwhile and whichever state it heard last.
        """
        new, before = replace(state(), at=self._wall(), heard=self._scorer_time), self._last_state
        if again or before is None or _content(new) != _content(before):
            self._say(new)
        if again and before is not None:
            self._say(replace(new, id=uuid.uuid4().hex))

    def _say(self, state: TableState) -> None:
        self._states += 1
        self._last_state = replace(state, count=self._states)
        self._sender.publish(self._state, encode(self._last_state), retain=topics.STATE.retain)

    def reconnected(self, now: int) -> None:
        """Send all again that is not safe, what was refused as well: the scorer's plan may have been put right."""
        with suppress(JournalFull):  # what was refused is opened again at the next connection
            self._journal.reconsider()
        self._count()
        self._answered = True
        self.resend(now)

    def resend(self, now: int) -> None:
        """Send what is unsent, in order: after a new connection, and when no receipt comes.

        A portion at a time, the next when that is safe. Where no receipt has come for the last one only its first fact
        is sent again: a scorer that has fallen behind is not to have it from a thousand tables again and again.
        """
        waiting = self._journal.unsent_rows(MOST_AT_ONCE if self._answered else 1)
        for _, body in waiting:
            self._publish(body)
        if self._answered:  # else the whole portion is still on its way
            self._sent_upto = waiting[-1][0] if len(waiting) < self.unsent else None
        self._sent_at, self._answered = now, False

    def take(self, message: Receipt | Kept, now: int) -> None:
        """Take in what the scorer says of its store."""
        if isinstance(message, Kept):
            self.keep(message)
        else:
            self.settle(message, now)

    def settle(self, receipt: Receipt, now: int) -> None:
        """Take a receipt in."""
        self._scorer_time = receipt.at
        before, anew = self.unsent, False
        self.anchor, self._centre = receipt.anchor or "", receipt.centre
        with suppress(JournalFull):  # the scorer names it again when it is sent again
            anew = self._journal.settle(receipt)
        self._count()
        if anew:
            self._sent_at = None
        elif self.unsent < before:
            self._sent_at = now
        self._answered |= anew or self.unsent != before

    def at_centre(self, seq: int) -> bool | None:
        """Return whether the centre has a fact, too; None: there is no centre, or not even the scorer has it."""
        centre = self._centre
        if centre is None or self.unsent or any(seq == one for one, _ in self.refused):
            return None
        return seq <= centre.upto and seq not in centre.lacks

    def keep(self, message: Kept) -> None:
        """Keep what the scorer gives us to keep, and give back what it lacks."""
        with suppress(JournalFull):  # others keep it, too
            lacking = self._journal.keep(message.records)
            for first in range(0, len(lacking), MOST_GIVEN_BACK):
                back = KeptBack(
                    id=uuid.uuid4().hex,
                    event=message.event,
                    table=message.table,
                    records=lacking[first : first + MOST_GIVEN_BACK],
                )
                topic = topics.KEPT_BACK
                self._sender.publish(topic.at(message.event, table=message.table), encode(back), retain=topic.retain)

    def _count(self) -> None:
        self.unsent, self._first = self._journal.waiting()
        self.refused = self._journal.refused()

    def overdue(self, now: int) -> bool:
        """Whether something is to be sent: a receipt should have come by now, or has come and more waits."""
        if not self.unsent:
            return False
        if self._sent_at is None or now - self._sent_at >= RESEND_NS:
            return True
        return self._sent_upto is not None and self._first > self._sent_upto


def _content(state: TableState) -> tuple[object, ...]:
    """Return the part of a state whose change is published.

    The times of a play, added time and who is let in are left out: where they change, a fact is told, and with
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
    """Return the message of a state; the uplink counts it."""
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
        ordered=state.ordered,
        obeyed=dict(state.obeyed),
        refused=dict(state.refused),
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
