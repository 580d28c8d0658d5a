"""The scorer: takes messages in batches, commits, and only then acknowledges and sends receipts.

One thread alone changes anything. The wire's thread only puts messages on the queue, and so does the desk with what it
asks for: it is answered in turn, between batches.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from msgspec.structs import replace

from broker.errors import ScorerBusy, ScorerError, StoreLost
from broker.event import STANDINGS, Event
from broker.gc_pause import gc_paused
from broker.protocol import (
    CountRequest,
    LogMessage,
    Refused,
    Result,
    RiichiRecorded,
    RiichiTakenBack,
    Ruled,
    Ruling,
    TableState,
    topics,
)
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.rulings import plan
from broker.rulings.service import RulingService
from broker.scorer import stored_event
from broker.scorer.alerts import AlertBook, Concern, concern_of_gap, concern_of_refusal, concerns_of_fact
from broker.scorer.attendance import Attendance
from broker.scorer.counting import HandCounter
from broker.scorer.dashboard import DashboardBuilder
from broker.scorer.devices import ClockWatch, HealthWatch, ServingDevices, TableWatch
from broker.scorer.intake import Intake, IntakeVerdict
from broker.scorer.publisher import MessageBuilder, Outgoing, PublicCopies, WireLog, table_plan
from broker.scorer.standings import write_standings_csv
from broker.scorer.state import EventState
from broker.scorer.tables import FactTimes, TableTimes
from broker.scorer.view import DashboardView, ViewFeed
from broker.store import Journal, RefusedRow
from broker.store.backup_worker import BackupReport

T = TypeVar("T")

log = logging.getLogger("homologue.scorer")

PLAN_CHANGING: Final = (Result, Ruled, RiichiRecorded, RiichiTakenBack)
"""Facts after which a table may have something else to play."""

MOST_AT_ONCE: Final = 500
"""Messages in one commit."""

DEALS_AT_ONCE: Final = 50
"""Deals that are said again at one time."""

LARGE_EVENT: Final = 400
"""Players, from which on the whole standings are told at most once in PAUSE_S: of 4,000 they are half a megabyte."""

PAUSE_S: Final = 1.0

VIEW_PAUSE_S: Final = 0.05
"""With so many the desk's picture is made at most so often, and not after each message: no page changes faster."""


