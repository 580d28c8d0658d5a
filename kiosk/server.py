"""The scorer and the desk, seen from a table: when a plan is accepted, and whether this device serves the table."""

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
from kiosk.table import BETWEEN_PLAYS, PREPARING, QUIET, Phase, Table, events, gives_way, may_renew
from kiosk.upgrade import TableUpgrade
from kiosk.uplink import MIB, RESEND_NS, SECOND_NS, Brokers, OpenLink, Uplink, open_table_link, state_message

log = get_logger("homologue.kiosk")

ID_SHOWN: Final = 8
"""Characters of a device's id that people compare at the table and the desk."""

ServiceChange = Literal["back", "repeat_state", ""]
"""What a message changes: we serve the table again; we are to repeat our state; nothing."""


class ServiceStatus:
    """Whether this device serves its table. It does until told otherwise, as a table plays on offline."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._served: Served | None = None
        self._greeted = False

    @property
    def served_elsewhere(self) -> bool:
        """Whether another device serves the table."""
        return self._served is not None and self._served.device not in (None, self._device)

    @property
    def unknown(self) -> bool:
        """Whether an arbiter must accept this device before the scorer takes its facts."""
        return self._served is not None and self._served.unknown == self._device

    @property
    def calls_before(self) -> int | None:
        """How many open calls are older than this table's; None if it has none, or the number is unknown."""
        return self._served.calls_before if self._served and not self.served_elsewhere else None

    @property
    def arbiter_coming(self) -> bool:
        """Whether an arbiter is on the way to this table's call."""
        return self._served is not None and self._served.arbiter_coming and not self.served_elsewhere

    @property
    def upgrade_by_hand(self) -> UpgradeState | None:
        """The answer to an upgrade offer when the program was started by hand: refused."""
        offer = self._served.upgrade if self._served else None
        return UpgradeState(version=offer.version, step="refused", percent=0, code="upgrade_by_hand") if offer else None

    def take(self, served: Served) -> ServiceChange:
        """Accept the scorer's message; return what it changes."""
        was_elsewhere, refused = self.served_elsewhere, self._served.refused if self._served else None
        was_unknown = self.unknown
        self._served = served
        if self.served_elsewhere:
            return ""
        if was_elsewhere or (was_unknown and not self.unknown):
            return "back"
        return "repeat_state" if served.unseen or served.refused not in (None, refused, self._device) else ""

    def may_greet(self) -> bool:
        """Return whether to send our state on a new connection. A refused device does so once, then only if asked."""
        first, self._greeted = not self._greeted, True
        return first or not self.served_elsewhere


class ScorerWatch:
    """Whether the scorer is there. The broker can run without it, but then no fact is stored."""

    def __init__(self) -> None:
        self._heard: int | None = None
        """When the scorer was last heard, or when we connected since; None if never. Monotonic ns."""

    def connected(self, now: int) -> None:
        """Start waiting for the scorer, which gets the usual time to say that it is there. `now` is in monotonic ns."""
        self._heard = now

    def take(self, state: ScorerState, now: int) -> None:
        """Note that the scorer is there. A last will does not count, as it does not say when the scorer was there."""
        if state.lifecycle == "active":
            self._heard = now

    def silent(self, now: int) -> bool:
        """Return whether the scorer has been silent for too long."""
        return self._heard is not None and now - self._heard >= SILENT_S * SECOND_NS


def plan_content(plan: Assignment) -> tuple[object, ...]:
    """Return the parts of a plan that matter to a table."""
    session = plan.session and (plan.session.round, plan.session.players)
    content = plan.store, plan.profile, plan.rules, plan.plays, plan.public_address, plan.keep_plays
    return *content, plan.repeats, plan.minutes, plan.onward, plan.settled, session


