"""The scorer: takes messages in batches, commits them, and only then acknowledges and publishes.

One thread alone changes state. The link's thread and the desk only put messages and requests into the inbox; requests
are answered in turn, between batches.
"""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar

from broker.errors import ScorerBusy, ScorerError, ScorerReplaced, StoreLost
from broker.event import Event, read_devices
from broker.halls.centre import AcceptedRow, Centre
from broker.halls.link import FromCentre, HallLink, addresses_of
from broker.protocol import (
    PLAN_DECISIONS,
    CheckedIn,
    CountRequest,
    KeptBack,
    LetIn,
    LogMessage,
    PinGiven,
    PlanChanged,
    Refused,
    Result,
    RiichiRecorded,
    RiichiTakenBack,
    Ruled,
    Ruling,
    TableState,
    TilesLaid,
    open_event_key,
)
from broker.protocol.link import Address, Incoming, LinkChanged
from broker.rulings import plan
from broker.rulings.service import RulingService
from broker.scorer.access import PinCheck, PinChecker
from broker.scorer.alerts import Concern, concern_of_hall
from broker.scorer.dashboard import VIEW_PAUSE_S, Dashboard
from broker.scorer.hall_rows import FactsAtCentre, adopt, note_judged, pass_over, rows_of_halls
from broker.scorer.homes import with_second_home
from broker.scorer.intake import IntakeVerdict
from broker.scorer.kept_plays import PlayFinder
from broker.scorer.lease import Lease, keep_lease, kept_lease, new_lease
from broker.scorer.live_event import LOG_ENDS, LiveEvent, WireLog
from broker.scorer.publisher import Publisher
from broker.scorer.snapshot import Snapshot
from broker.scorer.space import DiskSpace
from broker.scorer.standby import Peer, StandbyWatch
from broker.scorer.state import EventState
from broker.scorer.stored_event import ELSEWHERE, JournalContent, read_journal
from broker.scorer.view import ViewFeed
from broker.store import (
    DESK,
    JUDGED_FROM,
    BackupReport,
    Decided,
    Fault,
    Journal,
    LogHead,
    SecondHome,
    WitnessLine,
    anchor_text,
    gc_paused,
)

PLAN_CHANGING: Final = (Result, Ruled, RiichiRecorded, RiichiTakenBack)
"""Facts after which a table may have something else to play."""

EVENT_KEY: Final = "event_key"
"""Key under which the store has the event's public key."""

T = TypeVar("T")

PATIENCE_S = 10.0
"""How long the desk waits for an answer."""


class PendingCall(Generic[T]):
    """A request to the scorer's thread, and a future for its answer."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.answer: Future[T] = Future()

    def do(self, refusal: ScorerError | None = None) -> Callable[[], None]:
        """Do the work, or refuse it. Return a function that delivers the answer, for use once the result is visible.

        Unexpected exceptions are set on the future and also raised, to whoever runs the scorer.
        """
        if not self.answer.set_running_or_notify_cancel():
            return lambda: None
        try:
            if refusal:
                raise refusal
            return partial(self.answer.set_result, self._work())
        except (Refused, ScorerError) as refused:
            return partial(self.answer.set_exception, refused)
        except BaseException as broken:
            self.answer.set_exception(broken)
            raise

    def wait(self) -> T:
        """Wait for the answer. Raises ScorerBusy, or the error with which the scorer refuses."""
        try:
            return self.answer.result(PATIENCE_S)
        except TimeoutError:
            if self.answer.cancel():
                raise ScorerBusy("the scorer is busy: nothing was done, try again") from None
            raise ScorerBusy("the scorer is slow to answer: look whether it was done before you try again") from None


class OwnCall(PendingCall[None]):
    """A request from one of the scorer's own threads. Nobody waits for it, and nobody would repeat it."""


Arrival = Incoming | LinkChanged | FromCentre | Concern | PendingCall[Any]
"""Anything that can be put into the scorer's inbox."""

MOST_AT_ONCE: Final = 500
"""Most messages in one commit."""

