"""The table's link to the scorer: facts are sent until a receipt names them, and the table's state with its health.

Also which plan is taken when, and whether this device or another one serves the table.
"""

import time
import uuid
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Final, Literal, Protocol

from msgspec.structs import replace

from broker.logs import get_logger
from broker.protocol import (
    BEAT_S,
    DISK_STEP_MIB,
    SILENT_S,
    ArbiterPin,
    Assignment,
    Beat,
    CountRequest,
    Kept,
    KeptBack,
    Lifecycle,
    LogMessage,
    Message,
    PinGiven,
    Receipt,
    Refused,
    ScorerState,
    Served,
    TableState,
    UpgradeState,
    clock_is_behind,
    decode_on_topic,
    encode,
    topics,
)
from broker.protocol.link import Incoming, Link, LinkChanged, LinkRefused, Will, session_id
from broker.protocol.signing import is_signed_by, kept_form, with_sender
from broker.version import program_version
from firmware.hardware.inventory import board_celsius
from firmware.reports import Health
from kiosk.brokers import Brokers
from kiosk.config import Config, KioskSettings
from kiosk.errors import DeviceUnknown, JournalFull, PinGuessed, ReceiptUnproven, SelfTestFailed, SelfTestSkipped
from kiosk.journal import OTHER_DEVICE, TableJournal
from kiosk.table import (
    AT_THE_TABLE,
    BETWEEN,
    FREE_TRIES,
    LAYING,
    QUIET,
    Assigned,
    Phase,
    Table,
    gives_way,
    may_renew,
    paused_ms,
    play_minutes,
    played_ms,
)

log = get_logger("homologue.kiosk")

SECOND_NS: Final = 1_000_000_000
MIB: Final = 1024 * 1024

RESEND_NS: Final = 3 * SECOND_NS
"""Without a receipt for so long, what is unsent is sent again: a PUBACK proves nothing."""

MOST_AT_ONCE: Final = 50

MOST_GIVEN_BACK: Final = 3
"""Records in one message: the largest that there can be have room there."""


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

    def flush(self, timeout_s: float) -> object:
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

    def send(self, messages: Iterable[LogMessage], now: int) -> None:
        """Send new facts; behind a long day offline they wait for their turn."""
        for message in messages:
            if not self.unsent:
                self._sent_at, self._sent_upto, self._answered = now, None, False
                self._first = message.seq
            if self._sent_upto is None or self.unsent < MOST_AT_ONCE:
                self._publish(encode(message))
            self.unsent += 1

    def _publish(self, body: bytes) -> None:
        """Send one fact, and say which device does: the scorer takes those of the one that serves the table."""
        self._sender.publish(self._log, with_sender(kept_form(body), self._journal.device), retain=topics.LOG.retain)

    def publish(self, state: Callable[[], TableState], *, again: bool = False) -> None:
        """Publish the table's state where it has changed, or again after a new connection."""
        new = replace(state(), at=self._wall(), heard=self._scorer_time)
        if again or self._last_state is None or _content(new) != _content(self._last_state):
            self._states += 1
            new = replace(new, count=self._states)
            self._last_state = new
            self._sender.publish(self._state, encode(new), retain=topics.STATE.retain)

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
        self.anchor = receipt.anchor or ""
        with suppress(JournalFull):  # the scorer names it again when it is sent again
            anew = self._journal.settle(receipt)
        self._count()
        if anew:
            self._sent_at = None
        elif self.unsent < before:
            self._sent_at = now
        self._answered |= anew or self.unsent != before

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


def people_health(state: Table) -> dict[str, str]:
    """Return what is told of what people did: skipped the self-test, or went on with what it found; guessed the PIN."""
    codes = {"skipped": SelfTestSkipped.code, "failed": SelfTestFailed.code}
    test = {"self_test": codes[state.self_test]} if state.self_test in codes else {}
    return {**test, "pin": PinGuessed.code} if state.pins_wrong >= FREE_TRIES else test


CONTACT: Final = "contact-"
"""How the health of one seat's contact is named: pulses come where a finger moves, so it waits for the play's end."""

BUTTONS: Final = "buttons"
"""How the health of all four buttons together is named."""

