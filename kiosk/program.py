"""One table's program: threads put events on one queue, one loop alone changes state and shows what follows."""

import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable
from typing import Final

from broker.contract import topics
from broker.contract.link import Incoming, Link, LinkChanged, LinkRefused, Will
from broker.contract.messages import Assignment, Order, Receipt, TableState
from broker.contract.wire import Refused, decode_at, encode
from broker.contract.words import Lifecycle
from firmware.reports import Health, Held, NotScanned, Pressed, Released, Report, Scanned
from kiosk.closing import Closing
from kiosk.config import Settings
from kiosk.core import Core
from kiosk.errors import DiskLow
from kiosk.eyes import CameraHealth
from kiosk.journal import Journal
from kiosk.keyboard import Keyboard
from kiosk.screens.shown import QUIET, Line, Shown, shown
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    Assigned,
    ButtonPressed,
    ClaimWindowElapsed,
    Event,
    Ordered,
    TrayChecked,
)
from kiosk.table.machine import BETWEEN
from kiosk.table.state import SETTLE_NS, Phase, Table
from kiosk.today import hours_and_minutes, version
from kiosk.touch import Touch
from kiosk.uplink import Uplink

log = logging.getLogger("homologue.kiosk")

DISK_EVERY_NS: Final = 30_000_000_000

ENOUGH_ROOM: Final = 100_000_000
"""Bytes: a day's journal takes less than one hundredth of it."""


TOLD_LATE: Final = "press_told_late"
"""Somebody's declaration was lost, and the arbiter must hear of it."""

CONTACT: Final = "contact-"
"""How the health of one seat's contact is named: pulses come where a finger moves, so it waits for the play's end."""

BUTTONS: Final = "buttons"
"""The part of the health that is all four buttons'."""

Item = Incoming | LinkChanged | TrayChecked | CameraHealth | Report
"""What other threads put on the queue."""


