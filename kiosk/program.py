"""The program of one table. Threads put events on a queue; a single loop changes the state and shows the result."""

import queue
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from msgspec.structs import replace as replace_fields

from broker.logs import get_logger
from broker.protocol import (
    ArbiterPin,
    Assignment,
    Counted,
    CountRequest,
    Kept,
    LogMessage,
    Order,
    Receipt,
    ScorerState,
    Served,
    wall_clock_ms,
)
from broker.protocol.link import Incoming, LinkChanged
from firmware.reports import Health, Held, NotScanned, Pressed, Released, Report, Scanned, TooShort
from kiosk.arbiter_pin import TablePin
from kiosk.camera.observations import (
    CameraHealth,
    CameraReport,
    CameraTarget,
    HandObservation,
    LaidObservation,
    PictureObservation,
    TableObservation,
)
from kiosk.config import Config, KioskSettings
from kiosk.counting.desk import AnyForm, CountDesk
from kiosk.errors import JournalFull, JournalNewer
from kiosk.input import Keyboard, TableButtons
from kiosk.journal import OTHER_DEVICE, JournaledTable, TableJournal
from kiosk.keeping import KEEP_KEY, KeepDesk, Keeping
from kiosk.restoring import RestoringDesk
from kiosk.screens import (
    CallView,
    ElsewhereView,
    ScreenView,
    screen_view,
    with_counting,
    with_keeping,
    with_riichi,
    with_time_left,
)
from kiosk.self_test import SELF_TEST_KEY, CheckBoard, SelfTestRun, begins_a_day, check_board
from kiosk.server import ServerLink, first_unplayed
from kiosk.status import (
    BUTTONS,
    CAMERA,
    LATE_PRESS,
    SCREEN,
    DeviceHealth,
    TableMetrics,
    TableNumbers,
    TableStatus,
    time_of_day,
)
from kiosk.table import IDLE, QUIET, Event, NotNow, Phase, Table, active_guards, arbiter, events
from kiosk.upgrade import TableUpgrade
from kiosk.uplink import OpenLink


class CameraTasks:
    """The tasks of one table that use its camera, one at a time. Each has its keys, and follows the table's state.

    `apply` applies an event and returns the code if it was refused; `board` examines the board.
    """

    def __init__(
        self,
        config: Config,
        journal: TableJournal,
        state: Table,
        ask_count: Callable[[CountRequest], None],
        health: DeviceHealth,
        apply: Callable[[Event], str | None],
        board: CheckBoard,
    ) -> None:
        self._health, self._apply, self._board = health, apply, board
        self._scanner = config.devices.scanner is not None
        self.self_test: SelfTestRun | None = None
        self.restoring = RestoringDesk(journal, config.event, state.play)
        self.counting = CountDesk(config.event, config.table, ask_count)
        self.keeping: KeepDesk | None = None

    def observed(self, item: CameraReport) -> None:
        """Pass the camera's observation to its task."""
        match item:
            case events.TrayChecked():
                self.restoring.observed(item)
                self._apply(item)
            case TableObservation():
                self.restoring.observed(item)
            case HandObservation():
                self.counting.observe(item)
            case LaidObservation() if self.keeping is not None:
                self.keeping.observe(item)
            case PictureObservation() if self.self_test is not None:
                self.self_test.observe(item)

    def reported(self, report: Report | TooShort, now: int) -> bool:
        """Offer a report to the self-test; return whether it is for the self-test only."""
        return self.self_test is not None and self.self_test.take(report, now)

    def scanned(self, report: Scanned | NotScanned, state: Table, now: int) -> None:
        """Handle a scan, which only counts while walls are being restored."""
        play = state.play if state.phase is Phase.RESTORING else None
        if play is not None and (look := self.restoring.scanned(report, play, now)):
            self._apply(look)

    def answered(self, message: Counted) -> None:
        """Handle the scorer's answer about a hand, or about a play that is being kept."""
        self.counting.take(message)
        if self.keeping is not None:
            self.keeping.take(message)

    def sent(self, state: Table, facts: Iterable[LogMessage]) -> None:
        """Follow an event that was accepted, and the facts it produced."""
        self.restoring.follow(state)
        if self.keeping is not None:
            self.keeping.sent(facts)

    def follow(self, state: Table, form: AnyForm | None, now: int) -> None:
        """Follow the table and the form being filled in; save what has to outlast a power cut."""
        if state.self_test != "running":
            self.self_test = None
        else:
            health = self._health.codes
            if self.self_test is None:
                hides = state.phase in QUIET
                self.self_test = SelfTestRun(now, health, self._board, scanner=self._scanner, hides=hides)
            self.self_test.follow(health)
        if self.keeping is not None:
            self.keeping.follow(state)
            self.keeping = None if self.keeping.over else self.keeping
        if self.counting.open:
            self.counting.follow(state, form)
        self.restoring.save()

    def key(self, key: str, state: Table, now: int) -> Event | str | bool:
        """Return the event of a key pressed in the self-test or during restoring, or the code of a refusal.

        True means that one of them used the key, False that neither did.
        """
        if self.self_test is not None:
            tested = self.self_test.key(key, now)
            if tested is not False:
                return tested
        elif key == SELF_TEST_KEY and state.phase in IDLE:
            return events.SelfTestBegun(at=now, asked=True)
        if state.phase is not Phase.RESTORING:
            return False
        return self.restoring.key(key, state, self._health.codes.get(CAMERA), now)

    def keys_for_form(self, key: str, state: Table, form: AnyForm | None, now: int) -> tuple[str, ...]:
        """Return the keys that the form gets for one: none if keeping a play uses it, more after counting a hand."""
        if self.keeping is not None:
            if self.keeping.key(key, now):
                return ()
        elif key == KEEP_KEY and state.play is not None and self.may_keep(state):
            self.keeping = KeepDesk(state.play, self._apply)
            return ()
        typed = self.counting.key(key, state, form, now)
        return (key,) if typed is None else typed

    def may_keep(self, state: Table) -> bool:
        """Return whether keeping the play may begin."""
        return state.may_keep and not state.paused and CAMERA not in self._health.codes and self.keeping is None

    def target(self, state: Table) -> CameraTarget | None:
        """Return the camera's target: None while tiles are being played, or while restoring is stopped by a guard.

        A tray is reported only once, and would be refused then.
        """
        if self.self_test is not None:
            return self.self_test.camera_target
        if state.phase is Phase.RESTORING:
            return None if active_guards(state) else state.play
        return self.counting.camera_target or (self.keeping.now.target if self.keeping is not None else None)


