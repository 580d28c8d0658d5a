"""The scorer: takes messages in batches, commits, and only then acknowledges and publishes.

One thread alone changes anything. The link's thread only puts messages into the inbox, and so does the desk with its
requests: they are answered in turn, between batches.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from broker.errors import ScorerBusy, ScorerError, ScorerReplaced, StoreLost
from broker.event import Event
from broker.protocol import (
    Beat,
    CountRequest,
    KeptBack,
    LogMessage,
    Refused,
    Result,
    RiichiRecorded,
    RiichiTakenBack,
    Ruled,
    Ruling,
    ScorerState,
    TableState,
    decode,
    topics,
)
from broker.protocol.link import Address, Incoming, LinkChanged
from broker.protocol.signing import kept_form
from broker.rulings import plan
from broker.rulings.service import RulingService
from broker.scorer.alerts import (
    AlertBook,
    Attendance,
    Concern,
    concern_of_gap,
    concern_of_refusal,
    concern_of_repair,
    concerns_of_fact,
    concerns_of_faults,
)
from broker.scorer.counting import HandCounter
from broker.scorer.dashboard import VIEW_PAUSE_S, Dashboard, Sources, ViewFeed
from broker.scorer.devices import Devices
from broker.scorer.event_key import open_event_key
from broker.scorer.homes import (
    KeptAtTables,
    Numbers,
    Seal,
    concern_of_late,
    concern_of_missing,
    concerns_of_clash,
    concerns_of_return,
    take_back,
)
from broker.scorer.intake import Intake, IntakeVerdict
from broker.scorer.lease import Lease, keep_lease, new_lease
from broker.scorer.publisher import Publisher, WireLog
from broker.scorer.snapshot import Snapshot
from broker.scorer.state import EventState
from broker.scorer.stored_event import JournalContent, past_concerns, read_journal, replay_journal
from broker.store import Journal, RefusedRow, gc_paused
from broker.store.backup_worker import BackupReport
from broker.store.chain import LOST, Fault
from broker.store.journal import DESK, Decided, sequence_of
from broker.store.second_home import SecondHome, SecondHomeWriter
from broker.store.witness import WitnessLine

T = TypeVar("T")

PLAN_CHANGING: Final = (Result, Ruled, RiichiRecorded, RiichiTakenBack)
"""Facts after which a table may have something else to play."""

MOST_AT_ONCE: Final = 500
"""Messages in one commit."""

PATIENCE_WITH_GAPS_S: Final = 60.0
"""Rulings that tables have given back wait so long for those that were given before them."""


class Scorer:
    """One event's scorer: a shell around `state`, which alone decides what counts, and the projections beside it.

    `clock` gives the wall clock in ms; it only ever marks records, for people. `seconds` counts on, and paces what is
    published of a large event.
    """

    @gc_paused()
    def __init__(
        self,
        event: Event,
        journal: Journal,
        folder: Path,
        clock: Callable[[], int],
        seconds: Callable[[], float] = time.monotonic,
        home: SecondHome | None = None,
    ) -> None:
        self._journal, self._clock, self._seconds = journal, clock, seconds
        self._scorer_topic = topics.SCORER.at(event.name)
        self._inbox: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self._alerts = AlertBook()
        stored = self._with_second_home(read_journal(journal, event), home)
        self.state = EventState(event)
        self.devices = Devices(journal, self._publish_served)
        self.attendance = Attendance(journal, clock, self._attendance_changed)
        refused = tuple(journal.refused())
        self._intake = Intake(event, stored.messages, refused, self.devices.serving.refuses, stored.faults)
        past = replay_journal(self.state, stored)
        self._alerts.load((*past, *past_concerns(self._intake.books, stored, refused)))
        self._set_aside(stored.faults)
        self._counter = HandCounter(event)
        self.publisher = Publisher(self.state, folder, journal.store, clock, seconds)
        self.publisher.height = journal.height
        sources = Sources(self.state, self._intake.books, self.devices, self.attendance, self._alerts)
        self.dashboard = Dashboard(sources, clock, seconds)
        self.rulings = RulingService(event, self.state, journal, self._intake, clock, self._ruled)
        self._writer: SecondHomeWriter | None = None
        self._altered = {one.id: one.height for one in stored.faults if one.id and one.code != LOST}
        self._back: list[KeptBack] = []
        self._kept_due: set[int] = set()
        """Tables that are to keep something more."""
        self._decided, self._numbers = list(stored.decided), Numbers(stored)
        self.rulings.known = self._numbers.given(DESK)
        self._kept = KeptAtTables(event.tables, Seal(event.name, open_event_key(folder)), self._tables_of)
        for decided in stored.decided:
            self._kept.add(decided)
        self._gaps_at = inf
        """From when on what has come back is taken though something before it has not."""
        self._alerts.note(concern_of_missing(self._numbers.missing(DESK)))
        journal.follow(self._followed)
        self._alerts.note(self.publisher.write_standings())

    # ---- for the desk, from any thread ------------------------------------------------------

    @property
    def feed(self) -> ViewFeed:
        """The desk's view, whenever it changes."""
        return self.dashboard.feed

    @property
    def snapshot(self) -> Snapshot:
        """All plays as the desk may show them now."""
        return self.dashboard.snapshot

    @property
    def wire(self) -> WireLog:
        """The last messages."""
        return self.publisher.wire

    def report_backup(self, report: BackupReport) -> None:
        """Alert the arbiters to how copies of the event are doing."""
        text, values = f"backup: {report.text}", {"text": report.text}
        concern = Concern("backup_resumed", text) if report.well else Concern("backup_failed", text, values=values)
        self._inbox.put(concern)

    def report_second_home(self, report: BackupReport) -> None:
        """Alert the arbiters to how the second home of their rulings is doing."""
        text, values = f"second home: {report.text}", {"text": report.text}
        well = Concern("second_home_resumed", text)
        self._inbox.put(well if report.well else Concern("second_home_failed", text, values=values))

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done by the scorer's thread, and wait for it. Raises ScorerBusy.

        What it has decided is in its second home, too, when this returns; where that cannot be, there is an alert.
        """
        call = PendingCall(work)
        self._inbox.put(call)
        answer = wait_for(call)
        if self._writer:
            self._writer.wait()
        return answer

    # ---- the loop ---------------------------------------------------------------------------

    def connect(self, address: Address, lease: Lease | None = None) -> None:
        """Begin to listen to the broker, as the one scorer of the event."""
        lease = lease or new_lease()
        keep_lease(self._journal, lease)
        self.publisher.lease = lease
        self.publisher.connect(address, self._inbox.put)

    def run(self, stop: threading.Event, each_round: Callable[[], None] = lambda: None) -> None:
        """Work until told to stop. Whatever goes wrong with the store ends it: nothing is acknowledged unstored.

        `each_round` may raise, which ends it as well: it looks after what the scorer cannot do without.
        """
        try:
            while not stop.is_set():
                each_round()
                self._journal.check()
                self.step(timeout=0.2)
        except StoreLost:
            self.publisher.standings_due.waiting = False  # another scorer may be active by now: its file stays
            raise
        finally:
            self.publisher.standings_due.hurry()
            self._publish_standings()
            self.publisher.close()

    def step(self, timeout: float) -> None:
        """Take what has come, in one commit, and publish what follows from it."""
        self._look()
        batch = self._next_batch(min(timeout, VIEW_PAUSE_S) if self.dashboard.due.waiting else timeout)
        if batch:
            self._handle(batch)
        else:
            self._end_corrections()
            self._publish_standings()
            self.dashboard.show_if_due()
        self._publish_kept()
        self.publisher.publish_again()

    def _look(self) -> None:
        """Say that we are there, and notice who says so no more."""
        now = self._seconds()
        self.publisher.beat(now)
        if now >= self._gaps_at:
            self._take_back()
            self._publish_alerts(self._clock())
            self.dashboard.show()
        silent = list(self.devices.look(now, listening=self.dashboard.connected))
        if silent:
            self._alerts.note(silent)
            self._publish_alerts(self._clock())
            self.dashboard.changed({one.table for one in silent if one.table})
            self.dashboard.show()

    def _next_batch(self, timeout: float) -> list["Arrival"]:
        try:
            batch = [self._inbox.get(timeout=timeout)]
        except queue.Empty:
            return []
        while len(batch) < MOST_AT_ONCE and not self._inbox.empty():
            batch.append(self._inbox.get())
        return batch

    def _handle(self, batch: Iterable["Arrival"]) -> None:
        for change in batch:
            if isinstance(change, LinkChanged):
                self._connection_changed(change)
        self._alerts.note(one for one in batch if isinstance(one, Concern))
        self._take([one for one in batch if isinstance(one, Incoming) and not self._is_of_a_scorer(one)])
        for call in batch:
            if isinstance(call, PendingCall):
                call.do()
                self.dashboard.due.hurry()  # who has ruled looks at once
        if self.publisher.large:
            self.dashboard.show()  # the arbiter is not to wait until thousands of lines are written
        self._publish_standings()
        self._publish_alerts(self._clock())
        self.dashboard.show()

    def _is_of_a_scorer(self, one: Incoming) -> bool:
        """Return whether a message is a scorer's own: ours comes back to us. Raises ScorerReplaced."""
        if one.topic != self._scorer_topic:
            return False
        one.acknowledge()
        with suppress(Refused):
            if self.publisher.lease.yields_to(decode(ScorerState, one.payload)):
                raise ScorerReplaced(
                    "another scorer has become active while this one was away; this one writes no more"
                )
        return True

    def _take(self, batch: list[Incoming]) -> None:
        """Judge, commit, acknowledge, answer: in this order."""
        if not batch:
            return
        now = self._clock()
        with self._journal.commit():
            verdicts = [self._judge(one, now) for one in batch]
        for one in batch:
            one.acknowledge()
        self.publisher.height = self._journal.height
        self._answer(verdicts, now)
        given_back, self._back = self._back, []
        for message in given_back:
            self._come_back(message)

    def _judge(self, one: Incoming, now: int) -> IntakeVerdict:
        verdict = self._intake.judge(one.topic, one.payload)
        if isinstance(verdict.message, Beat) and not verdict.code:
            if self.devices.heard(verdict.message.table, verdict.message.device):
                self.dashboard.changed({verdict.message.table})
            return verdict  # of no use in the log of the wire
        if isinstance(verdict.message, TableState) and not verdict.code:
            self._alerts.note(self.devices.apply(verdict.message, now))
        if isinstance(verdict.message, KeptBack) and not verdict.code:
            self._back.append(verdict.message)
        self.wire.note(now, "in", one.topic, one.payload, verdict.code)
        fact = verdict.message if isinstance(verdict.message, LogMessage) else None
        if verdict.code:
            place = topics.parse_topic(one.topic)
            about = (place.table if place else None, fact.seq if fact else None, fact.id if fact else None)
            if self._journal.refuse(RefusedRow(now, verdict.code, one.topic, one.payload, *about)):
                self._alerts.note((concern_of_refusal(one.topic, place, verdict),))
        elif fact and (verdict.new or fact.seq in self._intake.books[fact.table].wanted):
            self._keep(fact, now, kept_form(one.payload), new=verdict.new)
        return verdict

    def _keep(self, fact: LogMessage, now: int, body: bytes, *, new: bool) -> None:
        """Store a fact, or store it again where what was stored is not as it was."""
        wanted = self._intake.books[fact.table].wanted
        if fact.seq in wanted:
            self._alerts.note((concern_of_repair(fact),))
        self._journal.append(fact, now, body, repairs=wanted.pop(fact.seq, None))
        if new:
            self._intake.take(fact)

    def _set_aside(self, faults: Sequence[Fault]) -> None:
        """Keep what is wrong with the store, ask for it, and tell the arbiters."""
        if not faults:
            return
        with self._journal.commit():
            self._journal.put_aside(faults)
        for fault in faults:
            self._intake.want(fault)
        self._alerts.note(concerns_of_faults(faults))

    def report_faults(self, faults: Sequence[Fault]) -> None:
        """Take up what was found wrong with the store while this scorer works: what it counts, it has in memory."""
        self._inbox.put(PendingCall(partial(self._found, faults)))

    def _found(self, faults: Sequence[Fault]) -> None:
        known = {(fault.height, fault.code) for fault in self._journal.set_aside()}
        new = [fault for fault in faults if (fault.height, fault.code) not in known]
        self._set_aside(new)
        for table, book in self._intake.books.items():
            if any(fault.table == table for fault in new):
                self.publisher.receipt(table, book)

    def _answer(self, verdicts: list[IntakeVerdict], now: int) -> None:
        """Apply a batch once it is safe, and publish what follows: receipts, plans, counts, then travellers."""
        new = [v.message for v in verdicts if v.new and isinstance(v.message, LogMessage)]
        facts = [self.state.tables.clock.corrected(message, now) for message in new]
        deals = {deal for fact in facts for deal in self._apply(fact, now)}
        tables = {v.message.table for v in verdicts if isinstance(v.message, LogMessage)}
        states = {v.message.table for v in verdicts if isinstance(v.message, TableState)}
        self.dashboard.changed(None if any(isinstance(one.fact, Ruled) for one in facts) else tables | states)
        connected = self.devices.connected
        for table in sorted((tables | connected) & self._intake.books.keys()):
            self.publisher.receipt(table, self._intake.books[table])
        # What is published while a device subscribes may pass it by (docs/brokers.md): whoever connects is answered.
        for table in sorted({one.table for one in facts if isinstance(one.fact, PLAN_CHANGING)} | connected):
            self.publisher.assignment(table)
        self._publish_served(connected | self.devices.refused)
        self.devices.answered()
        for verdict in verdicts:
            if isinstance(verdict.message, CountRequest) and not verdict.code:
                self._count(verdict.message)
        self.publisher.plays_changed(deals)

    def _apply(self, fact: LogMessage, now: int) -> Iterable[int]:
        """Take in one fact; return the deals that it has changed."""
        deals = self.state.apply(fact)
        self.attendance.apply(fact)
        if fact.seq > 1 and fact.seq - 1 not in self._intake.books[fact.table].taken:
            self._alerts.note((concern_of_gap(fact.table, fact.seq),))
        self._alerts.note(concerns_of_fact(self.state, fact, now))
        return deals

    def _count(self, request: CountRequest) -> None:
        """Tell a table what a hand is worth, by all its facts up to now."""
        facts, over = self._intake.books[request.table].taken.values(), self.state.recorded(request.table)
        self.publisher.counted(request, self._counter.answer(request, facts, over=request.round in over))

    def _connection_changed(self, change: LinkChanged) -> None:
        """Publish everything again on every connection: a broker that lost its store has it back at once."""
        self.dashboard.connected = change.up
        self.publisher.connection_changed(change)
        if change.up:
            for table, book in self._intake.books.items():
                self.publisher.kept(table, self._kept.records(table))
                self.publisher.receipt(table, book)
                self.publisher.assignment(table)
            self._publish_served(self._intake.books.keys())
            self.publisher.standings()
        self.publisher.publish_again()

    def _attendance_changed(self, tables: set[int]) -> None:
        self.dashboard.changed(tables)
        self._publish_served(tables)

    def _ruled(self, ruling: Ruling, deals: frozenset[int]) -> None:
        """Publish what follows from a ruling of the desk once it is safe."""
        self.publisher.height = self._journal.height
        self._intake.rule(ruling)
        self.dashboard.changed()
        self.publisher.ruling(ruling)
        book, planned = self.state.book, self.state.planned
        root = book.root(book.entries[ruling.id])
        if plan.corrects_plan(book, root.decision):
            self.publisher.players_renamed()
        tables = {table for table, _ in plan.plays_of_ruling(planned, root)}
        tables |= plan.tables_concerned(planned, root.decision)
        for table in sorted(tables if root.table is None else {root.table}):
            self.publisher.assignment(table)
        self.publisher.plays_changed(deals)
        # IMPs beside all plays change no deal; an arbiter who rules looks at once.
        self.publisher.standings_due.ask()
        self.publisher.standings_due.hurry()
        self._publish_standings()

    def _end_corrections(self) -> None:
        """Publish what is final now that the correction period has ended, though nothing else happens."""
        if self.state.is_final(self._clock()) != self.feed.current.final:
            self.publisher.standings_due.ask()
            self.publisher.standings_due.hurry()
            self.dashboard.due.hurry()
            self.dashboard.show()

    # ---- the second homes of what is decided --------------------------------------------------

    def _with_second_home(self, stored: JournalContent, home: SecondHome | None) -> JournalContent:
        """Take back what a second home has more than the journal."""
        if home is None:
            return stored
        try:
            stored, found = take_back(self._journal, stored, home)
        except OSError as error:
            text = f"{home.folder}: {error.strerror or error}"
            found = [Concern("second_home_failed", f"second home: {text}", values={"text": text})]
        self._alerts.note(found)
        return stored

    def write_to(self, writer: SecondHomeWriter) -> None:
        """Keep in a second home what was decided, and what is from now on."""
        self._writer = writer
        writer.keep([(one.received_at, one.body) for one in self._decided])
        writer.begin(self._journal)

    def _followed(self, decided: Sequence[Decided], lines: Sequence[WitnessLine]) -> None:
        """Give what was decided its second homes."""
        if self._writer:
            self._writer.note(lines)
            if decided:
                self._writer.keep([(one.received_at, one.body) for one in decided])
        tables = set[int]()
        for one in decided:
            self._decided.append(one)
            self._numbers.take(one)
            tables.update(self._kept.add(one))
        self._kept_due |= tables

    def _publish_kept(self) -> None:
        """Give tables what they are to keep for us."""
        for table in sorted(self._kept_due):
            self.publisher.kept(table, self._kept.records(table))
        self._kept_due.clear()

    def _tables_of(self, decided: Decided) -> Iterable[int]:
        """Return the tables that a record is about, as far as it names one."""
        table = getattr(decided.message, "table", None)
        return () if table is None else (table,)

    def _come_back(self, message: KeptBack) -> None:
        """Take in what a table has kept and this scorer lacks."""
        before = len(self._kept.waiting)
        self._alerts.note(self._kept.come_back(message.table, message.records))
        if len(self._kept.waiting) > before:
            self._gaps_at = self._seconds() + PATIENCE_WITH_GAPS_S
            highest = (sequence_of(one.message) for one in self._kept.waiting.values())
            self.rulings.known = max(self.rulings.known, *(number for whose, number in highest if whose == DESK), 0)
        self._take_back()

    def _take_back(self) -> None:
        """Count again what has come back from tables: in order, unless somebody does not give back what is between."""
        back: list[Decided] = []
        while one := self._kept.next(self._numbers.first_missing, in_order=self._seconds() < self._gaps_at):
            if self._numbers.has(one):
                self._alerts.note(concerns_of_clash([one]))
                continue
            late = one.message.number < self._numbers.highest(sequence_of(one.message)[0])
            with self._journal.commit():
                self._journal.append(
                    one.message, one.received_at, one.body, repairs=self._altered.pop(one.message.id, None)
                )
            back.append(one)
            if late:  # others were given after it: it counts in its place when all are read again
                self._alerts.note(concern_of_late(one))
            else:
                self._ruled(one.message, self.state.apply(one.message))
        if back:
            self._alerts.note((*concerns_of_return(back), *concern_of_missing(self._numbers.missing(DESK))))
        if not self._kept.waiting:
            self._gaps_at = inf

    def _publish_served(self, tables: Iterable[int]) -> None:
        self.publisher.served(tables, self.devices.serving, self.attendance)

    def _publish_standings(self) -> None:
        self._alerts.note(self.publisher.standings_if_due())

    def _publish_alerts(self, now: int) -> None:
        new = self._alerts.add(self.devices.concerns(), now)
        for concern in new:
            self.publisher.alert(concern, now)
        self.devices.reported(new)


PATIENCE_S = 10.0
"""The desk waits so long for its answer."""


class PendingCall(Generic[T]):
    """Something that is asked of the scorer's thread, and where its answer is waited for."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.answer: Future[T] = Future()

    def do(self) -> None:
        """Answer. A refusal is an answer; anything else that goes wrong goes on to whoever runs the scorer too."""
        if not self.answer.set_running_or_notify_cancel():
            return
        try:
            self.answer.set_result(self._work())
        except (Refused, ScorerError) as refusal:
            self.answer.set_exception(refusal)
        except BaseException as broken:
            self.answer.set_exception(broken)
            raise


def wait_for(call: PendingCall[T]) -> T:
    """Wait for an answer. Raises ScorerBusy, and what the scorer refuses with."""
    try:
        return call.answer.result(PATIENCE_S)
    except TimeoutError:
        if call.answer.cancel():
            raise ScorerBusy("the scorer is busy: nothing was done, try again") from None
        raise ScorerBusy("the scorer is slow to answer: look whether it was done before you try again") from None


Arrival = Incoming | LinkChanged | Concern | PendingCall[Any]
"""What comes into the scorer's inbox."""
