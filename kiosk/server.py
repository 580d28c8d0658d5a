"""The scorer and the desk as a table sees them: which plan is taken when, and whether this device serves the table."""

import uuid
from collections.abc import Callable, Collection, Iterable
from typing import Final, Literal

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
    Lifecycle,
    LogMessage,
    Message,
    PinGiven,
    Receipt,
    Refused,
    ScorerState,
    Served,
    SessionNonce,
    TableState,
    UpgradeState,
    decode_on_topic,
    encode,
    is_signed_by,
    topics,
)
from broker.protocol.link import Incoming, Link, LinkChanged, LinkRefused
from firmware.hardware.inventory import board_celsius
from kiosk.config import KioskSettings
from kiosk.errors import JournalFull
from kiosk.journal import OTHER_DEVICE, TableJournal
from kiosk.status import DeviceHealth, people_health
from kiosk.table import BETWEEN, LAYING, QUIET, Phase, Table, events, gives_way, may_renew
from kiosk.upgrade import TableUpgrade
from kiosk.uplink import MIB, RESEND_NS, SECOND_NS, Brokers, OpenLink, Uplink, open_table_link, state_message

log = get_logger("homologue.kiosk")

ID_SHOWN: Final = 8
"""Characters of a device's id that people compare at table and desk."""

ServiceChange = Literal["back", "say_again", ""]
"""We serve the table again; we are to say again how we stand; nothing."""


class ServiceStatus:
    """Whether one device serves its table. It does until it is told otherwise: a table plays on offline."""

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
        """How many open calls are older than the table's own; None if there is none, or that is not known."""
        return self._served.calls_before if self._served and not self.elsewhere else None

    @property
    def arbiter_coming(self) -> bool:
        """Whether an arbiter is on the way to the table's call."""
        return self._served is not None and self._served.arbiter_coming and not self.elsewhere

    @property
    def upgrade_by_hand(self) -> UpgradeState | None:
        """The answer to an offered upgrade where the program was started by hand: refused."""
        offer = self._served.upgrade if self._served else None
        return UpgradeState(version=offer.version, step="refused", percent=0, code="upgrade_by_hand") if offer else None

    def take(self, served: Served) -> ServiceChange:
        """Take in what the scorer says."""
        was_elsewhere, refused = self.elsewhere, self._served.refused if self._served else None
        was_unknown = self.unknown
        self._served = served
        if self.elsewhere:
            return ""
        if was_elsewhere or (was_unknown and not self.unknown):
            return "back"
        return "say_again" if served.unseen or served.refused not in (None, refused, self._device) else ""

    def may_greet(self) -> bool:
        """Whether to say hello on a new connection: one that is refused does so once, then only when asked to."""
        first, self._greeted = not self._greeted, True
        return first or not self.elsewhere


class ScorerWatch:
    """Whether the scorer is there. A broker goes on without it, but then no fact is stored."""

    def __init__(self) -> None:
        self._heard: int | None = None
        """When it said last that it is there, or we connected since; None: we never did."""

    def connected(self, now: int) -> None:
        """Take in that it can be heard from now on, in monotonic ns: it has its time to say that it is there."""
        self._heard = now

    def take(self, state: ScorerState, now: int) -> None:
        """Take in what it says; a last will says nothing of when it was there."""
        if state.lifecycle == "active":
            self._heard = now

    def silent(self, now: int) -> bool:
        """Return whether it has been silent for too long."""
        return self._heard is not None and now - self._heard >= SILENT_S * SECOND_NS


def plan_content(plan: Assignment) -> tuple[object, ...]:
    """Return what of a plan matters to a table."""
    session = plan.session and (plan.session.round, plan.session.players)
    content = plan.store, plan.profile, plan.rules, plan.plays, plan.public_address, plan.keep_plays
    return *content, plan.repeats, plan.minutes, plan.onward, plan.settled, session


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


UNPROVEN: Final = "receipt_unproven"


