"""The table's link to the scorer: facts are sent until a receipt names them.

Also which plan is taken when, and whether this device or another one serves the table.
"""

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Final, Literal, Protocol

from msgspec.structs import replace

from broker.protocol import (
    Assignment,
    CountRequest,
    LogMessage,
    Message,
    Receipt,
    Refused,
    Served,
    TableState,
    clock_is_behind,
    decode_on_topic,
    encode,
    topics,
)
from broker.protocol.link import Incoming, Link, LinkChanged, Will
from kiosk.config import KioskSettings
from kiosk.errors import JournalFull
from kiosk.journal import TableJournal
from kiosk.status import state_message
from kiosk.table import BETWEEN, Phase, Table, renames, settled_now

RESEND_NS: Final = 3_000_000_000
"""Without a receipt for so long, what is unsent is sent again: a PUBACK proves nothing."""

MOST_AT_ONCE: Final = 50


class MessageSender(Protocol):
    """What the uplink needs of a link."""

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

    def flush(self, timeout_s: float) -> None:
        """Wait until the last message is away."""


def wall_clock_ms() -> int:
    """Return the wall clock in ms since 1970."""
    return time.time_ns() // 1_000_000


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
    """Return that of a state for which it is said anew.

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
        state.at is not None and clock_is_behind(state.at, state.heard),
        tuple(state.health.items()),
    )


def open_table_link(
    settings: KioskSettings, journal: TableJournal, state: Table, tell: Callable[[Incoming | LinkChanged], None]
) -> Link:
    """Return the link of the table as it stands; it does not connect yet."""
    name, table = settings.config.event, settings.config.table
    will = Will(
        topics.STATE.at(name, table=table), encode(state_message(settings.config, journal, state, "lost", 0, {}))
    )
    return Link(
        settings.address(),
        # Of each device its own: under one name two devices would cut each other off, again and again.
        client_id=f"homologue-{name}-table-{table}-{journal.device[:8]}",
        topics=[topic.at(name, table=table) for topic in topics.TOPICS if "table" in topic.readers],
        tell=tell,
        will=will,
    )


def send_count_request(link: TableConnection, request: CountRequest) -> None:
    """Ask the scorer what a hand is worth."""
    topic = topics.COUNT.at(request.event, table=request.table)
    link.publish(topic, encode(request), retain=topics.COUNT.retain)


def read_message(incoming: Incoming) -> tuple[Message | None, str | None]:
    """Return a message; or the code of why it cannot be read."""
    try:
        return decode_on_topic(incoming.topic, incoming.payload)[1], None
    except Refused as refused:
        return None, refused.code


OTHER_DEVICE: Final = "another_device"
"""What is done here is refused: the table is served by another device."""

ServiceChange = Literal["back", "say_again", ""]
"""We serve the table again; another device has spoken in our place, so we say again how we stand; nothing."""


class ServiceStatus:
    """What one device knows of it. Until it is told otherwise it serves its table: a table plays on offline."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._said: Served | None = None
        self._greeted = False

    @property
    def elsewhere(self) -> bool:
        """Whether another device serves the table."""
        return self._said is not None and self._said.device not in (None, self._device)

    @property
    def calls_before(self) -> int | None:
        """How many open calls are older than the table's own; None where there is none, or that is not known."""
        return self._said.calls_before if self._said and not self.elsewhere else None

    @property
    def arbiter_coming(self) -> bool:
        """Whether an arbiter is on the way to the table's call."""
        return self._said is not None and self._said.arbiter_coming and not self.elsewhere

    def hear(self, said: Served) -> ServiceChange:
        """Take in what the scorer says."""
        was_elsewhere, refused = self.elsewhere, self._said.refused if self._said else None
        self._said = said
        if self.elsewhere:
            return ""
        if was_elsewhere:
            return "back"
        return "say_again" if said.refused not in (None, refused, self._device) else ""

    def greet(self) -> bool:
        """Whether to say hello on a new connection: one that is refused does so once, then only when asked to."""
        first, self._greeted = not self._greeted, True
        return first or not self.elsewhere


def plan_content(plan: Assignment) -> tuple[object, ...]:
    """Return what of a plan matters to a table."""
    session = plan.session and (plan.session.round, plan.session.players)
    of_rounds = tuple(sorted(plan.repeats.items())), tuple(sorted(plan.minutes.items()))
    said = plan.store, plan.profile, plan.rules, plan.plays, plan.public_address
    return *said, *of_rounds, plan.settled, session


def may_take_plan(offered: Assignment, table: Table, store: str | None) -> bool:
    """Take no plan before the receipt of the same store: our facts are numbered after those that it has.

    A broker may keep the plan of a rehearsal. So a play for which staff only lay trays gives way to the plan of
    another store, and to one in which arbiters have settled it, or seated a substitute; any other play is finished
    first.
    """
    if offered.store != store:
        return False
    had, phase = table.assignment, table.phase
    other = had is not None and had.store != offered.store
    return phase in BETWEEN or (
        phase is Phase.RESTORING and (other or settled_now(table, offered) or renames(table, offered))
    )


def first_unplayed(plan: Assignment, played: Collection[tuple[int, int]]) -> int:
    """Return the place in the plan of the first play that neither we (rounds and deals) nor the scorer have."""
    return next(
        (
            at
            for at, one in enumerate(plan.plays)
            if one.round not in plan.recorded and (one.round, one.deal) not in played
        ),
        len(plan.plays),
    )
