"""The scorer: takes messages in batches, commits, and only then acknowledges and publishes.

One thread alone changes anything. The link's thread only puts messages into the inbox, and so does the desk with its
requests: they are answered in turn, between batches.
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
from broker.halls.centre import Centre, OfHall
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
"""Under which key the store keeps the event's public key."""

T = TypeVar("T")

PATIENCE_S = 10.0
"""The desk waits so long for its answer."""


class PendingCall(Generic[T]):
    """Something that is asked of the scorer's thread, and where its answer is waited for."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.answer: Future[T] = Future()

    def do(self, refusal: ScorerError | None = None) -> Callable[[], None]:
        """Do it, or refuse it; return what gives the answer to whoever waits, once they may look at what was done.

        Anything else that goes wrong goes on to whoever runs the scorer.
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
        """Wait for the answer. Raises ScorerBusy, and what the scorer refuses with."""
        try:
            return self.answer.result(PATIENCE_S)
        except TimeoutError:
            if self.answer.cancel():
                raise ScorerBusy("the scorer is busy: nothing was done, try again") from None
            raise ScorerBusy("the scorer is slow to answer: look whether it was done before you try again") from None


class OwnCall(PendingCall[None]):
    """What the scorer's own threads ask for: nobody waits for it, and nobody would ask again."""


Arrival = Incoming | LinkChanged | FromCentre | Concern | PendingCall[Any]
"""What comes into the scorer's inbox."""

MOST_AT_ONCE: Final = 500
"""Messages in one commit."""

MOST_BYTES: Final = 500_000
"""Of messages in one commit, but for the last one: halls send many rows in each."""