class Program:
    """The loop of one table. Devices are given to it; it never asks which kind they are."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        clock: Callable[[], int] = time.monotonic_ns,
        time_of_day: Callable[[], str] = hours_and_minutes,
    ) -> None:
        self._config, self._journal, self._clock, self._time_of_day = settings.config, journal, clock, time_of_day
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._core = Core(journal, lambda: time.time_ns() // 1_000_000)
        self._core.restarted(clock())
        self._link = self._make_link(settings)
        self._uplink = Uplink(journal, self._link, self._config.event, self._config.table)
        self._offered: Assignment | None = None
        self._heard: tuple[object, ...] | None = None
        """What the plan said that came last."""
        self._keyboard, self._touch, self._closing = Keyboard(self._apply), Touch(), Closing()
        self._health: dict[str, str] = {}
        self._waiting: dict[str, str | None] = {}
        """What is known of contacts, and told when the play is over."""
        self._shown_at = self._core.state.since
        """When the screen last asked for something else: a box may have kept presses from before a restart."""
        self._why = ""
        """Why there is no connection, as it was logged last."""
        self._lifecycle: Lifecycle = "ready"
        self._look_at_disk = clock()

    def _make_link(self, settings: Settings) -> Link:
        name, table = self._config.event, self._config.table
        will = Will(topics.STATE.at(name, table=table), encode(self._stands("lost", 0, {})))
        return Link(
            settings.address(),
            client_id=f"homologue-{name}-table-{table}",
            topics=[topic.at(name, table=table) for topic in (topics.RECEIPT, topics.ASSIGNMENT, topics.ORDER)],
            tell=self._queue.put,
            will=will,
        )

    # ---- from other threads -----------------------------------------------------------------

    def tell(self, report: Report) -> None:
        """Take in what a device on the table reports; from the devices' threads."""
        self._queue.put(report)

    def seen(self, item: TrayChecked | CameraHealth) -> None:
        """Take in what the camera says; from the eyes' thread."""
        self._queue.put(item)

    # ---- the loop ---------------------------------------------------------------------------

    @property
    def state(self) -> Table:
        """The table as it stands."""
        return self._core.state

    def start(self) -> None:
        """Begin to connect."""
        self._link.start()

    def stop(self) -> None:
        """Say that we go, and go."""
        self._lifecycle = "disconnected"
        self._uplink.say(self._now)
        self._link.flush(2.0)
        self._link.stop()

    def step(self, timeout: float) -> None:
        """Take in what has happened, then see what is due."""
        try:
            item: Item | None = self._queue.get(timeout=timeout)
        except queue.Empty:
            item = None
        while item is not None:
            self._take(item)
            item = None if self._queue.empty() else self._queue.get()
        self._due(self._clock())
        self._follow()

    def _take(self, item: Item) -> None:
        match item:
            case Incoming():
                self._message(item)
            case LinkChanged():
                self._link_changed(item)
            case CameraHealth(code=code):
                self._healthy("camera", code)
            case TrayChecked():
                self._apply(item)
            case _:
                self._reported(item)

    def _reported(self, report: Report) -> None:
        """Take in what a device on the table reports."""
        match report:
            case Pressed() | Released() | Held():
                self._touched(report)
            case Health(part=part, code=code) if part.startswith(CONTACT) and self.state.phase in QUIET:
                self._waiting[part] = code
            case Health(part=part, code=code):
                self._healthy(part, code)
                if part == BUTTONS:
                    self._closing.health(code, self._clock())
            case Scanned() | NotScanned():
                pass  # nothing here asks for scans yet

    def _touched(self, report: Pressed | Released | Held) -> None:
        """Take in what a finger does. Where one speaks that was in time, others may still be on their way."""
        closes_at = self.state.closes_at
        if closes_at is not None and report.at < closes_at:
            self._closing.heard(self._clock())
        event = self._touch.event(report, self.state.phase)
        if isinstance(event, ButtonPressed) and self._unseen(event):
            return
        if event is not None and self._apply(event) == TOLD_LATE:
            self._healthy(f"press-{report.seat}", TOLD_LATE)

    def _unseen(self, press: ButtonPressed) -> bool:
        """Whether who pressed had not seen what is asked now: a slow device must not make a hu of a confirmation.

        What was pressed in a claim window that is closed by now is the table's to judge.
        """
        closed_at = self.state.closed_at
        return press.at < self._shown_at + SETTLE_NS and (closed_at is None or press.at >= closed_at)

    def _healthy(self, what: str, code: str | None) -> None:
        """Remember what is wrong with a part of the device; None: nothing."""
        self._health.pop(what, None)
        if code:
            self._health[what] = code

    def _apply(self, event: Event) -> str | None:
        """Take one event in; give the code if it was not to be."""
        before = self.state.public
        try:
            facts = self._core.apply(event)
        except NotNow as refusal:
            return refusal.code
        if self.state.public != before:
            self._shown_at = self._clock()
            self._forget_told_late()
            self._tell_what_waited()
        self._uplink.send(facts, self._clock())
        return None

    def _forget_told_late(self) -> None:
        """A press that was told late has been seen by the arbiter when trays are laid again."""
        if self.state.phase is Phase.RESTORING:
            self._health = {part: code for part, code in self._health.items() if code != TOLD_LATE}

    def _tell_what_waited(self) -> None:
        """Tell how contacts are: it cannot tell of a press any more."""
        for part, code in self._waiting.items():
            self._healthy(part, code)
        self._waiting.clear()

    def _message(self, incoming: Incoming) -> None:
        """Messages on our topics come from the scorer and the desk; what cannot be read is dropped, never obeyed."""
        try:
            _, message = decode_at(incoming.topic, incoming.payload)
        except Refused as refused:
            self._healthy("wire", refused.code)
        else:
            self._healthy("wire", None)
            if isinstance(message, Receipt):
                self._uplink.settle(message)
            elif isinstance(message, Assignment):
                self._plan_came(message)
            elif isinstance(message, Order):
                given = Ordered(at=self._clock(), seq=message.seq, command=message.command, minutes=message.minutes)
                self._apply(given)
        incoming.acknowledge()

    def _plan_came(self, plan: Assignment) -> None:
        """Keep a plan until it may be taken; one that says something new may have room for what was refused."""
        content = _content(plan)
        if self._heard not in (None, content):
            self._uplink.reconnected(self._clock())
        self._offered, self._heard = plan, content

    def _link_changed(self, change: LinkChanged) -> None:
        if change.why and str(change.why) != self._why:
            log.warning("%s: %s", change.why.code, change.why)
        self._why = str(change.why)
        if isinstance(change.why, LinkRefused):
            self._healthy("broker", change.why.code)
        if change.up:
            self._healthy("broker", None)
            self._uplink.say(self._now, again=True)
            self._uplink.reconnected(self._clock())

    def _due(self, now: int) -> None:
        closes_at = self.state.closes_at
        if closes_at is not None and self._closing.may_close(closes_at, now, down=self.state.finger_down):
            self._apply(ClaimWindowElapsed(at=now))
        if self._offered and self._may_assign(self._offered):
            self._assign(self._offered, now)
        if self._link.up and self._uplink.overdue(now):
            self._uplink.resend(now)
        if now >= self._look_at_disk:
            self._look_at_disk = now + DISK_EVERY_NS
            self._healthy("disk", DiskLow.code if self._journal.room < ENOUGH_ROOM else None)

    def _may_assign(self, offered: Assignment) -> bool:
        """Take no plan before the receipt of the same store: our facts are numbered after those that it has.

        A broker may keep the plan of a rehearsal. So a play for which staff only lay trays gives way to the plan of
        another store; any other play is finished first.
        """
        if offered.store != self._journal.store:
            return False
        had, phase = self.state.assignment, self.state.phase
        return phase in BETWEEN or (phase is Phase.RESTORING and had is not None and had.store != offered.store)

    def _assign(self, offered: Assignment, now: int) -> None:
        self._offered = None
        had = self.state.assignment
        if had is None or _content(had) != _content(offered):
            here, there = self._journal.results(), set(offered.recorded)
            left = (
                at
                for at, one in enumerate(offered.plays)
                if one.round not in there and (one.round, one.deal) not in here
            )
            first = next(left, len(offered.plays))
            code = self._apply(Assigned(at=now, assignment=offered, first=first))
            self._healthy("plan", code)

    def _follow(self) -> None:
        """What follows from the state: the form at the keyboard, and what the table says of itself."""
        self._keyboard.follow(self.state)
        if self._link.up:
            self._uplink.say(self._now)

    def key(self, key: str) -> None:
        """Take one key in."""
        self._keyboard.key(key, self.state, self._clock())
        self._follow()

    # ---- what is seen and said --------------------------------------------------------------

    def shown(self) -> Shown:
        """Give what is to be seen."""
        health = tuple(f"{device}: {code}" for device, code in sorted(self._health.items()))
        line = Line(
            self._link.up, self._uplink.unsent, len(self._uplink.refused), health, self._time_of_day(), version()
        )
        return shown(self._config.table, self.state, self._keyboard.form, line, self._keyboard.problem)

    def _now(self) -> TableState:
        """What the table says of itself."""
        refused = {"refused": self._uplink.refused[-1][1]} if self._uplink.refused else {}
        health = {**self._health, **refused}
        unwell: Lifecycle = "alert" if health and self._lifecycle == "ready" else self._lifecycle
        return self._stands(unwell, self._uplink.unsent, health)

    def _stands(self, lifecycle: Lifecycle, unsent: int, health: dict[str, str]) -> TableState:
        state = self.state
        return TableState(
            id=uuid.uuid4().hex,
            event=self._config.event,
            table=self._config.table,
            seq=self._journal.last_seq,
            device=self._journal.device,
            start=self._journal.start,
            count=0,
            lifecycle=lifecycle,
            state=state.public,
            round=state.play.round if state.play else None,
            deal=state.play.deal if state.play else None,
            unsent=unsent,
            calling=state.calling,
            paused=state.paused,
            ordered=state.ordered,
            health=health,
        )


def run(program: Program, stop: threading.Event, each_round: Callable[[], None]) -> None:
    """Work until told to stop: 30 rounds a second, faster when something happens."""
    program.start()
    try:
        while not stop.is_set():
            program.step(timeout=1 / 30)
            each_round()
    finally:
        program.stop()


def _content(plan: Assignment) -> tuple[object, ...]:
    """Give what of a plan matters to a table."""
    return plan.store, plan.profile, plan.rules, plan.plays
