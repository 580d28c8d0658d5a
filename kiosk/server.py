"""The scorer and the desk as one table sees them: which plan is taken when, and whether this device serves the table.

Also where the event's broker may be: at the scorer's machine, or at that of its standby once that has taken over. The
scorer says where its standby is, and the table keeps that: a table that is started while the first machine is gone
finds the other one. Nobody has to be believed for it, as only the event's broker has the event's certificate.
"""

import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from broker.files import write_private
from broker.logs import get_logger
from broker.protocol import (
    BEAT_S,
    DISK_STEP_MIB,
    SILENT_S,
    Assignment,
    Beat,
    Lifecycle,
    LogMessage,
    Message,
    ScorerState,
    Served,
    TableState,
    UpgradeState,
    encode,
    topics,
    wall_clock_ms,
)
from broker.protocol.link import Incoming, Link, LinkChanged, LinkRefused, Place
from firmware.hardware.inventory import board_celsius
from kiosk.config import Config
from kiosk.errors import DeviceUnknown, JournalFull, UpgradeByHand
from kiosk.journal import OTHER_DEVICE, TableJournal
from kiosk.status import DeviceHealth, people_health
from kiosk.table import (
    BETWEEN,
    LAYING,
    QUIET,
    Assigned,
    Phase,
    Table,
    gives_way,
    may_renew,
)
from kiosk.upgrade import TableUpgrade
from kiosk.uplink import MIB, SECOND_NS, TableConnection, Uplink, read_message, state_message

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
        configured = link.place
        self._places = self._read() or [configured]
        if configured not in self._places:
            self._places = [configured, *self._places]  # the device was paired, or configured, again
        self._known = list(self._places)
        link.begin_at(*self._places)

    def _read(self) -> list[Place]:
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self._file.read_bytes(), type=list[Place])
        return []

    def connected(self) -> None:
        """Remember where the broker is."""
        self._gone_since = None
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
        self._gone_since = None if not gone else now if self._gone_since is None else self._gone_since
        if moved := _place(state.moved):
            self._remember(moved)
            self._link.move(moved)
        elif standby := _place(state.standby):
            self._remember(self._link.place, standby)
            self._link.reach(*self._places)

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


log = get_logger("homologue.kiosk")

ID_SHOWN: Final = 8
"""Characters of a device's id that people compare at table and desk."""

ServiceChange = Literal["back", "say_again", ""]
"""We serve the table again; we say again how we stand, as another device has spoken or it is not known; nothing."""


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
        """How many open calls are older than the table's own; None if there is none, or that is not known."""
        return self._served.calls_before if self._served and not self.elsewhere else None

    @property
    def arbiter_coming(self) -> bool:
        """Whether an arbiter is on the way to the table's call."""
        return self._served is not None and self._served.arbiter_coming and not self.elsewhere

    @property
    def upgrade_by_hand(self) -> UpgradeState | None:
        """What is said of another version that is offered where the program was started by hand."""
        offer = self._served.upgrade if self._served else None
        return (
            UpgradeState(version=offer.version, step="refused", percent=0, code=UpgradeByHand.code) if offer else None
        )

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
        self.upgrade: TableUpgrade | None = None
        """None: the program was started by hand, and stays."""
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
        return replace(message, upgrade=self.upgrade.state if self.upgrade else self.service.upgrade_by_hand)

    def publish(self) -> None:
        """Publish the table's state where it has changed."""
        if self.connected and not self.elsewhere:
            self.facts.publish(self.state_message)

    def greet(self) -> None:
        """Say how the table stands, whether or not that is new."""
        if self.connected:
            self.facts.publish(self.state_message, again=True)

    def send(self, facts: Collection[LogMessage], now: int) -> None:
        """Send new facts; without a connection they wait for the next one."""
        if self.connected:
            self.facts.send(facts, now)
        elif facts:
            self.facts.count()

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

    def read(self, incoming: Incoming) -> Message | None:
        """Return what the scorer or the desk says; what cannot be read is told as the link's health, and dropped."""
        message, code = read_message(incoming, self._config.event_key)
        self._health.say("wire", code)
        return message

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
        if change == "back" and self.connected:
            self.facts.reconnected(now)
        if self.upgrade is not None:
            self.upgrade.take(served.upgrade)

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