def may_take_plan(offered: Assignment, table: Table, store: str | None) -> bool:
    """Return whether a plan may be taken now. It never is before a receipt of the same store.

    Our facts are numbered after those that the store has. A broker may hold the plan of a rehearsal, so a play whose
    trays are only being laid gives way to the plan of another store, or to one that drops it or has other players
    there.
    """
    if offered.store != store:
        return False
    had, phase = table.assignment, table.phase
    other = had is not None and had.store != offered.store
    return phase in BETWEEN_PLAYS or (
        (phase is Phase.RESTORING and other)
        or (phase in PREPARING and not other and (gives_way(table, offered) or may_renew(table, offered)))
    )


def first_unplayed(plan: Assignment, played: Collection[tuple[int, int]]) -> int:
    """Return the index of the first play in the plan that neither we (`played`: round, deal) nor the scorer have."""
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
    """Return a message, or the code if it is refused. `event_key`, if given, must have signed receipts and PINs."""
    try:
        message = decode_on_topic(incoming.topic, incoming.payload)[1]
    except Refused as refused:
        return None, refused.code
    if event_key is None or not isinstance(message, Receipt | ArbiterPin):
        return message, None
    return (message, None) if is_signed_by(event_key, incoming.payload, message.signature) else (None, UNPROVEN)