MOST_BYTES: Final = 500_000
"""Limit of the message bytes in one commit, which the last message may exceed: halls send many rows in each."""


class Inbox(queue.SimpleQueue[Arrival]):
    """The queue of the scorer's thread: any thread may put something in, and it is taken out in batches."""

    def next_batch(self, timeout: float) -> list[Arrival]:
        """Return what is waiting, or the first arrival within `timeout` seconds."""
        try:
            batch = [self.get(timeout=timeout)]
        except queue.Empty:
            return []
        size = _size(batch[0])
        while len(batch) < MOST_AT_ONCE and size < MOST_BYTES and not self.empty():
            batch.append(self.get())
            size += _size(batch[-1])
        return batch


def _size(arrival: Arrival) -> int:
    return len(arrival.payload) if isinstance(arrival, Incoming) else 0


class Scorer:
    """One event's scorer: accepts messages, has them recorded and applied, and publishes the consequences.

    `clock` returns the wall clock in ms, which is only recorded, for people to read. `seconds` is a monotonic clock,
    which paces publishing in large events.
    """

    log_head: Callable[[], LogHead] = LogHead
    """Returns the last entry of the desk's audit log."""

    @gc_paused()
    def __init__(
        self,
        event: Event,
        journal: Journal,
        folder: Path,
        clock: Callable[[], int],
        seconds: Callable[[], float] = time.monotonic,
        space: DiskSpace | None = None,
        home: SecondHome | None = None,
    ) -> None:
        self._journal, self._clock, self._seconds, self._space = journal, clock, seconds, space
        self._inbox = Inbox()
        found: list[Concern] = []
        stored = with_second_home(journal, read_journal(journal, event), home, found.extend)
        if stored.judged_from is None:
            with journal.commit():
                journal.remember(JUDGED_FROM, str(len(stored.messages)))
        key = open_event_key(folder)
        pins = PinChecker(lambda check, right: self._post(partial(self._found_pin, check, right=right)))
        self.live = LiveEvent(
            event,
            journal,
            stored,
            folder,
            key,
            pins,
            clock=clock,
            seconds=seconds,
            changed=self._tables_changed,
            back=self._count_again,
        )
        self.live.alerts.note(found)
        self.live.set_aside(stored.faults)
        self.publisher = Publisher(self.live, folder, key, clock, seconds, self.anchor)
        self.publisher.lease = kept_lease(journal) or new_lease()
        self._plays = PlayFinder(folder, self.state, journal, self.publisher.counted, self._post, seconds)
        self._plays.answers = self.live.centre is None
        if hall := self.live.hall:
            self._at_centre = FactsAtCentre(hall, journal, self.live.intake.books, seconds)
            self.publisher.centre_has = self._at_centre.of
            if not journal.remembered(ELSEWHERE):  # the event stays a hall's, even if its file is lost
                with journal.commit():
                    journal.remember(ELSEWHERE, "[]")
        self._note_key()
        self.rulings = RulingService(event, self.state, journal, self.live.intake, clock, self._ruled, self.live.judged)
        self.rulings.known = partial(self.live.homes.numbers.given, DESK)
        self.dashboard = Dashboard(self.live, self.anchor, seconds)
        self.standby, self._leaving = StandbyWatch(lambda: journal.height, seconds), False
        self._put_off: list[Incoming | OwnCall] = []
        """Messages and calls that came while the standby was taking over. They are handled here if it does not."""
        journal.follow(self._committed)
        self._begin(event, folder, stored)

    def _note_key(self) -> None:
        """Alert the arbiters if the event's key has changed: tables that know the old key reject any other."""
        known, key = self._journal.remembered(EVENT_KEY).get("", ""), self.publisher.key.public
        if known == key:
            return
        if known:
            self.live.alerts.note((Concern("event_key_changed"),))
        with self._journal.commit():
            self._journal.remember(EVENT_KEY, key)

    def _begin(self, event: Event, folder: Path, stored: JournalContent) -> None:
        """Write the current standings, and admit the devices that the organiser has listed."""
        self.live.alerts.note((*self.live.homes.missing(), *filter(None, self.publisher.write_standings())))
        self._plays.load(one for one in stored.messages if isinstance(one, LogMessage))  # whole plays have none
        self.live.devices.admit_listed(one for one in read_devices(folder) if one.table in event.tables)

    def anchor(self) -> str:
        """Return the anchor of what is stored now. Any later change to that would give a different anchor."""
        return anchor_text(self.state.planned.name, self._journal.last_link(), self.log_head())

    # ---- for the desk, from any thread ------------------------------------------------------

    @property
    def state(self) -> EventState:
        """The event's state, computed from its journal alone."""
        return self.live.state

    @property
    def feed(self) -> ViewFeed:
        """The desk's view, whenever it changes."""
        return self.dashboard.feed

    @property
    def snapshot(self) -> Snapshot:
        """All plays, as the desk may show them now."""
        return self.dashboard.snapshot

    @property
    def wire(self) -> WireLog:
        """The log of recent messages."""
        return self.live.wire

    def report_backup(self, report: BackupReport, of: Literal["backup", "second_home"] = "backup") -> None:
        """Alert the arbiters that copies of the event, or the second home of rulings, fail or work again."""
        self.report(Concern(f"{of}_resumed" if report.well else f"{of}_failed", values={"text": report.text}))

    def report(self, concern: Concern) -> None:
        """Alert the arbiters to something that was done at the desk."""
        self._inbox.put(concern)

    def recall(self, past: Iterable[tuple[int, Concern]]) -> None:
        """Load alerts of desk actions from before this scorer's start, with timestamps (ms). Call it before `run`."""
        self.live.alerts.load(past)
        self.dashboard.changed(set())
        self.dashboard.show()

    @property
    def waiting(self) -> int:
        """Number of messages waiting to be handled, including those for which the disk has no room."""
        return self._inbox.qsize() + (len(self._space.waiting) if self._space else 0)

    @property
    def tables_heard(self) -> int:
        """Number of tables heard from, or heard from before this scorer was started and possibly still there."""
        return self.live.devices.liveness.there

    @property
    def begun(self) -> bool:
        """Whether any table has reported a fact."""
        return any(book.taken for book in self.live.intake.books.values())

    def ask(self, work: Callable[[], T]) -> T:
        """Run `work` on the scorer's thread, and wait for the result. Raises ScorerBusy.

        When this returns, its decisions are in the second home too; if they could not be written there, there is an
        alert.
        """
        call = PendingCall(work)
        self._inbox.put(call)
        answer = call.wait()
        self.live.homes.wait()
        self.standby.wait()
        return answer

    def pin_changed(self) -> None:
        """Tell all tables that the PIN for arbiters has changed, without revealing anything else about it."""
        for table in self.live.intake.books:
            self.publisher.pin(table)
        self.dashboard.changed()

    # ---- the loop ---------------------------------------------------------------------------

    def connect(self, address: Address, lease: Lease | None = None) -> None:
        """Connect to the broker as the event's only scorer."""
        lease = lease or new_lease()
        keep_lease(self._journal, lease)
        self.publisher.lease = lease
        self.publisher.connect(address, self._inbox.put)
        if hall := self.live.hall:
            folder = self.publisher.folder
            hall.connect(addresses_of(folder, hall.centre), folder, self._inbox.put)

    def run(self, stop: threading.Event, each_round: Callable[[], None] = lambda: None) -> None:
        """Work until `stop` is set. Any failure of the store ends it, since nothing may be acknowledged unstored.

        `each_round` may raise, which ends it as well: it checks what the scorer cannot do without.
        """
        try:
            while not stop.is_set():
                each_round()
                self._journal.check()
                self.step(timeout=0.2)
        except StoreLost:
            self.publisher.forget()  # another scorer may be active now, so its file must stay
            raise
        finally:
            self.publisher.hurry()
            self.live.alerts.note(self.publisher.standings_if_due(whole=True))
            self.live.pins.close()
            self._plays.close()
            self.publisher.close()
            if self.live.hall:
                self.live.hall.close()

    def step(self, timeout: float) -> None:
        """Handle the messages that have arrived, in one commit, and publish the consequences."""
        self._look()
        if self.publisher.busy:
            timeout = 0.0
        batch = self._inbox.next_batch(min(timeout, VIEW_PAUSE_S) if self.dashboard.due.waiting else timeout)
        if self._put_off and not self._leaving:
            batch, self._put_off = [*self._put_off, *batch], []
        if batch:
            self._handle(batch)
        else:
            self._publish_standings()
            self.dashboard.show_if_due()
        for table in sorted(self.live.homes.due):
            self.publisher.kept(table)
        self.live.homes.due.clear()
        self.publisher.publish_again()
        if self.live.hall:
            self.live.hall.step()
            self._at_centre.tell(self.publisher.receipt)
        self.publisher.halls()

    def _look(self) -> None:
        """Send the heartbeat, and check what nobody reports. Raises ScorerReplaced if the standby has taken over."""
        now = self._seconds()
        found = self._follow_standby(self.standby.peer) if self.standby.peer else []
        if self._plays.unwritten:
            self._plays.look()
        self.publisher.beat(now)
        found += self.live.look(now)
        if self._space and (level := self._space.look()) != self.dashboard.disk:
            self.dashboard.disk = level
            found.append(Concern(f"scorer_disk_{level}"))
        if found:
            self.live.alerts.note(found)
            self._publish_alerts()
            self.dashboard.changed({one.table for one in found if one.table})
        if changed := bool(self.live.centre and self.live.centre.reload_list()):
            self._take([])  # commits it for the scorer that takes over
        if changed or found:
            self.dashboard.show()
        if self._space and (released := self._space.released()):
            self._take(released)

    def _follow_standby(self, peer: Peer) -> list[Concern]:
        """Publish the standby's address to tables, and return new alerts about it.

        Raises ScorerReplaced once it is the active scorer.
        """
        self._leaving = self.standby.leaving
        if self.standby.left(settled=not self._inbox.qsize()):
            self.publisher.moved = self.publisher.standby
            raise ScorerReplaced("the standby has taken over: this one writes no more")
        self.publisher.place_standby(peer.broker)
        return self.standby.concerns()

    def _handle(self, batch: Iterable[Arrival]) -> None:
        self._hear_of_links(batch)
        self.live.alerts.note(one for one in batch if isinstance(one, Concern))
        incoming = [one for one in batch if isinstance(one, Incoming) and not self.publisher.is_of_a_scorer(one)]
        calls = [one for one in batch if isinstance(one, PendingCall)]
        if self._leaving:  # tables resend their messages, to the standby
            self._put_off += [*incoming, *(call for call in calls if isinstance(call, OwnCall))]
            incoming, calls = [], [call for call in calls if not isinstance(call, OwnCall)]
        self._take(incoming)
        busy = ScorerBusy("the standby takes over: go to its desk") if self._leaving else None
        answers = [call.do(busy) for call in calls]
        if answers:
            self.dashboard.due.hurry()  # the arbiter who has ruled looks at the result at once
        if answers or self.publisher.large:
            self.dashboard.show()  # nobody should wait while thousands of lines are written
        for answer in answers:
            answer()
        self._publish_standings()
        self._publish_alerts()
        self.dashboard.show()

    def _hear_of_links(self, batch: Iterable[Arrival]) -> None:
        for change in batch:
            if isinstance(change, LinkChanged):
                self._connection_changed(change)
            elif isinstance(change, FromCentre) and self.live.hall:
                self._take_word(self.live.hall, change)

    def _take_word(self, hall: HallLink, news: FromCentre) -> None:
        """Handle a message from the centre. Deals that are over in all halls become public."""
        hall.receive(news)
        self.live.alerts.note(concern_of_hall(code) for code in hall.news)
        hall.news.clear()
        released, hall.released = hall.released, None
        if released is None or released == self.state.elsewhere:
            return
        with self._journal.commit():
            self._journal.remember(ELSEWHERE, json.dumps(sorted(released)))
        self.publisher.plays_changed(self.state.release(released))
        self.publisher.standings_due.ask()
        self.dashboard.changed()

    def _take(self, batch: list[Incoming]) -> None:
        """Accept a batch of messages: from tables or, at the centre, from halls."""
        live, centre = self.live, self.live.centre
        if self._space:
            batch = self._space.admit(batch)
        if centre is None:
            self._take_facts(batch)
            return
        facts, decided = list[Incoming](), list[AcceptedRow]()
        for row in rows_of_halls(centre, batch, live.alerts.note):
            if isinstance(row, Incoming):
                live.alerts.note(adopt(centre, decided, self.rulings, live.devices))
                facts.append(row)
                continue
            self._take_facts(facts)
            facts = []
            decided.append(row)
            if isinstance(row.record, Ruling):  # the next one may refer to this ruling
                live.alerts.note(adopt(centre, decided, self.rulings, live.devices))
        live.alerts.note(adopt(centre, decided, self.rulings, live.devices))
        self._take_facts(facts, centre)
        new = pass_over(centre, live.intake, self._journal, live.state.planned.name, self._clock())
        self.publisher.plays_changed({deal for one in new for deal in live.state.pass_over(*one, live.judged)})
        self.dashboard.changed({table for table, _ in new})

    def _take_facts(self, batch: list[Incoming], centre: Centre | None = None) -> None:
        """Judge, commit, acknowledge, answer: in this order. `centre`: also commit how far its halls have been read."""
        if not batch and not (centre and centre.has_unstored):
            return
        now = self._clock()
        verdicts = self.live.take(batch, now, centre)
        if self.live.centre:
            note_judged(self.live.centre, verdicts)
        for one in batch:
            one.acknowledge()
        self._answer(verdicts, now)
        self.wire.metrics.answered((one for one in batch if one.topic.endswith(LOG_ENDS)), time.monotonic())
        for verdict in verdicts:
            if isinstance(verdict.message, KeptBack) and not verdict.code:
                self.live.alerts.note(self.live.homes.come_back(verdict.message))

    def _post(self, work: Callable[[], None]) -> None:
        """Run something on the scorer's thread. Called from any other thread."""
        self._inbox.put(OwnCall(work))

    def _found_pin(self, check: PinCheck, *, right: bool) -> None:
        """Record whether a PIN is right, answer the table that asked, and judge the messages that waited for it."""
        self.live.access.found(check, right=right)
        self.publisher.pin(check.table)
        self._take(self.live.pins.released(check.table))

    def report_faults(self, faults: Sequence[Fault]) -> None:
        """Handle faults found in the store while the scorer runs. Its results come from memory and do not change."""
        self._post(partial(self._found, faults))

    def _found(self, faults: Sequence[Fault]) -> None:
        known = {(fault.height, fault.code) for fault in self._journal.set_aside()}
        new = [fault for fault in faults if (fault.height, fault.code) not in known]
        self.live.set_aside(new)
        self.dashboard.changed({fault.table for fault in new if fault.table})
        for table in sorted(self.live.intake.books.keys() & {fault.table for fault in new}):
            self.publisher.receipt(table)

    def _answer(self, verdicts: list[IntakeVerdict], now: int) -> None:
        """Apply a committed batch, and publish the consequences: receipts, plans, counts, then travellers."""
        live, books = self.live, self.live.intake.books
        deals = {deal for verdict in verdicts for deal in live.apply(verdict, now)}
        deals |= live.state.judge_late(live.judged)
        facts, live.counted = live.counted, []
        tables = {v.message.table for v in verdicts if isinstance(v.message, LogMessage)}
        states = {v.message.table for v in verdicts if isinstance(v.message, TableState)} | live.devices.heard_again
        self.dashboard.changed(None if any(isinstance(one.fact, Ruled) for one in facts) else tables | states)
        connected = live.devices.connected
        for table in sorted((tables | connected) & books.keys()):
            self.publisher.receipt(table)
        # A device can miss what is published while it subscribes (docs/brokers.md), so answer each one that connects.
        for table in sorted({one.table for one in facts if isinstance(one.fact, PLAN_CHANGING)} | connected):
            self.publisher.assignment(table)
        for table in sorted(connected & books.keys()):
            self.publisher.kept(table)
            self.publisher.pin(table)
        self.publisher.served(connected | live.devices.refused | live.devices.unseen)
        live.devices.answered()
        for verdict in verdicts:
            self._answer_question(verdict)
        told = (verdict.message for verdict in verdicts if verdict.new)
        if laid := [one for one in told if isinstance(one, LogMessage) and isinstance(one.fact, TilesLaid)]:
            self._plays.take(laid)
        self.publisher.plays_changed(deals)

    def _answer_question(self, verdict: IntakeVerdict) -> None:
        """Answer a table's question: what a hand is worth, or whether a PIN is right."""
        message, access = verdict.message, self.live.access
        if isinstance(message, CountRequest) and not verdict.code:
            self.publisher.counted(message, self.live.count(message))
        elif isinstance(message, PinGiven) and not verdict.code:
            if access.ask(message):
                self.publisher.pin(message.table)
        elif isinstance(message, LogMessage) and isinstance(message.fact, LetIn):
            self.publisher.pin(message.table)

    def _connection_changed(self, change: LinkChanged) -> None:
        """Publish everything again on every connection: a broker that lost its store recovers it at once."""
        self.live.connected = change.up
        if self.live.centre:
            self.live.centre.resend_all()
        if self._space:
            self._space.waiting.clear()  # unacknowledged messages come again
        self.publisher.connection_changed(change)
        self._plays.connection_changed(up=change.up)
        if change.up:
            for table in self.live.intake.books:
                self.publisher.kept(table)
                self.publisher.receipt(table)
                self.publisher.assignment(table)
                self.publisher.pin(table)
            self.publisher.served(self.live.intake.books.keys())
            self.publisher.standings()
        self.publisher.publish_again()

    def _ruled(self, ruling: Ruling, deals: frozenset[int]) -> None:
        """Publish the consequences of a ruling of the desk, once it is committed."""
        self.live.intake.rule(ruling)
        for fact in self.live.intake.placed():  # facts that had no place in the plan without this ruling
            deals |= self.state.apply(fact, self.live.judged)
        self.live.counted.clear()
        if isinstance(ruling.decision, CheckedIn):
            return  # it concerns only the desk
        self.dashboard.changed()
        self.publisher.ruling(ruling)
        book, planned = self.state.book, self.state.planned
        root = book.root(book.entries[ruling.id])
        if isinstance(root.decision, (*PLAN_DECISIONS, PlanChanged)):
            self.publisher.players_renamed()
        tables = {table for table, _ in plan.plays_of_ruling(planned, root)}
        tables |= plan.tables_concerned(planned, root.decision)
        for table in sorted(tables if root.table is None else {root.table}):
            self.publisher.assignment(table)
        self.publisher.plays_changed(deals)
        # IMPs awarded besides the plays change no deal. An arbiter who rules looks at the standings at once.
        self.publisher.standings_due.ask()
        self.publisher.hurry()
        self._publish_standings()

    def _committed(self, decided: Sequence[Decided], lines: Sequence[WitnessLine]) -> None:
        """Copy decisions to their other homes after a commit."""
        if self.live.homes.writer:
            self.live.homes.writer.note(lines)
        if decided:
            self.live.homes.follow(decided)
            self.standby.decided = lines[-1].height

    def _count_again(self, decided: Decided) -> None:
        """Apply a decision that was recovered from a second home."""
        if isinstance(decided.message, Ruling):
            self._ruled(decided.message, self.state.apply(decided.message, self.live.judged))
        else:
            self.live.devices.hold(decided.message)

    def _tables_changed(self, tables: set[int]) -> None:
        """Publish that another device serves these tables, or that another arbiter has gone there."""
        self.dashboard.changed(tables)
        self.publisher.served(tables)

    def _publish_standings(self) -> None:
        self.live.alerts.note(self.publisher.standings_if_due())

    def _publish_alerts(self) -> None:
        now = self._clock()
        for concern in self.live.new_alerts(now):
            self.publisher.alert(concern, now)