class Scorer:
    """One event's scorer. `clock` gives the wall clock in ms; it only ever marks records, for people.

    `seconds` counts on, and paces what is told of a large event.
    """

    @gc_paused()
    def __init__(
        self,
        event: Event,
        journal: Journal,
        folder: Path,
        clock: Callable[[], int],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._event, self._journal, self._folder, self._clock = event, journal, folder, clock
        self._large = len(event.players) > LARGE_EVENT
        self._seconds, self._pause_until, self._changed = seconds, 0.0, False
        self._look_again, self._unseen, self._version = 0.0, False, 0
        self._queue: queue.SimpleQueue[Incoming | LinkChanged | Concern | PendingCall[Any]] = queue.SimpleQueue()
        self._room = EventState(event)
        taken = stored_event.read_journal(journal, event)
        self.devices = ServingDevices(journal, self._tell_served)
        self._intake = Intake(event, taken.messages, journal.refused(), self.devices.serving.refuses)
        self._watch, self._alerts, self._speaker = TableWatch(), AlertBook(), MessageBuilder(event, journal.store)
        self._health, self._right_time = HealthWatch(), ClockWatch()
        self._counting, self._publication = HandCounter(event), PublicCopies(self._speaker)
        self.times, self.wire, self.sessions = TableTimes(), WireLog(), self._room.riichi
        self._clocks = FactTimes()
        told = stored_event.replay_journal(event, self._room, self._clocks, self.times, taken)
        gaps, refused = stored_event.gaps_told(self._intake.books, taken), stored_event.refusals_told(journal.refused())
        self._alerts.recall((*told, *gaps, *refused))
        self._height = journal.height
        self._concerned: list[Concern] = []
        self._greeting: set[int] = set()
        self._asking: set[int] = set()
        """Tables at which a device was refused just now."""
        self._places: dict[int, tuple[int, bool]] = {}
        """How many calls are before each table's own, and whether an arbiter comes, as it was told."""
        self._connected, self._again = False, list[int]()
        self._why = ""
        """Why there is no connection, as it was logged last."""
        self.attended = Attendance(journal, clock, self._attend)
        self._picture = DashboardBuilder(event, self.times, self.attended)
        self.moment = self._room.moment()
        """All plays as they are now; put in place whole, to be read from any thread."""
        self.feed = ViewFeed(self._view())
        self._link: Link | None = None
        self.rulings = RulingService(event, self._room, journal, self._intake, clock, self._ruled)
        self._write_standings()

    def connect(self, address: Address) -> None:
        """Begin to listen to the broker."""
        name = self._event.name
        self._link = Link(
            address,
            client_id=f"homologue-{name}-scorer",
            topics=(topics.LOG.at(name), topics.STATE.at(name), topics.COUNT.at(name)),
            tell=self._queue.put,
        )
        self._link.start()

    def hear_of_backup(self, report: BackupReport) -> None:
        """Tell the arbiters how copies of the event are doing. From any thread."""
        text, values = f"backup: {report.text}", {"text": report.text}
        concern = Concern("backup_resumed", text) if report.well else Concern("backup_failed", text, values=values)
        self._queue.put(concern)

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done by the scorer's thread, and wait for it. From any other thread. Raises ScorerBusy."""
        asked = PendingCall(work)
        self._queue.put(asked)
        return wait_for(asked)

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
            self._changed = False  # another scorer may be active by now: its standings are not written over
            raise
        finally:
            self._pause_until = 0.0
            self._tell_standings()
            if self._link:
                self._link.stop()

    def step(self, timeout: float) -> None:
        """Take what has come, in one commit."""
        try:
            batch = [self._queue.get(timeout=min(timeout, VIEW_PAUSE_S) if self._unseen else timeout)]
        except queue.Empty:
            self._end_corrections()
            self._tell_standings()
            self._show_if_due()
            self._say_again()
            return
        while len(batch) < MOST_AT_ONCE and not self._queue.empty():
            batch.append(self._queue.get())
        for change in batch:
            if isinstance(change, LinkChanged):
                self._link_changed(change)
        self._concerned.extend(one for one in batch if isinstance(one, Concern))
        self._take([one for one in batch if isinstance(one, Incoming)])
        for one in batch:
            if isinstance(one, PendingCall):
                one.do()
                self._look_again = 0.0  # who has ruled looks at once
        if self._large:
            self._show()  # the arbiter is not to wait until thousands of lines are written
        self._tell_standings()
        self._alert(self._clock())
        self._show()
        self._say_again()

    def _end_corrections(self) -> None:
        """Say what is final now that the correction period has ended: nothing else may happen to say it by."""
        if self._room.is_final(self._clock()) != self.feed.current.final:
            self._changed, self._pause_until, self._look_again = True, 0.0, 0.0
            self._show()

    def _link_changed(self, change: LinkChanged) -> None:
        """Say everything again on every connection: a broker that lost its store has it back at once."""
        self._connected = change.up
        if change.why and str(change.why) != self._why:
            log.warning("%s: %s", change.why.code, change.why)
        self._why = str(change.why)
        if change.up:
            for table, book in self._intake.books.items():
                self._say(self._speaker.receipt(table, book, self._height, self._clock()))
                self._assign(table)
            self._tell_served(set(self._intake.books))
            self._say(self._speaker.standings(self._room, self._height, self._clock()))
            self._publication.note(self._room, self._event.expected)
        self._again = [*self._event.expected] if change.up else []
        self._say_again()

    def _say_again(self) -> None:
        """Say some of the deals again that were not since there is a connection; who waits for a receipt goes first."""
        deals, self._again = self._again[:DEALS_AT_ONCE], self._again[DEALS_AT_ONCE:]
        for deal in deals:
            self._say(self._speaker.traveller(self._room, deal, self._height))
        if deals:
            self._say_all(self._publication.of(self._room, deals, self._height, self._clock()))
            self._say_all(self._publication.standings(self._room, self._height, self._clock()))

    def _take(self, batch: list[Incoming]) -> None:
        if not batch:
            return
        now = self._clock()
        with self._journal.commit():
            verdicts = [self._judge(one, now) for one in batch]
        for one in batch:
            one.acknowledge()
        self._height = self._journal.height
        self._answer(verdicts, now)

    def _judge(self, one: Incoming, now: int) -> IntakeVerdict:
        verdict = self._intake.judge(one.topic, one.payload)
        if isinstance(verdict.message, TableState) and not verdict.code:
            self._hear(verdict.message, now)
        self.wire.note(now, "in", one.topic, one.payload, verdict.code)
        fact = verdict.message if isinstance(verdict.message, LogMessage) else None
        if verdict.code:
            place = topics.parse_topic(one.topic)
            about = (place.table if place else None, fact.seq if fact else None, fact.id if fact else None)
            if self._journal.refuse(RefusedRow(now, verdict.code, one.topic, one.payload, *about)):
                self._concerned.append(concern_of_refusal(one.topic, place, verdict))
        elif fact and verdict.new:
            self._journal.append(fact, now)
            self._intake.take(fact)
        return verdict

    def _hear(self, state: TableState, now: int) -> None:
        """Take in what a device says of itself; what one says that does not serve its table shows nowhere else."""
        if not self.devices.hear(state):
            self._asking.add(state.table)
            self._concerned.extend(self.devices.serving.concerns(state))
            return
        if self._watch.is_hello(state):
            self._greeting.add(state.table)
        self._concerned.extend(self._watch.hear(state))
        self._picture.changed((state.table,))
        self._health.hear(self._watch.states[state.table])
        self._right_time.hear(state, now)

    def _answer(self, verdicts: list[IntakeVerdict], now: int) -> None:
        """What follows from a batch once it is safe: receipts, then travellers and standings."""
        told = (v.message for v in verdicts if v.new and isinstance(v.message, LogMessage))
        new = [self._clocks.believed(message, now) for message in told]
        deals: set[int] = set()
        for message in new:
            deals |= self._room.apply(message)
            self.times.hear(message)
            self.attended.hear(message)
            self._concerned.extend(self._concerns_of(message, now))
        spoke = {v.message.table for v in verdicts if isinstance(v.message, LogMessage)}
        self._picture.changed(None if any(isinstance(message.fact, Ruled) for message in new) else spoke)
        for table in sorted((spoke | self._greeting) & set(self._intake.books)):
            self._say(self._speaker.receipt(table, self._intake.books[table], self._height, now))
        # What is published while a device subscribes may pass it by (docs/brokers.md): whoever says hello is answered.
        for table in sorted(
            {message.table for message in new if isinstance(message.fact, PLAN_CHANGING)} | self._greeting
        ):
            self._assign(table)
        self._tell_served(self._greeting | self._asking)
        self._greeting.clear()
        self._asking.clear()
        for one in verdicts:
            if isinstance(one.message, CountRequest) and not one.code:
                self._count(one.message)
        self._tell_scores(deals)

    def _count(self, request: CountRequest) -> None:
        """Tell a table what a hand is worth, by all that it has told up to now."""
        told, recorded = self._intake.books[request.table].taken.values(), self._room.recorded(request.table)
        answer = self._counting.answer(request, told, over=request.round in recorded)
        self._say(self._speaker.counted(request, answer, self._height))

    def _tell_served(self, tables: set[int]) -> None:
        """Tell these tables, and those whose call has moved up or is another one, how the room sees them."""
        queue_, calling = enumerate(self.times.queue()), self.times.calling
        places = {table: (before, self.attended.comes(table, calling[table])) for before, table in queue_}
        moved = {table for table, _ in places.items() ^ self._places.items()}
        self._places = places
        for table in sorted((tables | moved) & set(self._intake.books)):
            device, refused = self.devices.serving.of(table)
            before, coming = places.get(table, (None, False))
            self._say(self._speaker.served(table, device, refused, before, self._height, coming=coming))

    def _attend(self, tables: set[int]) -> None:
        """Show and tell who looks after these tables' calls now."""
        self._picture.changed(tables)
        self._tell_served(tables)

    def _alert(self, now: int) -> None:
        told = self._alerts.add((*self._concerned, *self._health.concerns(), *self._right_time.concerns()), now)
        for concern in told:
            self._say(self._speaker.alert(concern, now, self._height))
        self._health.told(told)
        self._right_time.told(told)
        self._concerned.clear()

    def _assign(self, table: int) -> None:
        """Keep the retained plan up to date, so that a device without a journal begins at the right play."""
        self._say(table_plan(self._room, self._speaker, table, self._height))

    def _ruled(self, ruling: Ruling, deals: frozenset[int]) -> None:
        """What follows from a ruling of the desk once it is safe."""
        self._height = self._journal.height
        self._intake.rule(ruling)
        self._picture.changed()
        self._say(self._speaker.ruling(ruling))
        root = self._room.book.root(self._room.book.entries[ruling.id])
        if plan.corrects_plan(self._room.book, root.decision):
            self._publication.renamed()
        told = {table for table, _ in plan.plays_of_ruling(self._event, root)}
        told |= plan.tables_concerned(self._event, root.decision)
        for table in sorted(told if root.table is None else {root.table}):
            self._assign(table)
        self._tell_scores(set(deals))
        # IMPs beside all plays change no deal; an arbiter who rules looks at once.
        self._changed, self._pause_until = True, 0.0
        self._tell_standings()

    def _tell_scores(self, deals: set[int]) -> None:
        for deal in sorted(deals):
            self._say(self._speaker.traveller(self._room, deal, self._height))
        self._say_all(self._publication.of(self._room, deals, self._height, self._clock()))
        self._changed |= bool(deals)

    def _tell_standings(self) -> None:
        """Tell who leads now, on the wire and in the file; in a large event not more often than anybody reads it."""
        if not self._changed or self._seconds() < self._pause_until:
            return
        self._changed = False
        self._pause_until = self._seconds() + PAUSE_S if self._large else 0.0
        self._say(self._speaker.standings(self._room, self._height, self._clock()))
        self._say_all(self._publication.standings(self._room, self._height, self._clock()))
        self._write_standings()

    def _say_all(self, messages: Iterable[Outgoing]) -> None:
        for message in messages:
            self._say(message)

    def _write_standings(self) -> None:
        """Write the file anew. It is made from the store: that it cannot be written is no reason to stop."""
        try:
            write_standings_csv(self._folder / STANDINGS, self._room.moment().standings, self._room.event.origin_of)
        except OSError as error:
            text = f"{STANDINGS}: {error.strerror}"
            self._concerned.append(Concern("standings_unwritten", text, values={"text": text}))

    def _concerns_of(self, message: LogMessage, now: int) -> Iterable[Concern]:
        if message.seq > 1 and message.seq - 1 not in self._intake.books[message.table].taken:
            yield concern_of_gap(message.table, message.seq)
        yield from concerns_of_fact(self._room.event, self._room, message, now)

    def _say(self, message: Outgoing) -> None:
        self.wire.note(self._clock(), "out", message.topic, message.payload)
        if self._link:
            self._link.publish(message.topic, message.payload, retain=message.retain)

    def _show(self) -> None:
        self.moment, self._unseen = self._room.moment(), True
        self._show_if_due()

    def _show_if_due(self) -> None:
        if not self._unseen or self._seconds() < self._look_again:
            return
        self._unseen = False
        self._look_again = self._seconds() + VIEW_PAUSE_S if self._large else 0.0
        self._version += 1
        self.feed.publish(self._view())

    def _view(self) -> DashboardView:
        view = self._picture.view(
            self._room,
            self._intake,
            self._watch,
            self._alerts,
            version=self._version,
            connected=self._connected,
        )
        return replace(view, final=self._room.is_final(self._clock()))


PATIENCE_S = 10.0
"""The desk waits so long for its answer."""


class PendingCall(Generic[T]):
    """One question, and where its answer is waited for."""

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


def wait_for(asked: PendingCall[T]) -> T:
    """Wait for an answer. Raises ScorerBusy, and what the scorer refuses with."""
    try:
        return asked.answer.result(PATIENCE_S)
    except TimeoutError:
        if asked.answer.cancel():
            raise ScorerBusy("the scorer is busy: nothing was done, try again") from None
        raise ScorerBusy("the scorer is slow to answer: look whether it was done before you try again") from None