CAMERA: Final = "camera"
SCREEN: Final = "screen"

LATE_PRESS: Final = "press_told_late"
"""Somebody's declaration was lost, and the arbiter must hear of it."""


class DeviceHealth:
    """Codes of what is wrong, by part; what would tell of a finger waits until it cannot."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        self._waiting: dict[str, str | None] = {}

    @property
    def codes(self) -> dict[str, str]:
        """What is wrong, by part of the device."""
        return dict(self._codes)

    def say(self, part: str, code: str | None) -> None:
        """Remember what is wrong with a part of the device; None: nothing."""
        self._codes.pop(part, None)
        if code:
            self._codes[part] = code

    def report(self, health: Health, phase: Phase) -> None:
        """Take in what a device says of a part of itself; how contacts are waits while the table is quiet."""
        if health.part.startswith(CONTACT) and phase in QUIET:
            self._waiting[health.part] = health.code
        else:
            self.say(health.part, health.code)

    def moved(self, table: Table) -> None:
        """Follow a table to its next state: tell what waited, forget what the arbiter has seen by then."""
        hand_is_over = table.session is not None and table.phase is Phase.RECORDED
        if table.phase is Phase.RESTORING or hand_is_over:
            self._codes = {part: code for part, code in self._codes.items() if code != LATE_PRESS}
        for part, code in self._waiting.items():
            self.say(part, code)
        self._waiting.clear()


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
        # Of each device its own: under one id two devices would cut each other off, again and again.
        client_id=session_id(f"homologue-{name}-table-{table}", settings.folder),
        topics=[topic.at(name, table=table) for topic in topics.TOPICS if "table" in topic.readers],
        tell=tell,
        will=will,
    )


def send_count_request(link: TableConnection, request: CountRequest) -> None:
    """Ask the scorer what a hand is worth."""
    topic = topics.COUNT.at(request.event, table=request.table)
    link.publish(topic, encode(request), retain=topics.COUNT.retain)


def send_pin(link: TableConnection, journal: TableJournal, config: Config, session: str, sealed: str) -> None:
    """Ask the scorer whether a PIN is right, as this device."""
    given = PinGiven(
        id=uuid.uuid4().hex,
        event=config.event,
        table=config.table,
        device=journal.device,
        session=session,
        sealed=sealed,
    )
    topic = topics.PIN_GIVEN
    link.publish(topic.at(config.event, table=config.table), encode(journal.key.sign(given)), retain=topic.retain)


UNPROVEN: Final = ReceiptUnproven.code


def read_message(incoming: Incoming, event_key: str | None = None) -> tuple[Message | None, str | None]:
    """Return a message; or the code of why it cannot be read. With the event's public key it must have signed."""
    try:
        message = decode_on_topic(incoming.topic, incoming.payload)[1]
    except Refused as refused:
        return None, refused.code
    if event_key is None or not isinstance(message, Receipt | ArbiterPin):
        return message, None
    return (message, None) if is_signed_by(event_key, incoming.payload, message.signature) else (None, UNPROVEN)


ID_SHOWN: Final = 8
"""Characters of a device's id that people compare at table and desk."""

ServiceChange = Literal["back", "say_again", ""]
"""We serve the table again; another device has spoken in our place, so we say again how we stand; nothing."""


class ServiceStatus:
    """What one device knows of it. Until it is told otherwise it serves its table: a table plays on offline."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._served: Served | None = None
        self._greeted = False

    @property
    def elsewhere(self) -> bool:
        """Whether another device serves the table."""
        return self._served is not None and self._served.device not in (None, self._device)

    @property
    def unknown(self) -> bool:
        """Whether this device must be accepted by an arbiter before the scorer takes its facts."""
        return self._served is not None and self._served.unknown == self._device

    @property
    def calls_before(self) -> int | None:
        """How many open calls are older than the table's own; None where there is none, or that is not known."""
        return self._served.calls_before if self._served and not self.elsewhere else None

    @property
    def arbiter_coming(self) -> bool:
        """Whether an arbiter is on the way to the table's call."""
        return self._served is not None and self._served.arbiter_coming and not self.elsewhere

    def take(self, served: Served) -> ServiceChange:
        """Take in what the scorer says."""
        was_elsewhere, refused = self.elsewhere, self._served.refused if self._served else None
        was_unknown = self.unknown
        self._served = served
        if self.elsewhere:
            return ""
        if was_elsewhere or (was_unknown and not self.unknown):
            return "back"
        return "say_again" if served.refused not in (None, refused, self._device) else ""

    def may_greet(self) -> bool:
        """Whether to say hello on a new connection: one that is refused does so once, then only when asked to."""
        first, self._greeted = not self._greeted, True
        return first or not self.elsewhere