def read_message(incoming: Incoming, event_key: str | None = None) -> tuple[Message | None, str | None]:
    """Return a message, or the code of why it cannot be read. The event's public key, if given, must have signed it."""
    try:
        message = decode_on_topic(incoming.topic, incoming.payload)[1]
    except Refused as refused:
        return None, refused.code
    if event_key is None or not isinstance(message, Receipt | ArbiterPin):
        return message, None
    return (message, None) if is_signed_by(event_key, incoming.payload, message.signature) else (None, UNPROVEN)


class ServerLink:
    """One table's dealings with the scorer and the desk. It is silent while another device serves the table."""

    def __init__(
        self,
        settings: KioskSettings,
        journal: TableJournal,
        health: DeviceHealth,
        state: Callable[[], tuple[Table, str | None]],
        tell: Callable[[Incoming | LinkChanged], None],
        wall: Callable[[], int],
        link: OpenLink | None = None,
    ) -> None:
        """Take what gives the table, and which PIN arbiters have there; and what stands in for the wire.

        What comes goes to `tell`, from the link's thread. `wall` gives ms since 1970.
        """
        config = settings.config
        self._config, self._journal, self._health, self._state, self._wall = config, journal, health, state, wall
        lost = state_message(config, journal, state()[0], "lost", 0, {})
        self.link = link(tell) if link else open_table_link(settings, lost, tell)
        self.facts = Uplink(journal, self.link, config.event, config.table, wall)
        self.service = ServiceStatus(journal.device)
        self.scorer = ScorerWatch()
        self._brokers = Brokers(self.link, settings.folder) if isinstance(self.link, Link) else None
        self._beat_at = 0
        """When to say next that the table is there (monotonic ns)."""
        self._ask_at: int | None = None
        """When to ask how the scorer stands by now (monotonic ns)."""
        self._latest: dict[type[Message], tuple[int, int]] = {}
        """Term and number of the last message of each kind since the scorer was asked: its answer is never late."""
        self._free_mib: int | None = None
        self.upgrade: TableUpgrade | None = None
        """None: the program was started by hand, and stays."""
        self.connected = False
        """Whether the loop has taken in that the link is up; the link itself knows it a moment earlier."""
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
        """Tell the scorer that the table leaves, and disconnect."""
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
        return replace(message, upgrade=self.upgrade.state if self.upgrade else self.service.upgrade_by_hand)

    def publish(self) -> None:
        """Publish the table's state where it has changed."""
        if self.connected and not self.elsewhere:
            self.facts.publish(self.state_message)

    def greet(self) -> None:
        """Say how the table stands, whether or not that is new; the scorer answers with its plan."""
        self._ask_at = None
        if self.connected:
            self._latest.clear()
            self.facts.publish(self.state_message, again=True)

    def send(self, facts: Iterable[LogMessage], now: int) -> None:
        """Send new facts; without a connection they wait for the next one."""
        self.facts.send(facts, now, connected=self.connected)

    def ask_count(self, request: CountRequest) -> None:
        """Ask the scorer what a hand is worth."""
        topic = topics.COUNT
        self.link.publish(topic.at(request.event, table=request.table), encode(request), retain=topic.retain)

    def ask_pin(self, session: SessionNonce, sealed: str, now: int) -> bool:
        """Ask the scorer whether a PIN is right, as this device; return whether it can be asked now."""
        if not (self.connected and self.link.up) or self.scorer.silent(now):
            return False
        event, table, device = self._config.event, self._config.table, self._journal.device
        given = PinGiven(id=uuid.uuid4().hex, event=event, table=table, device=device, session=session, sealed=sealed)
        topic, signed = topics.PIN_GIVEN, self._journal.key.sign(given)
        self.link.publish(topic.at(event, table=table), encode(signed), retain=topic.retain)
        return True

    def link_changed(self, change: LinkChanged, now: int) -> None:
        """Take in that the connection is up or down."""
        self.connected = change.up
        if change.why and str(change.why) != self._why:
            log.warning(change.why.code, why=str(change.why))
        self._why = str(change.why)
        if isinstance(change.why, LinkRefused):
            self._health.say("broker", change.why.code)
        if change.up:
            self._latest.clear()  # behind another broker may be a scorer with an older store
            self._health.say("broker", None)
            self.scorer.connected(now)
            self._beat_at = now  # a standby counts who comes to it
            if self._brokers:
                self._brokers.connected()
            if self.service.may_greet():
                self.greet()
                self.facts.reconnected(now)

    def read(self, incoming: Incoming, now: int) -> Message | None:
        """Return what the scorer or the desk says; what cannot be read is told as the link's health, and dropped."""
        message, code = read_message(incoming, self._config.event_key)
        self._health.say("wire", code)
        if isinstance(message, Served | ArbiterPin):
            order = message.term, message.seq
            if message.term and order < self._latest.get(type(message), order):
                self._ask(now)
                return None
            self._latest[type(message)] = order
        return message

    def take_receipt(self, message: Receipt | Kept, now: int) -> None:
        """Take in what the scorer says of its store; where that is another one than before, ask."""
        before = self._journal.store
        self.facts.take(message, now)
        if before not in (None, self._journal.store):
            self._ask(now)

    def _ask(self, now: int) -> None:
        """Soon ask for what the scorer says by now: a broker may bring late, after newer, what was not acknowledged."""
        self._ask_at = self._ask_at or now + RESEND_NS

    def take_served(self, served: Served, now: int) -> None:
        """Take in whether this device serves its table; unsent facts wait in the journal until it does."""
        was_elsewhere, change = self.elsewhere, self.service.take(served)
        self._health.say(f"key-{self._journal.device[:ID_SHOWN]}", "device_unknown" if self.service.unknown else None)
        if self.elsewhere and not was_elsewhere:
            log.warning(OTHER_DEVICE, table=self._config.table, device=served.device)
        if change:
            self.greet()
        if change == "back" and self.connected:
            self.facts.reconnected(now)
        if self.upgrade is not None:
            self.upgrade.take(served.upgrade)

    def take_plan(self, plan: Assignment, now: int) -> None:
        """Keep a plan until it may be taken; one that says something new may have room for what was refused.

        It is asked for again, too: it may be an older one.
        """
        content = plan_content(plan)
        if self._last_plan not in (None, content):
            self.facts.reconnected(now)
            self._ask(now)
        self._plan, self._last_plan = plan, content

    def due_plan(self, table: Table, now: int) -> events.Assigned | None:
        """Return the plan that is to be taken now, if there is one that says something new."""
        plan = self._plan
        if plan is None or not may_take_plan(plan, table, self._journal.store):
            return None
        if table.assignment is not None and plan_content(table.assignment) == plan_content(plan):
            self._plan = None
            return None
        return events.Assigned(at=now, assignment=plan, first=first_unplayed(plan, self._journal.results()))

    def plan_taken(self, code: str | None) -> None:
        """Take in whether the plan was taken; without room on the disk it is tried again."""
        if code != JournalFull.code:
            self._plan = None
            self._health.say("plan", code)

    def disk_mib(self) -> int:
        """Return how much of the disk is free, in steps; while nothing may show, as it was before."""
        if self._free_mib is None or self._state()[0].phase not in QUIET:
            self._free_mib = self._journal.room // MIB // DISK_STEP_MIB * DISK_STEP_MIB
        return self._free_mib

    def take_scorer(self, state: ScorerState, now: int) -> None:
        """Learn whether the scorer is there, and where else its broker may be."""
        self.scorer.take(state, now)
        if self._brokers:
            self._brokers.take(state, now)

    def due(self, now: int) -> None:
        """Send again what should have a receipt by now, and say that the table is there."""
        if not self.connected:
            return
        if self._brokers:
            self._brokers.due(now, silent=self.scorer.silent(now))
        if self.facts.overdue(now) and not self.service.unknown:  # all waits until an arbiter has accepted this device
            self.facts.resend(now)
        if self._ask_at and now >= self._ask_at:
            self.greet()
        if now >= self._beat_at:
            self._beat_at = now + BEAT_S * SECOND_NS
            config, device, start = self._config, self._journal.device, self._journal.start
            beat = Beat(
                id=uuid.uuid4().hex,
                event=config.event,
                table=config.table,
                device=device,
                start=start,
                at=self._wall(),
                disk_mib=self.disk_mib(),
                celsius=board_celsius(),
            )
            topic = topics.BEAT.at(config.event, table=config.table)
            self.link.publish(topic, encode(beat), retain=topics.BEAT.retain)
