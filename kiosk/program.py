"""One table's program: threads put events on one queue, one loop alone changes state and shows what follows."""

import logging
import queue
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from broker.protocol import ArbiterPin, Assignment, Counted, Lifecycle, Order, Receipt, Served, TableState
from broker.protocol.link import Incoming, LinkChanged, LinkRefused
from firmware.hardware.inventory import HardwareTrouble
from firmware.presses import TooShort
from firmware.reports import Health, Held, NotScanned, Pressed, Released, Report, Scanned
from kiosk import restoring
from kiosk.camera.observations import (
    CameraHealth,
    CameraReport,
    CameraTarget,
    HandObservation,
    PictureObservation,
    TableObservation,
)
from kiosk.config import KioskSettings
from kiosk.core import HeldEvents, JournaledTable, disk_problem, next_disk_check
from kiosk.counting.desk import CountDesk
from kiosk.errors import JournalFull
from kiosk.input import ButtonInput, Keyboard, WindowClosing
from kiosk.journal import TableJournal
from kiosk.restoring import Restoring, RestoringDraft
from kiosk.screens import (
    ScreenView,
    StatusLine,
    planned_riichi_view,
    screen_view,
    session_view,
    with_restoring,
    with_time_left,
)
from kiosk.self_test import SelfTestDesk, begins_a_day, look_at_board
from kiosk.status import (
    BUTTONS,
    CAMERA,
    LATE_PRESS,
    DeviceHealth,
    ReceiptCodes,
    people_health,
    program_version,
    state_message,
    time_of_day,
)
from kiosk.table import (
    SETTLE_NS,
    Assigned,
    ButtonPressed,
    ClaimWindowElapsed,
    Event,
    NotNow,
    Phase,
    SelfTestBegun,
    Table,
    TrayChecked,
    arbiter,
)
from kiosk.uplink import (
    OTHER_DEVICE,
    ServiceStatus,
    TableConnection,
    Uplink,
    first_unplayed,
    may_take_plan,
    open_table_link,
    plan_content,
    read_message,
    send_count_request,
)

log = logging.getLogger("homologue.kiosk")

Item = Incoming | LinkChanged | CameraReport | Report | TooShort
"""What other threads put on the queue."""