class ServerLink:
    """A table's communication with the scorer and the desk. It is silent while another device serves the table."""

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
        """Open the link. `state` returns the table and its PIN mark; `link` replaces the network in tests.

        Incoming messages go to `tell`, from the link's thread. `wall` returns ms since 1970.
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
        """When to send the next beat (monotonic ns)."""
        self._ask_at: int | None = None
        """When to ask for the scorer's current state (monotonic ns)."""
        self._latest: dict[type[Message], tuple[int, int]] = {}
        """Term and number of the last message of each type since we asked the scorer: its answer is never stale."""
        self._free_mib: int | None = None
        self.upgrade: TableUpgrade | None = None
        """None if the program was started by hand, and so is not upgraded."""
        self.connected = False
        """Whether the loop has handled the event that the link is up; the link itself knows slightly earlier."""
        self._logged_why = ""
        """Why there is no connection, as logged last."""
        self._plan: Assignment | None = None
        """A plan that may not be taken yet."""
        self._last_plan: tuple[object, ...] | None = None
        self._lifecycle: Lifecycle = "ready"

    @property
    def served_elsewhere(self) -> bool:
        """Whether another device serves the table."""
        return self.service.served_elsewhere

    def stop(self) -> None:
        """Tell the scorer that the table is leaving, and disconnect."""
        self._lifecycle = "disconnected"
        if not self.served_elsewhere:
            self.facts.publish(self.state_message)
        self.link.flush(2.0)
        self.link.stop()

    def state_message(self) -> TableState:
        """Return the message with the table's state."""
        state, pin = self._state()
        refused = {"refused": self.facts.refused[-1][1]} if self.facts.refused else {}
        health = {**self._health.codes, **refused}
        lifecycle: Lifecycle = "alert" if health and self._lifecycle == "ready" else self._lifecycle
        health |= people_health(state)  # faults of people do not put the device on alert
        message = state_message(self._config, self._journal, state, lifecycle, self.facts.unsent, health, pin)
        return replace(message, upgrade=self.upgrade.state if self.upgrade else self.service.upgrade_by_hand)

    def publish(self) -> None:
        """Publish the table's state if it has changed."""
        if self.connected and not self.served_elsewhere:
            self.facts.publish(self.state_message)

    def greet(self) -> None:
        """Publish the table's state, changed or not; the scorer answers with its plan."""
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
        """Ask the scorer to check a PIN, signed by this device; return whether it can be asked now."""
        if not (self.connected and self.link.up) or self.scorer.silent(now):
            return False
        event, table, device = self._config.event, self._config.table, self._journal.device
        given = PinGiven(id=uuid.uuid4().hex, event=event, table=table, device=device, session=session, sealed=sealed)
        topic, signed = topics.PIN_GIVEN, self._journal.key.sign(given)
        self.link.publish(topic.at(event, table=table), encode(signed), retain=topic.retain)
        return True

    def link_changed(self, change: LinkChanged, now: int) -> None:
        """Handle a change of the connection."""
        self.connected = change.up
        if change.why and str(change.why) != self._logged_why:
            log.warning(change.why.code, why=str(change.why))
        self._logged_why = str(change.why)
        if isinstance(change.why, LinkRefused):
            self._health.set("broker", change.why.code)
        if change.up:
            self._latest.clear()  # another broker's scorer may have an older store
            self._health.set("broker", None)
            self.scorer.connected(now)
            self._beat_at = now  # a standby counts the tables that come to it
            if self._brokers:
                self._brokers.connected()
            if self.service.may_greet():
                self.greet()
                self.facts.reconnected(now)

    def read(self, incoming: Incoming, now: int) -> Message | None:
        """Return the decoded message, or None if it is outdated or unreadable (which is reported in the health)."""
        message, code = read_message(incoming, self._config.event_key)
        self._health.set("wire", code)
        if isinstance(message, Served | ArbiterPin):
            order = message.term, message.seq
            if message.term and order < self._latest.get(type(message), order):
                self._ask_soon(now)
                return None
            self._latest[type(message)] = order
        return message

    def take_receipt(self, message: Receipt | Kept, now: int) -> None:
        """Accept a receipt, or records to keep. If the scorer's store has changed, ask for its current state."""
        before = self._journal.store
        self.facts.take(message, now)
        if before not in (None, self._journal.store):
            self._ask_soon(now)

    def _ask_soon(self, now: int) -> None:
        """Ask soon for the scorer's state, as a broker may deliver unacknowledged messages after newer ones."""
        self._ask_at = self._ask_at or now + RESEND_NS

    def take_served(self, served: Served, now: int) -> None:
        """Accept whether this device serves its table. Unsent facts wait in the journal until it does."""
        was_elsewhere, change = self.served_elsewhere, self.service.take(served)
        self._health.set(f"key-{self._journal.device[:ID_SHOWN]}", "device_unknown" if self.service.unknown else None)
        if self.served_elsewhere and not was_elsewhere:
            log.warning(OTHER_DEVICE, table=self._config.table, device=served.device)
        if change:
            self.greet()
        if change == "back" and self.connected:
            self.facts.reconnected(now)
        if self.upgrade is not None:
            self.upgrade.take(served.upgrade)

    def take_plan(self, plan: Assignment, now: int) -> None:
        """Hold a plan until it may be taken, and ask again in case it is outdated.

        If it brings anything new, resend facts that were refused: they may fit it.
        """
        content = plan_content(plan)
        if self._last_plan not in (None, content):
            self.facts.reconnected(now)
            self._ask_soon(now)
        self._plan, self._last_plan = plan, content

    def due_plan(self, table: Table, now: int) -> events.Assigned | None:
        """Return the event that takes the waiting plan, if it may be taken now and has anything new."""
        plan = self._plan
        if plan is None or not may_take_plan(plan, table, self._journal.store):
            return None
        if table.assignment is not None and plan_content(table.assignment) == plan_content(plan):
            self._plan = None
            return None
        return events.Assigned(at=now, assignment=plan, first=first_unplayed(plan, self._journal.results()))

    def plan_taken(self, code: str | None) -> None:
        """Note whether the plan was accepted. If the disk was full, it is tried again."""
        if code != JournalFull.code:
            self._plan = None
            self._health.set("plan", code)

    def disk_mib(self) -> int:
        """Return the disk's free space, in steps. In a quiet phase it does not change."""
        if self._free_mib is None or self._state()[0].phase not in QUIET:
            self._free_mib = self._journal.room // MIB // DISK_STEP_MIB * DISK_STEP_MIB
        return self._free_mib

    def take_scorer(self, state: ScorerState, now: int) -> None:
        """Note whether the scorer is there, and where else its broker may be."""
        self.scorer.take(state, now)
        if self._brokers:
            self._brokers.take(state, now)

    def due(self, now: int) -> None:
        """Resend what should have a receipt by now, and send the beat."""
        if not self.connected:
            return
        if self._brokers:
            self._brokers.due(now, silent=self.scorer.silent(now))
        if self.facts.overdue(now) and not self.service.unknown:  # all wait until an arbiter accepts this device
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