class ScorerWatch:
    """Whether the scorer is there. A broker goes on without it, and then nothing that the table sends becomes safe."""

    def __init__(self) -> None:
        self._heard: int | None = None
        """When it said last that it is there; None: it never did, so it may be an older one, which does not."""

    def connected(self, now: int) -> None:
        """Take in that it can be heard again from now on (monotonic ns)."""
        if self._heard is not None:
            self._heard = now

    def take(self, state: ScorerState, now: int) -> None:
        """Take in what it says, or its last will."""
        if self._heard is None or state.lifecycle == "active":
            self._heard = now

    def silent(self, now: int) -> bool:
        """Return whether it has not been heard of for long."""
        return self._heard is not None and now - self._heard >= SILENT_S * SECOND_NS


def plan_content(plan: Assignment) -> tuple[object, ...]:
    """Return what of a plan matters to a table."""
    session = plan.session and (plan.session.round, plan.session.players)
    of_rounds = tuple(sorted(plan.repeats.items())), tuple(sorted(plan.minutes.items()))
    content = plan.store, plan.profile, plan.rules, plan.plays, plan.public_address
    return *content, *of_rounds, plan.settled, session


def may_take_plan(offered: Assignment, table: Table, store: str | None) -> bool:
    """Take no plan before the receipt of the same store: our facts are numbered after those that it has.

    A broker may keep the plan of a rehearsal. So a play for which staff only lay trays gives way to the plan of
    another store, and to one that seats others there or does not have it any more; any other play is finished first.
    """
    if offered.store != store:
        return False
    had, phase = table.assignment, table.phase
    other = had is not None and had.store != offered.store
    return phase in BETWEEN or (
        (phase is Phase.RESTORING and other)
        or (phase in LAYING and not other and (gives_way(table, offered) or may_renew(table, offered)))
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


class ServerLink:
    """What one table has to do with the scorer and the desk. It says nothing while another device serves the table."""

    def __init__(
        self,
        config: Config,
        journal: TableJournal,
        link: TableConnection,
        health: DeviceHealth,
        state: Callable[[], tuple[Table, str | None]],
    ) -> None:
        """Take what gives the table, and which PIN arbiters have there."""
        self.link, self.facts = link, Uplink(journal, link, config.event, config.table)
        self.service = ServiceStatus(journal.device)
        self.scorer = ScorerWatch()
        self.brokers: Brokers | None = None
        """Where the event's broker may be, if there is a wire."""
        self._beat_at = 0
        """When to say next that the table is there (monotonic ns)."""
        self._free_mib: int | None = None
        self.upgrade: Callable[[], UpgradeState | None] = lambda: None
        """How far the table is with another version of its program."""
        self.connected = False
        """Whether the loop has taken in that the link is up; the link itself knows it a moment earlier."""
        self._config, self._journal, self._health, self._state = config, journal, health, state
        self._why = ""
        """Why there is no connection, as it was logged last."""
        self._plan: Assignment | None = None
        """What may not be taken yet."""
        self._last_plan: tuple[object, ...] | None = None
        self._lifecycle: Lifecycle = "ready"

    @property
    def elsewhere(self) -> bool:
        """Whether another device serves the table."""
        return self.service.elsewhere

    def stop(self) -> None:
        """Say that we go, and go."""
        self._lifecycle = "disconnected"
        if not self.elsewhere:
            self.facts.publish(self.state_message)
        self.link.flush(2.0)
        self.link.stop()

    def state_message(self) -> TableState:
        """Return what the table says of itself."""
        state, pin = self._state()
        refused = {"refused": self.facts.refused[-1][1]} if self.facts.refused else {}
        health = {**self._health.codes, **refused}
        lifecycle: Lifecycle = "alert" if health and self._lifecycle == "ready" else self._lifecycle
        health |= people_health(state)  # what they did makes no device unwell
        message = state_message(self._config, self._journal, state, lifecycle, self.facts.unsent, health, pin)
        return replace(message, upgrade=self.upgrade())

    def publish(self) -> None:
        """Publish the table's state where it has changed."""
        if self.connected and not self.elsewhere:
            self.facts.publish(self.state_message)

    def greet(self) -> None:
        """Say how the table stands, whether or not that is new."""
        self.facts.publish(self.state_message, again=True)

    def link_changed(self, change: LinkChanged, now: int) -> None:
        """Take in that there is a connection, or none."""
        self.connected = change.up
        if change.why and str(change.why) != self._why:
            log.warning(change.why.code, why=str(change.why))
        self._why = str(change.why)
        if isinstance(change.why, LinkRefused):
            self._health.say("broker", change.why.code)
        if change.up:
            self._health.say("broker", None)
            self.scorer.connected(now)
            self._beat_at = now  # a standby counts who comes to it
            if self.brokers:
                self.brokers.connected()
            if self.service.may_greet():
                self.greet()
                self.facts.reconnected(now)

    def take_served(self, served: Served, now: int) -> None:
        """Learn whether this device still serves its table; what it has not sent waits in its journal until it does."""
        was_elsewhere = self.elsewhere
        change = self.service.take(served)
        unknown = DeviceUnknown.code if self.service.unknown else None
        self._health.say(f"key-{self._journal.device[:ID_SHOWN]}", unknown)
        if self.elsewhere and not was_elsewhere:
            log.warning(OTHER_DEVICE, table=self._config.table, device=served.device)
        if change:
            self.greet()
        if change == "back":
            self.facts.reconnected(now)

    def take_plan(self, plan: Assignment, now: int) -> None:
        """Keep a plan until it may be taken; one that says something new may have room for what was refused."""
        content = plan_content(plan)
        if self._last_plan not in (None, content):
            self.facts.reconnected(now)
        self._plan, self._last_plan = plan, content

    def due_plan(self, table: Table, now: int) -> Assigned | None:
        """Return the plan that is to be taken now, if there is one that says something new."""
        plan = self._plan
        if plan is None or not may_take_plan(plan, table, self._journal.store):
            return None
        if table.assignment is not None and plan_content(table.assignment) == plan_content(plan):
            self._plan = None
            return None
        return Assigned(at=now, assignment=plan, first=first_unplayed(plan, self._journal.results()))

    def plan_taken(self, code: str | None) -> None:
        """Take in what became of it; without room on the disk it is tried again."""
        if code != JournalFull.code:
            self._plan = None
            self._health.say("plan", code)

    def _disk_mib(self) -> int:
        """Return how much of the disk is free; while nothing may show, as it was before."""
        if self._free_mib is None or self._state()[0].phase not in QUIET:
            self._free_mib = self._journal.room // MIB // DISK_STEP_MIB * DISK_STEP_MIB
        return self._free_mib

    def take_scorer(self, state: ScorerState, now: int) -> None:
        """Learn whether the scorer is there, and where else its broker may be."""
        self.scorer.take(state, now)
        if self.brokers:
            self.brokers.take(state, now)

    def due(self, now: int) -> None:
        """Send again what should have a receipt by now, and say that the table is there."""
        if not self.connected:
            return
        if self.brokers:
            self.brokers.due(now, silent=self.scorer.silent(now))
        if self.facts.overdue(now) and not self.service.unknown:  # all waits until an arbiter has accepted this device
            self.facts.resend(now)
        if now >= self._beat_at:
            self._beat_at = now + BEAT_S * SECOND_NS
            config, device, start = self._config, self._journal.device, self._journal.start
            beat = Beat(
                id=uuid.uuid4().hex,
                event=config.event,
                table=config.table,
                device=device,
                start=start,
                at=wall_clock_ms(),
                disk_mib=self._disk_mib(),
                celsius=board_celsius(),
            )
            topic = topics.BEAT.at(config.event, table=config.table)
            self.link.publish(topic, encode(beat), retain=topics.BEAT.retain)