class TableProgram:
    """The loop of one table. Devices are given to it; it never asks which kind they are."""

    def __init__(
        self,
        settings: KioskSettings,
        journal: TableJournal,
        clock: Callable[[], int] = time.monotonic_ns,
        time_of_day: Callable[[], str] = time_of_day,
        link: Callable[[Callable[[Incoming | LinkChanged], None]], TableConnection] | None = None,
        board: Callable[[], Iterable[HardwareTrouble]] = look_at_board,
    ) -> None:
        """Take what stands in for the wire where there is none (it is given what to tell of), and for the board."""
        self._config, self._journal, self._clock, self._time_of_day = settings.config, journal, clock, time_of_day
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._core = JournaledTable(journal, lambda: time.time_ns() // 1_000_000)
        last = journal.last_wall
        self._core.restarted(clock())
        self._duty, self._receipts = ServiceStatus(journal.device), ReceiptCodes(journal)
        self._link: TableConnection = (
            link(self._queue.put) if link else open_table_link(settings, journal, self.state, self._queue.put)
        )
        self._uplink = Uplink(journal, self._link, self._config.event, self._config.table)
        self._offered: Assignment | None = None
        self._heard: tuple[object, ...] | None = None
        """What the plan said that came last."""
        self._keyboard, self._touch, self._closing = (
            Keyboard(self._apply, settings.pin(), journal),
            ButtonInput(),
            WindowClosing(),
        )
        self._count = CountDesk(self._config.event, self._config.table, partial(send_count_request, self._link))
        self._health = DeviceHealth()
        self._test = SelfTestDesk(scanner=settings.config.devices.scanner is not None, board=board)
        self._bench_kept, self._bench_of = RestoringDraft(journal), self._core.state.play
        self._bench = self._bench_kept.reopened(self._bench_of)
        self._shown_at = self._core.state.since
        """When the screen last asked for something else: a box may have kept presses from before a restart."""
        self._connected = False
        """Whether the loop has taken in that the link is up; the link itself knows it a moment earlier."""
        self._why = ""
        """Why there is no connection, as it was logged last."""
        self._lifecycle: Lifecycle = "ready"
        self._look_at_disk, self._stalled = clock(), HeldEvents()
        if settings.tested_daily and begins_a_day(self.state, last, time.time_ns() // 1_000_000):
            self._apply(SelfTestBegun(at=clock()))
        self._follow()

    # ---- from other threads -----------------------------------------------------------------

    def tell(self, report: Report | TooShort) -> None:
        """Take in what a device on the table reports, pulses too short for a finger too; from the devices' threads."""
        self._queue.put(report)

    def seen(self, item: CameraReport) -> None:
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
        if not self._duty.elsewhere:
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
                self._health.say(CAMERA, code)
            case TrayChecked() | TableObservation() | HandObservation() | PictureObservation():
                self._saw(item)
            case _:
                if not self._test.take(item, self._clock()):
                    self._reported(item)

    def _saw(self, seen: TrayChecked | TableObservation | HandObservation | PictureObservation) -> None:
        """Take in what the camera sees."""
        match seen:
            case TrayChecked():
                self._bench = restoring.with_tray_look(self._bench, seen)
                self._apply(seen)
            case TableObservation():
                self._bench = restoring.with_observation(self._bench, seen, self._config.event)
            case HandObservation():
                self._count.saw(seen)
            case PictureObservation():
                self._test.saw(seen)

    def _reported(self, report: Report | TooShort) -> None:
        """Take in what a device on the table reports."""
        match report:
            case Pressed() | Released() | Held():
                self._touched(report)
            case Health():
                self._health.report(report, self.state.phase)
                if report.part == BUTTONS:
                    self._closing.health(report.code, self._clock())
            case Scanned() | NotScanned():
                self._scanned(report)

    def _scanned(self, report: Scanned | NotScanned) -> None:
        """Answer a scan while walls are restored; what is scanned at other times is nobody's question."""
        if (play := self.state.play) is None or self.state.phase is not Phase.RESTORING:
            return
        scanned = restoring.with_scan(self._bench, report, play, self._config.event)
        self._bench, look = restoring.completed_tray(scanned, play, self._clock())
        if look is not None:
            self._apply(look)

    def _touched(self, report: Pressed | Released | Held) -> None:
        """Take in what a finger does. Where one speaks that was in time, others may still be on their way."""
        closes_at = self.state.closes_at
        if closes_at is not None and report.at < closes_at:
            self._closing.heard(self._clock())
        event = self._touch.event(report, self.state.phase)
        if isinstance(event, ButtonPressed) and self._unseen(event):
            return
        if event is not None and self._apply(event) == LATE_PRESS:
            self._health.say(f"press-{report.seat}", LATE_PRESS)

    def _unseen(self, press: ButtonPressed) -> bool:
        """Whether who pressed had not seen what is asked now: a slow device must not make a hu of a confirmation.

        What was pressed in a claim window that is closed by now is the table's to judge.
        """
        closed_at = self.state.closed_at
        return press.at < self._shown_at + SETTLE_NS and (closed_at is None or press.at >= closed_at)

    def _apply(self, event: Event) -> str | None:
        """Take one event in; return the code if it was not to be."""
        if self._duty.elsewhere:
            return OTHER_DEVICE
        if self._stalled.waiting:
            return self._stalled.hold(event)
        before = self.state.public, self.state.self_test
        try:
            with self._bench_kept.beside(self._bench, self._bench_of):
                facts = self._core.apply(event)
        except NotNow as refusal:
            return refusal.code
        except JournalFull:
            return self._stalled.hold(event)
        if (self.state.public, self.state.self_test) != before:
            self._shown_at = self._clock()
            self._health.moved(self.state)
        if self._bench_of != self.state.play:
            self._bench, self._bench_of = Restoring(), self.state.play
        self._uplink.send(facts, self._clock())
        return None

    def _message(self, incoming: Incoming) -> None:
        """Messages on our topics come from the scorer and the desk; what cannot be read is dropped, never obeyed."""
        message, code = read_message(incoming)
        self._health.say("wire", code)
        match message:
            case Receipt():
                self._uplink.settle(message)
            case Assignment():
                self._plan_came(message)
            case Counted():
                self._count.take(message)
            case Served():
                self._served_came(message)
            case Order():
                self._apply(arbiter.event_of_order(message, self._clock()))
            case ArbiterPin():
                self._keyboard.take_pin(message)
        incoming.acknowledge()

    def _served_came(self, served: Served) -> None:
        """Learn whether this device still serves its table; what it has not sent waits in its journal until it does."""
        was_elsewhere = self._duty.elsewhere
        news = self._duty.hear(served)
        if self._duty.elsewhere and not was_elsewhere:
            log.warning("%s: table %s is served by %s", OTHER_DEVICE, self._config.table, served.device)
        if news:
            self._uplink.say(self._now, again=True)
        if news == "back":
            self._uplink.reconnected(self._clock())

    def _plan_came(self, plan: Assignment) -> None:
        """Keep a plan until it may be taken; one that says something new may have room for what was refused."""
        heard = plan_content(plan)
        if self._heard not in (None, heard):
            self._uplink.reconnected(self._clock())
        self._offered, self._heard = plan, heard

    def _link_changed(self, change: LinkChanged) -> None:
        self._connected = change.up
        if change.why and str(change.why) != self._why:
            log.warning("%s: %s", change.why.code, change.why)
        self._why = str(change.why)
        if isinstance(change.why, LinkRefused):
            self._health.say("broker", change.why.code)
        if change.up:
            self._health.say("broker", None)
            if self._duty.greet():
                self._uplink.say(self._now, again=True)
                self._uplink.reconnected(self._clock())

    def _due(self, now: int) -> None:
        self._see_to_disk(now)
        if self._duty.elsewhere:
            return
        self._keyboard.idle(self.state, now)
        self._count.due(now)
        closes_at = self.state.closes_at
        if closes_at is not None and self._closing.may_close(closes_at, now, down=self.state.finger_down):
            self._apply(ClaimWindowElapsed(at=now))
        if self._offered and may_take_plan(self._offered, self.state, self._journal.store):
            self._assign(self._offered, now)
        if self._connected and self._uplink.overdue(now):
            self._uplink.resend(now)

    def _see_to_disk(self, now: int) -> None:
        """Look at the card by the clock alone: what is said of it tells of no press. Then take in what waited.

        While another device serves the table it would be refused, and lost: it waits until this one serves again.
        """
        if now < self._look_at_disk:
            return
        code = disk_problem(self._journal)
        self._look_at_disk = next_disk_check(code, now)
        self._health.say("disk", code)
        if code != JournalFull.code and not self._duty.elsewhere:
            for event in self._stalled.taken():
                self._apply(event)

    def _assign(self, offered: Assignment, now: int) -> None:
        self._offered = None
        had = self.state.assignment
        if had is not None and plan_content(had) == plan_content(offered):
            return
        code = self._apply(Assigned(at=now, assignment=offered, first=first_unplayed(offered, self._journal.results())))
        if code == JournalFull.code:
            self._offered = offered
        else:
            self._health.say("plan", code)

    def _follow(self) -> None:
        """What follows from the state: the form at the keyboard, and what the table says of itself."""
        self._test.follow(self.state, self._health.codes, self._clock())
        self._keyboard.follow(self.state)
        self._count.follow(self.state, self._keyboard.filled_in)
        self._bench_kept.follow(self._bench, self._bench_of)
        if self._connected and not self._duty.elsewhere:
            self._uplink.say(self._now)

    def key(self, key: str) -> None:
        """Take one key in. Where another device serves the table, Enter asks to be let in."""
        if self._duty.elsewhere:
            if key == "enter":
                self._uplink.say(self._now, again=True)
            return
        if not self._of_test(key) and not self._at_the_bench(key):
            now, panel = self._clock(), self._keyboard.panel
            typed = None if panel else self._count.key(key, self.state, self._keyboard.filled_in, now)
            for one in (key,) if typed is None else typed:
                self._keyboard.key(one, self.state, now)
        self._follow()

    def _of_test(self, key: str) -> bool:
        """Do what a key does in the self-test; return whether it was the test's."""
        does = self._test.key(key, self.state, self._clock())
        if not isinstance(does, bool):
            self._keyboard.problem = self._apply(does)
        return bool(does)

    def _at_the_bench(self, key: str) -> bool:
        """Do what a key does while walls are restored; return whether it does anything then."""
        if self.state.phase is not Phase.RESTORING:
            return False
        does = restoring.press_restoring_key(self._bench, key, self.state, self._clock())
        if isinstance(does, Restoring):
            allowed = does.showing != "hand" or restoring.may_tick(self.state, self._health.codes.get(CAMERA))
            self._bench = does if allowed else self._bench
            self._keyboard.problem = None if allowed else restoring.CAMERA_READS
        elif does is not None:
            self._keyboard.problem = self._apply(does)
        return does is not None

    # ---- what is seen and said --------------------------------------------------------------

    @property
    def looked_for(self) -> CameraTarget | None:
        """What the camera is to look at: nothing while tiles are played with."""
        if self._test.shown is not None:
            return self._test.looked_for
        return self.state.play if self.state.phase is Phase.RESTORING else self._count.looked_for

    def shown(self) -> ScreenView:
        """Return what is to be seen."""
        health = tuple(f"{device}: {code}" for device, code in sorted(self._health.codes.items()))
        line = StatusLine(
            self._link.up,
            self._uplink.unsent,
            len(self._uplink.refused),
            health,
            self._time_of_day(),
            program_version(),
        )
        if self._duty.elsewhere:
            return ScreenView(table=self._config.table, state=self.state.public, line=line, elsewhere=True)
        now = screen_view(
            self._config.table, self.state, self._keyboard.form, line, self._keyboard.problem, self._keyboard.panel
        )
        now = replace(with_restoring(now, self.state, self._bench), self_test=self._test.shown)
        now = with_time_left(self._receipts.with_code(now, self.state), self.state, self._clock())
        now = replace(now, count=self._count.shown(self._clock(), up=self._link.up), told=self._count.told)
        if now.calling and self._link.up:
            now = replace(now, calls_before=self._duty.calls_before, arbiter_coming=self._duty.arbiter_coming)
        session, form = self.state.session, self._keyboard.riichi.form
        if session is None:
            return replace(now, alone=planned_riichi_view(self.state, form)) if self.state.alone else now
        return replace(now, session=session_view(self.state, session, form, self._config.screen.scores))

    def _now(self) -> TableState:
        """What the table says of itself."""
        refused = {"refused": self._uplink.refused[-1][1]} if self._uplink.refused else {}
        health = {**self._health.codes, **refused}
        unwell: Lifecycle = "alert" if health and self._lifecycle == "ready" else self._lifecycle
        told = {**health, **people_health(self.state)}  # what they did makes no device unwell
        return state_message(
            self._config, self._journal, self.state, unwell, self._uplink.unsent, told, self._keyboard.pin
        )