class Inbox(queue.SimpleQueue[Arrival]):
    """Takes what any thread puts in, and gives it to the scorer's thread in batches."""

    def next_batch(self, timeout: float) -> list[Arrival]:
        """Return what waits, or what comes first within `timeout` seconds."""
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
    """One event's scorer: takes messages in, has them recorded and applied, and shows what follows.

    `clock` gives the wall clock in ms; it only ever marks records, for people. `seconds` counts on, and paces what is
    published of a large event.
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
            if not journal.remembered(ELSEWHERE):  # it is known to be a hall, whatever becomes of its file
                with journal.commit():
                    journal.remember(ELSEWHERE, "[]")
        self._note_key()
        self.rulings = RulingService(event, self.state, journal, self.live.intake, clock, self._ruled, self.live.judged)
        self.rulings.known = partial(self.live.homes.numbers.given, DESK)
        self.dashboard = Dashboard(self.live, self.anchor, seconds)
        self.standby, self._leaving = StandbyWatch(lambda: journal.height, seconds), False
        self._put_off: list[Incoming | OwnCall] = []
        """What has come since the standby was to take over: if it does not come for that, we go on with it."""
        journal.follow(self._committed)
        self._begin(event, folder, stored)

    def _note_key(self) -> None:
        """Alert the arbiters where the event's key is another than before: tables that know it believe no other."""
        known, key = self._journal.remembered(EVENT_KEY).get("", ""), self.publisher.key.public
        if known == key:
            return
        if known:
            self.live.alerts.note((Concern("event_key_changed"),))
        with self._journal.commit():
            self._journal.remember(EVENT_KEY, key)

    def _begin(self, event: Event, folder: Path, stored: JournalContent) -> None:
        """Write the standings as they are, and admit the devices that the organiser has listed."""
        self.live.alerts.note((*self.live.homes.missing(), *filter(None, self.publisher.write_standings())))
        self._plays.load(one for one in stored.messages if isinstance(one, LogMessage))  # no whole play has such facts
        self.live.devices.admit_listed(one for one in read_devices(folder) if one.table in event.tables)

    def anchor(self) -> str:
        """Return the anchor of what is stored now, which nothing that is changed of it later has again."""
        return anchor_text(self.state.planned.name, self._journal.last_link(), self.log_head())

    # ---- for the desk, from any thread ------------------------------------------------------

    @property
    def state(self) -> EventState:
        """The event by its journal alone."""
        return self.live.state

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
        return self.live.wire

    def report_backup(self, report: BackupReport, of: Literal["backup", "second_home"] = "backup") -> None:
        """Alert the arbiters to how copies of the event are doing, or the second home of rulings."""
        self.report(Concern(f"{of}_resumed" if report.well else f"{of}_failed", values={"text": report.text}))

    def report(self, concern: Concern) -> None:
        """Alert the arbiters to something that was done at the desk."""
        self._inbox.put(concern)

    def recall(self, past: Iterable[tuple[int, Concern]]) -> None:
        """Keep alerts of what was done at the desk before this scorer was started, with when (ms). Before it runs."""
        self.live.alerts.load(past)
        self.dashboard.changed(set())
        self.dashboard.show()

    @property
    def waiting(self) -> int:
        """How many messages wait to be taken in, those among them for which the disk has no room."""
        return self._inbox.qsize() + (len(self._space.waiting) if self._space else 0)

    @property
    def tables_heard(self) -> int:
        """How many tables are heard of, or were before this scorer was started and may be there yet."""
        return self.live.devices.liveness.there

    @property
    def begun(self) -> bool:
        """Whether a table has told a fact."""
        return any(book.taken for book in self.live.intake.books.values())

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done by the scorer's thread, and wait for it. Raises ScorerBusy.

        What it has decided is in its second home, too, when this returns; where that cannot be, there is an alert.
        """
        call = PendingCall(work)
        self._inbox.put(call)
        answer = call.wait()
        self.live.homes.wait()
        self.standby.wait()
        return answer

    def pin_changed(self) -> None:
        """Tell all tables that the event's PIN for arbiters is another one: nothing of it but that."""
        for table in self.live.intake.books:
            self.publisher.pin(table)
        self.dashboard.changed()

    # ---- the loop ---------------------------------------------------------------------------

    def connect(self, address: Address, lease: Lease | None = None) -> None:
        """Begin to listen to the broker, as the one scorer of the event."""
        lease = lease or new_lease()
        keep_lease(self._journal, lease)
        self.publisher.lease = lease
        self.publisher.connect(address, self._inbox.put)
        if hall := self.live.hall:
            folder = self.publisher.folder
            hall.connect(addresses_of(folder, hall.centre), folder, self._inbox.put)

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
            self.publisher.forget()  # another scorer may be active by now: its file stays
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
        """Take what has come, in one commit, and publish what follows from it."""
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
        """Say that we are there, and look at what nobody reports. Raises ScorerReplaced if we have handed over."""
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
        if changed := bool(self.live.centre and self.live.centre.follow()):
            self._take([])  # it is kept for the scorer that takes over
        if changed or found:
            self.dashboard.show()
        if self._space and (released := self._space.released()):
            self._take(released)

    def _follow_standby(self, peer: Peer) -> list[Concern]:
        """Tell tables where the standby is, and return what is new of it; end once it is the active scorer."""
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
        if self._leaving:  # tables send it again, to the standby
            self._put_off += [*incoming, *(call for call in calls if isinstance(call, OwnCall))]
            incoming, calls = [], [call for call in calls if not isinstance(call, OwnCall)]
        self._take(incoming)
        busy = ScorerBusy("the standby takes over: go to its desk") if self._leaving else None
        answers = [call.do(busy) for call in calls]
        if answers:
            self.dashboard.due.hurry()  # who has ruled looks at once
        if answers or self.publisher.large:
            self.dashboard.show()  # nobody is to wait until thousands of lines are written
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
        """Take what the centre says; a deal that is over in all halls is public from now on."""
        hall.take(news)
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
        """Take in what has come: from tables or, at the centre, from halls."""
        live, centre = self.live, self.live.centre
        if self._space:
            batch = self._space.admit(batch)
        if centre is None:
            self._take_facts(batch)
            return
        facts, decided = list[Incoming](), list[OfHall]()
        for row in rows_of_halls(centre, batch, live.alerts.note):
            if isinstance(row, Incoming):
                live.alerts.note(adopt(centre, decided, self.rulings, live.devices))
                facts.append(row)
                continue
            self._take_facts(facts)
            facts = []
            decided.append(row)
            if isinstance(row.record, Ruling):  # the next may be about this one
                live.alerts.note(adopt(centre, decided, self.rulings, live.devices))
        live.alerts.note(adopt(centre, decided, self.rulings, live.devices))
        self._take_facts(facts, centre)
        new = pass_over(centre, live.intake, self._journal, live.state.planned.name, self._clock())
        self.publisher.plays_changed({deal for one in new for deal in live.state.pass_over(*one, live.judged)})
        self.dashboard.changed({table for table, _ in new})

    def _take_facts(self, batch: list[Incoming], centre: Centre | None = None) -> None:
        """Judge, commit, acknowledge, answer: in this order. `centre`: with how far its halls have come."""
        if not batch and not (centre and centre.unkept):
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
        """Have something done by the scorer's thread, from any other."""
        self._inbox.put(OwnCall(work))

    def _found_pin(self, check: PinCheck, *, right: bool) -> None:
        """Answer a table that has asked whether a PIN is right, and judge what waited for that."""
        self.live.access.found(check, right=right)
        self.publisher.pin(check.table)
        self._take(self.live.pins.released(check.table))

    def report_faults(self, faults: Sequence[Fault]) -> None:
        """Take up what was found wrong with the store while this scorer works: what it counts, it has in memory."""
        self._post(partial(self._found, faults))

    def _found(self, faults: Sequence[Fault]) -> None:
        known = {(fault.height, fault.code) for fault in self._journal.set_aside()}
        new = [fault for fault in faults if (fault.height, fault.code) not in known]
        self.live.set_aside(new)
        self.dashboard.changed({fault.table for fault in new if fault.table})
        for table in sorted(self.live.intake.books.keys() & {fault.table for fault in new}):
            self.publisher.receipt(table)

    def _answer(self, verdicts: list[IntakeVerdict], now: int) -> None:
        """Apply a batch once it is safe, and publish what follows: receipts, plans, counts, then travellers."""
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
        # What is published while a device subscribes may pass it by (docs/brokers.md): whoever connects is answered.
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
        """Answer what a table has asked: what a hand is worth, or whether a PIN is right."""
        message, access = verdict.message, self.live.access
        if isinstance(message, CountRequest) and not verdict.code:
            self.publisher.counted(message, self.live.count(message))
        elif isinstance(message, PinGiven) and not verdict.code:
            if access.ask(message):
                self.publisher.pin(message.table)
        elif isinstance(message, LogMessage) and isinstance(message.fact, LetIn):
            self.publisher.pin(message.table)

    def _connection_changed(self, change: LinkChanged) -> None:
        """Publish everything again on every connection: a broker that lost its store has it back at once."""
        self.live.connected = change.up
        if self.live.centre:
            self.live.centre.again()
        if self._space:
            self._space.waiting.clear()  # what was not acknowledged comes again
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
        """Publish what follows from a ruling of the desk once it is safe."""
        self.live.intake.rule(ruling)
        for fact in self.live.intake.placed():  # what was played by a ruling that was missing
            deals |= self.state.apply(fact, self.live.judged)
        self.live.counted.clear()
        if isinstance(ruling.decision, CheckedIn):
            return  # it is for the desk alone
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
        # IMPs beside all plays change no deal; an arbiter who rules looks at once.
        self.publisher.standings_due.ask()
        self.publisher.hurry()
        self._publish_standings()

    def _committed(self, decided: Sequence[Decided], lines: Sequence[WitnessLine]) -> None:
        """Keep what was decided in its other homes."""
        if self.live.homes.writer:
            self.live.homes.writer.note(lines)
        if decided:
            self.live.homes.follow(decided)
            self.standby.decided = lines[-1].height

    def _count_again(self, decided: Decided) -> None:
        """Let something count that has come back from a second home."""
        if isinstance(decided.message, Ruling):
            self._ruled(decided.message, self.state.apply(decided.message, self.live.judged))
        else:
            self.live.devices.hold(decided.message)

    def _tables_changed(self, tables: set[int]) -> None:
        """Show that another device serves these tables, or another arbiter goes there."""
        self.dashboard.changed(tables)
        self.publisher.served(tables)

    def _publish_standings(self) -> None:
        self.live.alerts.note(self.publisher.standings_if_due())

    def _publish_alerts(self) -> None:
        now = self._clock()
        for concern in self.live.new_alerts(now):
            self.publisher.alert(concern, now)