log = get_logger("homologue.kiosk")

Item = Incoming | LinkChanged | CameraReport | Report | TooShort
"""What other threads put on the queue."""


class TableProgram:
    """The loop of one table. It is given its devices, and does not know which kind they are."""

    def __init__(
        self,
        settings: KioskSettings,
        journal: TableJournal,
        clock: Callable[[], int] = time.monotonic_ns,
        time_of_day: Callable[[], str] = time_of_day,
        link: OpenLink | None = None,
        board: CheckBoard = check_board,
        wall: Callable[[], int] = wall_clock_ms,
    ) -> None:
        """Open the table. `link` and `board` replace network and board in tests; `clock` is in ns, `wall` in ms."""
        config, self._clock, self._wall = settings.config, clock, wall
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        last = journal.last_event_ms
        self._table = self._open_table(journal)
        self._table.restarted(clock())
        self._health = DeviceHealth()
        pin = TablePin.of(
            settings, journal.device, lambda nonce, sealed: self._server.ask_pin(nonce, sealed, self._clock())
        )
        self._keyboard = Keyboard(self._apply, pin, journal)
        self._server = ServerLink(
            settings, journal, self._health, lambda: (self.state, self._keyboard.pin), self._queue.put, wall, link
        )
        self.metrics = TableMetrics(self._server.disk_mib)
        self._upgrade = self._server.upgrade = TableUpgrade.of(settings, clock())
        self._buttons = TableButtons(self.state.since)
        self._tasks = CameraTasks(config, journal, self.state, self._server.ask_count, self._health, self._apply, board)
        self._status = TableStatus(config, journal, time_of_day)
        if settings.tested_daily and begins_a_day(self.state, last, wall()):
            self._apply(events.SelfTestBegun(at=clock()))
        if self.state.arbiter is not None and self.state.arbiter_session is None:
            self._apply(events.ArbiterLeft(at=clock()))  # let in by an older program, without a session
        self._health.set("facts", self._table.unexpected)
        self._follow()

    def _open_table(self, journal: TableJournal) -> JournaledTable:
        """Return the table of a journal. Events that cannot be replayed are set aside.

        The table then continues from its last plan, and facts are sent as before.
        """
        try:
            return JournaledTable(journal, self._wall, self._clock())
        except JournalNewer as newer:
            log.warning(JournalNewer.code, why=str(newer))
        plan = journal.last_plan()
        journal.set_events_aside()
        table = JournaledTable(journal, self._wall, self._clock())
        if plan is not None and plan.session is not None:
            session = journal.standing(plan.session)
            plan = replace_fields(plan, session=session) if session else None
        if plan is not None:
            first = first_unplayed(plan, journal.results())
            with suppress(NotNow):  # the plan may have rules that only the newer program knows
                table.apply(events.Assigned(at=self._clock(), assignment=plan, first=first))
        table.begun_again = True
        return table

    # ---- called by other threads ------------------------------------------------------------

    def report(self, report: Report | TooShort) -> None:
        """Queue a report from a device, even of a pulse too short for a finger. Called by the devices' threads."""
        self._queue.put(report)

    def observe(self, item: CameraReport) -> None:
        """Queue a report from the camera. Called by the camera's thread."""
        self._queue.put(item)

    # ---- the loop ---------------------------------------------------------------------------

    @property
    def state(self) -> Table:
        """The table's current state."""
        return self._table.state

    @property
    def keeping(self) -> Keeping | None:
        """What has been read of the play so far, while it is being kept."""
        return self._tasks.keeping.now if self._tasks.keeping is not None else None

    def start(self) -> None:
        """Start to connect."""
        self._server.link.start()

    def stop(self) -> None:
        """Tell the scorer that the table is leaving, and disconnect."""
        self._server.stop()

    @property
    def leaves(self) -> bool:
        """Whether the program is to end so that another version can start."""
        return self._upgrade is not None and self._upgrade.leaves

    def step(self, timeout: float) -> None:
        """Handle everything queued, waiting up to `timeout` seconds for the first item; then do what is due."""
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
                self._server.link_changed(item, self._clock())
            case Pressed() | Released() | Held() | Health() | Scanned() | NotScanned() | TooShort():
                if not self._tasks.reported(item, self._clock()):
                    self._reported(item)
            case CameraHealth(code=code):
                self._health.camera(code, self._clock())
            case _:
                self.metrics.looks += 1
                self._tasks.observed(item)

    def _reported(self, report: Report | TooShort) -> None:
        """Handle a report from a device on the table."""
        match report:
            case Pressed() | Released() | Held():
                event = self._buttons.event(report, self.state, self._clock())
                if event is not None and self._apply(event) == LATE_PRESS:
                    self._health.set(f"press-{report.seat}", LATE_PRESS)
            case Health():
                self._health.report(report, self.state.phase)
                if report.part == BUTTONS:
                    self._buttons.health(report.code, self._clock())
            case Scanned() | NotScanned():
                self._tasks.scanned(report, self.state, self._clock())

    def _apply(self, event: Event) -> str | None:
        """Apply one event; return the code of a refusal, or None. Every change of state goes through here."""
        if self._server.served_elsewhere:
            return OTHER_DEVICE
        if self._table.held:
            return self._table.hold(event)
        before = self.state.public, self.state.self_test
        try:
            with self._tasks.restoring.with_draft():
                facts = self._table.apply(event)
        except NotNow as refusal:
            return refusal.code
        except JournalFull:
            return self._table.hold(event)
        if (self.state.public, self.state.self_test) != before:
            self._buttons.screen_changed(self._clock())
            self._health.state_changed(self.state)
        self._tasks.sent(self.state, facts)
        self._server.send(facts, self._clock())
        self._health.set("facts", self._table.unexpected)
        return None

    def _message(self, incoming: Incoming) -> None:
        """Handle a message from the scorer or the desk; an unreadable one is dropped."""
        match self._server.read(incoming, self._clock()):
            case Receipt() | Kept() as message:
                self._server.take_receipt(message, self._clock())
            case Assignment() as message:
                self._server.take_plan(message, self._clock())
            case Counted() as message:
                self._tasks.answered(message)
            case ScorerState() as message:
                self._server.take_scorer(message, self._clock())
            case Served() as message:
                self._server.take_served(message, self._clock())
            case Order() as message:
                self._apply(arbiter.event_of_order(message, self._clock()))
            case ArbiterPin() as message:
                self._keyboard.take_pin(message, self.state, self._clock())
        incoming.acknowledge()

    def _due(self, now: int) -> None:
        if self._table.check_due(now):
            self._check_disk(now)
        self._health.due(now)
        if self._upgrade is not None:
            self._upgrade.due(self.state.phase, now, well=self._server.connected and SCREEN not in self._health.codes)
        if self._server.served_elsewhere:
            return
        self._keyboard.idle(self.state, now)
        if self._tasks.counting.open:
            self._tasks.counting.due(now)
        if self._buttons.may_close(self.state, now):
            self._apply(events.ClaimWindowElapsed(at=now, asks=True))
        if (plan := self._server.due_plan(self.state, now)) is not None:
            self._server.plan_taken(self._apply(plan))
        self._server.due(now)

    def _check_disk(self, now: int) -> None:
        """Check the card, and apply held events if there is room.

        While another device serves the table, they would be refused and lost, so they wait for this one.
        """
        code = self._table.check_disk(now)
        self._health.set("disk", code)
        if code != JournalFull.code and not self._server.served_elsewhere:
            for event in self._table.release():
                if self._buttons.accepts(event, self.state):  # a repeated press must not answer a new question
                    self._apply(event)

    def _follow(self) -> None:
        """Update all that depends on the state: the keyboard's form, the tasks, the published state and the metrics."""
        self._keyboard.follow(self.state)
        self._tasks.follow(self.state, self._keyboard.filled_in, self._clock())
        self._server.publish()
        self.metrics.follow(self._numbers())

    def _numbers(self) -> TableNumbers:
        facts = self._server.facts
        return TableNumbers(
            self.state.phase,
            self.state.public,
            self._server.connected,
            facts.unsent,
            len(facts.refused),
            self.metrics.looks,
            self._health.codes,
            self._table.writes.snapshot(),
        )

    def key(self, key: str) -> None:
        """Handle a key, as offered by the screen. While another device serves the table, Enter asks to serve it."""
        if self._server.served_elsewhere:
            if key == "enter":
                self._server.greet()
            return
        now, keyboard = self._clock(), self._keyboard
        hidden = keyboard.panel is not None or self.state.paused  # otherwise the digits of a PIN would tick rows
        if hidden and self._tasks.self_test is None:
            keyboard.key(key, self.state, now)
        elif not self._act_on(self._tasks.key(key, self.state, now)):
            for one in self._tasks.keys_for_form(key, self.state, keyboard.filled_in, now):
                keyboard.key(one, self.state, now)
        self._follow()

    def _act_on(self, result: Event | str | bool) -> bool:  # noqa: FBT001 - a task's answer to a key
        """Act on a task's answer to a key: an event, a refusal's code, or nothing. Return whether it was used."""
        if isinstance(result, bool):
            return result
        self._keyboard.problem = (result or None) if isinstance(result, str) else self._apply(result)
        return True

    # ---- what is shown ----------------------------------------------------------------------

    @property
    def camera_target(self) -> CameraTarget | None:
        """The camera's target; None while tiles are being played, or while another device serves the table."""
        return None if self._server.served_elsewhere else self._tasks.target(self.state)

    def view(self) -> ScreenView:
        """Return the view for the screen."""
        server, service, now = self._server, self._server.service, self._clock()
        silent = server.scorer.silent(now)
        line = self._status.line(server.facts, self._health, connected=server.connected, scorer_silent=silent)
        if service.served_elsewhere:
            return ScreenView(self._status.table, ElsewhereView(self.state.public), line, light=self.state.light)
        keys, tasks = self._keyboard, self._tasks
        view = screen_view(
            self._status.table, self.state, keys.form, line, keys.problem, keys.panel, tasks.restoring.now
        )
        count = tasks.counting.view(now, up=server.connected)
        asks_pin = keys.panel is not None and keys.panel.ask == "pin"
        wait_s = arbiter.pin_wait_s(self.state, now) if asks_pin else 0
        view = replace(view, unproven=keys.unproven(self.state), pin_wait_s=wait_s)
        view = with_counting(with_time_left(view, self.state, now), count, tasks.counting.discarder_key)
        view = with_keeping(view, self.keeping, offered=tasks.may_keep(self.state))
        view = self._status.with_receipt(view, self.state, self._server.facts)
        view = with_riichi(view, self.state, keys.riichi.form, self._status.scores)
        if view.call and server.connected:
            view = replace(view, call=CallView(service.calls_before, service.arbiter_coming))
        self_test = tasks.self_test.view if tasks.self_test is not None else None
        return replace(view, self_test=self_test, light=self.state.light)
