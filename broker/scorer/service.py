"""The scorer: takes messages in batches, commits, and only then acknowledges and publishes.

One thread alone changes anything. The link's thread only puts messages into the inbox, and so does the desk with its
requests: they are answered in turn, between batches.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from broker.errors import ScorerBusy, ScorerReplaced, StoreLost
from broker.event import Event, read_devices
from broker.event.halls import HallsFile, read_centre
from broker.halls.centre import Centre
from broker.halls.link import FromCentre, HallLink, addresses_of
from broker.logs import get_logger, play_id
from broker.protocol import (
    SILENT_S,
    Beat,
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
    ScorerState,
    TableState,
    decode,
    topics,
)
from broker.protocol.link import Address, Incoming, LinkChanged
from broker.protocol.play_sequence import fact_kind
from broker.protocol.signing import kept_form
from broker.rulings import plan
from broker.rulings.service import RulingService
from broker.scorer.alerts import (
    DISK_CONCERNS,
    AlertBook,
    Attendance,
    Concern,
    concern_of_apart,
    concern_of_gap,
    concern_of_hall,
    concern_of_refusal,
    concern_of_repair,
    concern_of_wrong_pin,
    concerns_of_fact,
    concerns_of_faults,
)
from broker.scorer.arbiter_access import ArbiterAccess, PinCheck, PinChecker
from broker.scorer.counting import HandCounter
from broker.scorer.dashboard import VIEW_PAUSE_S, Dashboard, Sources, ViewFeed
from broker.scorer.devices import Devices
from broker.scorer.event_key import KEY_FILE, open_event_key
from broker.scorer.hall_rows import FactsAtCentre, adopt, note_judged, pass_over, rows_of_halls
from broker.scorer.homes import Seal, SecondHomes, with_second_home
from broker.scorer.inbox import Arrival, Inbox, PendingCall, T, wait_for
from broker.scorer.intake import Intake, IntakeVerdict
from broker.scorer.kept_plays import PlayFinder
from broker.scorer.lease import Lease, keep_lease, kept_lease, new_lease
from broker.scorer.metrics import ScorerMetrics
from broker.scorer.publisher import Publisher, WireLog
from broker.scorer.quarantine import UNEXPLAINED, ApartFact, Judged
from broker.scorer.snapshot import Snapshot
from broker.scorer.space import DiskSpace
from broker.scorer.standby import StandbyWatch
from broker.scorer.state import EventState
from broker.scorer.stored_event import ELSEWHERE, JournalContent, past_concerns, read_journal, replay_journal
from broker.store import JUDGED_FROM, Journal, RefusedRow, gc_paused
from broker.store.anchor import LogHead, anchor_text
from broker.store.backup_worker import BackupReport
from broker.store.chain import Fault
from broker.store.records import DESK, Decided
from broker.store.second_home import SecondHome
from broker.store.witness import WitnessLine

log = get_logger("homologue.scorer")

PLAN_CHANGING: Final = (Result, Ruled, RiichiRecorded, RiichiTakenBack)
"""Facts after which a table may have something else to play."""

BEAT_END: Final = "/" + topics.BEAT.pattern.rpartition("/")[2]

LOG_ENDS: Final = topics.LOG.name
"""How the topics of facts end."""

EVENT_KEY: Final = "event_key"
"""Under which key the store keeps the event's public key."""


class Scorer:
    """One event's scorer: a shell around `state`, which alone decides what counts, and the projections beside it.

    `clock` gives the wall clock in ms; it only ever marks records, for people. `seconds` counts on, and paces what is
    published of a large event.
    """

    log_head: Callable[[], LogHead] = LogHead
    """Returns the last entry of the desk's audit log."""

    @gc_paused()
    def __init__(  # noqa: PLR0915 - one statement a part
        self,
        event: Event,
        journal: Journal,
        folder: Path,
        clock: Callable[[], int],
        seconds: Callable[[], float] = time.monotonic,
        space: DiskSpace | None = None,
        home: SecondHome | None = None,
    ) -> None:
        self._space, self.metrics = space, ScorerMetrics()
        self._waiting: list[Incoming] = []
        """Messages that wait for room on the disk; the broker has them too."""
        self._journal, self._folder, self._clock, self._seconds = journal, folder, clock, seconds
        self._scorer_topic = topics.SCORER.at(event.name)
        self._inbox = Inbox()
        self._alerts = AlertBook()
        stored = with_second_home(journal, read_journal(journal, event), home, self._alerts.note)
        if stored.judged_from is None:
            with journal.commit():
                journal.remember(JUDGED_FROM, str(len(stored.messages)))
        self.state = EventState(event)
        self.devices = Devices(journal, event.name, stored.devices(), clock, self._tables_changed)
        self.attendance = Attendance(journal, clock, self._tables_changed)
        key = open_event_key(folder)
        refused = tuple(journal.refused())
        self._intake = Intake(
            event,
            stored.messages,
            refused,
            self.devices.serving.refuses,
            self.devices.admissions,
            stored.heads,
            stored.faults,
        )
        self._pins = PinChecker(self._pin_compared)
        self._intake.access = self.access = ArbiterAccess(
            event.name, key, clock, seconds, self._pins.start, stored.messages
        )
        self._counted: list[LogMessage] = []
        """Facts that count since the last answer."""
        self._alerts.load(
            chain(replay_journal(self.state, stored, refused), past_concerns(self._intake.books, stored, refused))
        )
        self._set_aside(stored.faults)
        self._counter = HandCounter(event)
        self.publisher = Publisher(self.state, folder, journal.store, key, clock, seconds, self.anchor)
        self._plays = PlayFinder(folder, self.state, journal, self.publisher.found, self._inbox.put, seconds)
        self._join_halls(event, stored)
        self._note_key(folder)
        self.publisher.height, self.publisher.lease = journal.height, kept_lease(journal) or new_lease()
        self.rulings = RulingService(event, self.state, journal, self._intake, clock, self._ruled, self._judged)
        self.homes = SecondHomes(
            journal, stored, event.tables, Seal(event.name, key), seconds, self._alerts.note, self._count_again
        )
        sources = Sources(
            self.state,
            self._intake.books,
            self.devices,
            self.attendance,
            self._alerts,
            self.homes.numbers,
            self.anchor,
            self.hall,
            self.centre,
        )
        self.dashboard = Dashboard(sources, clock, seconds)
        self.rulings.known = self.homes.numbers.given(DESK)
        self.standby = StandbyWatch(lambda: journal.height, seconds)
        journal.follow(self._committed)
        self._begin(event, folder, stored)

    def _join_halls(self, event: Event, stored: JournalContent) -> None:
        """Take up what belongs to an event in many places: at the centre its halls, in a hall the way to the centre."""
        self._halls, centre = HallsFile(self._folder), read_centre(self._folder)
        halls, times, passed = self._halls.now(), (self._clock, self._seconds), self._intake.passed_over
        self.hall = HallLink(centre, event.name, self._journal, passed, *times) if centre else None
        """The way to the centre, in a hall among others."""
        content = self._journal, stored.decided, self._intake.has
        self.centre = Centre(lambda: self.state.planned, halls, *content, *times) if halls else None
        """The halls, at the centre of an event in many places."""
        if self.hall:
            self._at_centre = FactsAtCentre(self.hall, self._journal, self._intake.books, self._seconds)
            self.publisher.centre_has = self._at_centre.of
        if self.centre:
            self.centre.lack(self._intake.refused())
            self._intake.access = None  # whom a hall has let in at its tables it has judged itself
            self.publisher.at_centre, self._plays.answers = True, False

    def _note_key(self, folder: Path) -> None:
        """Alert the arbiters where the event's key is another than before: tables that know it believe no other."""
        known, key = self._journal.remembered(EVENT_KEY).get("", ""), self.publisher.key.public
        if known == key:
            return
        if known:
            text = f"{folder / KEY_FILE} is another key than before"
            self._alerts.note((Concern("event_key_changed", text, values={"text": text}),))
        with self._journal.commit():
            self._journal.remember(EVENT_KEY, key)

    def _begin(self, event: Event, folder: Path, stored: JournalContent) -> None:
        """Write the standings as they are, and admit the devices that the organiser has listed."""
        self._alerts.note(self.publisher.write_standings())
        self._plays.load(one for one in stored.messages if isinstance(one, LogMessage))  # no whole play has such facts
        for one in read_devices(folder):
            if one.table in event.tables and not self.devices.admissions.knew(one.table, one.device):
                self.devices.admit(one.table, one.key, one.machine)

    def anchor(self) -> str:
        """Return the anchor of what is stored now, which nothing that is changed of it later has again."""
        return anchor_text(self.state.planned.name, self._journal.last_link(), self.log_head())

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

    def report(self, concern: Concern) -> None:
        """Alert the arbiters to something that was done at the desk."""
        self._inbox.put(concern)

    def recall(self, past: Iterable[tuple[int, Concern]]) -> None:
        """Keep alerts of what was done at the desk before this scorer was started, with when (ms). Before it runs."""
        self._alerts.load(past)
        self.dashboard.changed(set())
        self.dashboard.show()

    @property
    def waiting(self) -> int:
        """How many messages wait to be taken in, those among them for which the disk has no room."""
        return self._inbox.qsize() + len(self._waiting)

    @property
    def tables_heard(self) -> int:
        """How many tables are heard of."""
        now, readings = self._seconds(), tuple(self.devices.readings.values())
        return sum(now - one.heard_at < SILENT_S for one in readings)

    @property
    def begun(self) -> bool:
        """Whether a table has told a fact."""
        return any(book.taken for book in self._intake.books.values())

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done by the scorer's thread, and wait for it. Raises ScorerBusy.

        What it has decided is in its second home, too, when this returns; where that cannot be, there is an alert.
        """
        call = PendingCall(work)
        self._inbox.put(call)
        answer = wait_for(call)
        self.homes.wait()
        self.standby.wait()
        return answer

    def pin_changed(self) -> None:
        """Tell all tables that the event's PIN for arbiters is another one: nothing of it but that."""
        for table in self._intake.books:
            self.publisher.pin(table, self.access)
        self.dashboard.changed()

    # ---- the loop ---------------------------------------------------------------------------

    def connect(self, address: Address, lease: Lease | None = None) -> None:
        """Begin to listen to the broker, as the one scorer of the event."""
        lease = lease or new_lease()
        keep_lease(self._journal, lease)
        self.publisher.lease = lease
        self.publisher.connect(address, self._inbox.put)
        if self.hall:
            self.hall.connect(addresses_of(self._folder, self.hall.centre), self._folder, self._inbox.put)

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
            self._pins.close()
            self._plays.close()
            self.publisher.close()
            if self.hall:
                self.hall.close()

    def step(self, timeout: float) -> None:
        """Take what has come, in one commit, and publish what follows from it."""
        self._look()
        batch = self._inbox.next_batch(min(timeout, VIEW_PAUSE_S) if self.dashboard.due.waiting else timeout)
        if batch:
            self._handle(batch)
        else:
            self._publish_standings()
            self.dashboard.show_if_due()
        for table in self.homes.due():
            self.publisher.kept(table, self.homes.records(table))
        self.publisher.publish_again()
        if self.hall:
            self.hall.step()
            self._at_centre.tell(self.publisher.receipt)
        if self.centre:
            self.publisher.halls(self.centre)

    def _look(self) -> None:
        """Say that we are there, and notice who says so no more. Raises ScorerReplaced where that was handed over."""
        now = self._seconds()
        self._look_at_disk()
        self._look_at_standby()
        self._plays.look()
        self.publisher.beat(now)
        if self.homes.look():
            self._publish_alerts(self._clock())
            self.dashboard.show()
        silent = list(self.devices.look(now, listening=self.dashboard.connected))
        if self.centre:
            silent += [concern_of_hall("hall_silent", hall) for hall in self.centre.look()]
            if self.centre.follow(self._halls.now()):
                self.dashboard.show()
        if silent:
            self._alerts.note(silent)
            self._publish_alerts(self._clock())
            self.dashboard.changed({one.table for one in silent if one.table})
            self.dashboard.show()

    def _look_at_standby(self) -> None:
        """Tell tables and people of the standby; end once it was told that it is the active scorer."""
        if self.standby.left(settled=not self._inbox.qsize()):
            self.publisher.moved = self.publisher.standby
            raise ScorerReplaced("the standby has taken over: this one writes no more")
        if self.standby.peer:
            self.publisher.place_standby(self.standby.peer.broker)
        if found := self.standby.concerns():
            self._alerts.note(found)
            self._publish_alerts(self._clock())
            self.dashboard.show()

    def _look_at_disk(self) -> None:
        before, level = self.dashboard.disk, self._space.look() if self._space else "ample"
        if level == before:
            return
        self.dashboard.disk = level
        self._alerts.note((DISK_CONCERNS[level],))
        self._publish_alerts(self._clock())
        self.dashboard.show()
        if before == "full":
            waiting, self._waiting = self._waiting, []
            self._take(waiting)

    def _handle(self, batch: Iterable[Arrival]) -> None:
        self._hear_of_links(batch)
        self._alerts.note(one for one in batch if isinstance(one, Concern))
        incoming = [one for one in batch if isinstance(one, Incoming) and not self._is_of_a_scorer(one)]
        if self.standby.leaving:  # tables send it again, to the standby
            incoming = []
        if self.dashboard.disk == "full":  # a beat takes no room, and no broker keeps it
            self._waiting.extend(one for one in incoming if not one.topic.endswith(BEAT_END))
            incoming = [one for one in incoming if one.topic.endswith(BEAT_END)]
        self._take(incoming)
        for call in batch:
            if isinstance(call, PendingCall):
                call.do(None if not self.standby.leaving else ScorerBusy("the standby takes over: go to its desk"))
                self.dashboard.due.hurry()  # who has ruled looks at once
        if self.publisher.large:
            self.dashboard.show()  # the arbiter is not to wait until thousands of lines are written
        self._publish_standings()
        self._publish_alerts(self._clock())
        self.dashboard.show()

    def _hear_of_links(self, batch: Iterable[Arrival]) -> None:
        for change in batch:
            if isinstance(change, LinkChanged):
                self._connection_changed(change)
            elif isinstance(change, FromCentre) and self.hall:
                self._take_word(self.hall, change)

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

    def _take_word(self, hall: HallLink, news: FromCentre) -> None:
        """Take what the centre says; a deal that is over in all halls is public from now on."""
        hall.take(news)
        self._alerts.note(concern_of_hall(code) for code in hall.news)
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
        if self.centre is None:
            self._take_facts(batch)
            return
        facts: list[Incoming] = []
        for row in rows_of_halls(self.centre, batch, self._alerts.note):
            if isinstance(row, Incoming):
                facts.append(row)
                continue
            self._take_facts(facts)
            facts = []
            self._alerts.note(adopt(self.centre, row, self.rulings, self.devices))
        self._take_facts(facts, self.centre)
        new = pass_over(self.centre, self._intake, self._journal, self.state.planned.name, self._clock())
        self.publisher.plays_changed({deal for one in new for deal in self.state.pass_over(*one, self._judged)})

    def _take_facts(self, batch: list[Incoming], centre: Centre | None = None) -> None:
        """Judge, commit, acknowledge, answer: in this order. `centre`: with how far its halls have come."""
        if not batch and not (centre and centre.unkept):
            return
        now = self._clock()
        payloads = [one.payload for one in batch if one.topic.endswith(LOG_ENDS)]
        self.devices.admissions.prove(payloads, self._intake.has_taken)
        with self._journal.commit():
            verdicts = [verdict for one in batch if (verdict := self._judge(one, now))]
            if centre:
                centre.keep()
        note_judged(self.centre, verdicts)
        for one in batch:
            one.acknowledge()
        self.publisher.height = self._journal.height
        self._answer(verdicts, now)
        self.metrics.answered((one for one in batch if one.topic.endswith(LOG_ENDS)), time.monotonic())
        for verdict in verdicts:
            if isinstance(verdict.message, KeptBack) and not verdict.code:
                self.homes.come_back(verdict.message)
                self.rulings.known = self.homes.numbers.given(DESK)

    def _judge(self, one: Incoming, now: int) -> IntakeVerdict | None:
        """Judge one message, and keep it. None: it waits for a PIN, as does what its table says after it."""
        if self._pins.holds(one):
            return None
        verdict = self._intake.judge(one.topic, one.payload)
        if verdict.waits and isinstance(verdict.message, LogMessage):
            self._pins.hold(verdict.message.table, one)
            return None
        self._take_up(one, verdict, now)
        return verdict

    def _take_up(self, one: Incoming, verdict: IntakeVerdict, now: int) -> None:
        """Keep a message that was judged, or that it was refused."""
        if isinstance(verdict.message, Beat) and not verdict.code:
            if self.devices.heard(verdict.message, now, self._seconds()):
                self.dashboard.changed({verdict.message.table})
            return  # of no use in the log of the wire
        if isinstance(verdict.message, TableState) and not verdict.code:
            self._alerts.note(self.devices.apply(verdict.message, now))
            if book := self._intake.books.get(verdict.message.table):
                self._alerts.note(self.devices.compare_receipts(verdict.message.table, book.upto))
        self.wire.note(now, "in", one.topic, one.payload, verdict.code)
        fact = verdict.message if isinstance(verdict.message, LogMessage) else None
        self.metrics.judged(verdict)
        _log(verdict)
        if verdict.code:
            place = topics.parse_topic(one.topic)
            about = (place.table if place else None, fact.seq if fact else None, fact.id if fact else None)
            is_new = self._journal.refuse(RefusedRow(now, verdict.code, one.topic, one.payload, *about))
            if is_new and not verdict.again:
                self._alerts.note((concern_of_refusal(one.topic, place, verdict),))
        elif fact and (verdict.new or fact.seq in self._intake.books[fact.table].wanted):
            self._keep(fact, now, kept_form(one.payload), verdict)

    def _keep(self, fact: LogMessage, now: int, body: bytes, verdict: IntakeVerdict) -> None:
        """Store a fact, or store it again where what was stored is not as it was."""
        wanted = self._intake.books[fact.table].wanted
        if fact.seq in wanted:
            self._alerts.note((concern_of_repair(fact),))
        self._journal.append(fact, now, body, repairs=wanted.pop(fact.seq, None))
        if verdict.new:
            self._intake.take(fact, verdict.hash)

    def _pin_compared(self, check: PinCheck, right: bool) -> None:  # noqa: FBT001 - as the checker calls it
        self._inbox.put(PendingCall(partial(self._found_pin, check, right=right)))

    def _found_pin(self, check: PinCheck, *, right: bool) -> None:
        """Answer a table that has asked whether a PIN is right, and judge what waited for that."""
        self.access.found(check, right=right)
        self.publisher.pin(check.table, self.access)
        held = self._pins.released(check.table)
        if self.dashboard.disk == "full":
            self._waiting.extend(held)
        else:
            self._take(held)

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
        deals = {deal for verdict in verdicts for deal in self._apply(verdict, now)}
        deals |= self.state.judge_late(self._judged)
        facts, self._counted = self._counted, []
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
            if isinstance(verdict.message, PinGiven) and not verdict.code:
                if self.access.ask(verdict.message):
                    self.publisher.pin(verdict.message.table, self.access)
            elif isinstance(verdict.message, LogMessage) and isinstance(verdict.message.fact, LetIn):
                self.publisher.pin(verdict.message.table, self.access)
        self._plays.take(verdict.message for verdict in verdicts if verdict.new)
        self.publisher.plays_changed(deals)

    def _apply(self, verdict: IntakeVerdict, now: int) -> Iterable[int]:
        """Take in what was said of one fact; return the deals that have changed."""
        message = verdict.message
        if not isinstance(message, LogMessage) or message.table not in self._intake.books:
            return ()
        book = self._intake.books[message.table]
        if verdict.new:
            deals = self.state.apply_fact(self.state.tables.clock.corrected(message, now), self._judged)
            before = message.seq - 1
            if before and before not in book.taken and before not in book.passed_over:
                self._alerts.note((concern_of_gap(message.table, message.seq),))
            return deals
        if verdict.code and verdict.code not in UNEXPLAINED and message.seq not in book.taken:
            return self.state.pass_over(message.table, message.seq, self._judged)
        return ()

    def _judged(self, one: Judged) -> None:
        """Take in that a fact counts now, or is kept apart."""
        if isinstance(one, ApartFact):
            self._alerts.note((concern_of_apart(one),))
            return
        self._counted.append(one)
        self.attendance.apply(one)
        self._alerts.note(concerns_of_fact(self.state, one, self._clock()))

    def _count(self, request: CountRequest) -> None:
        """Tell a table what a hand is worth, by all its facts up to now."""
        facts, recorded = self.state.quarantine.counted(request.table), self.state.recorded(request.table)
        self.publisher.counted(request, self._counter.answer(request, facts, recorded=recorded))

    def _connection_changed(self, change: LinkChanged) -> None:
        """Publish everything again on every connection: a broker that lost its store has it back at once."""
        self.dashboard.connected = change.up
        if self.centre:
            self.centre.again()
        self._waiting.clear()  # what was not acknowledged comes again
        self.publisher.connection_changed(change)
        self._plays.connection_changed(up=change.up)
        if change.up:
            for table, book in self._intake.books.items():
                self.publisher.kept(table, self.homes.records(table))
                self.publisher.receipt(table, book)
                self.publisher.assignment(table)
                self.publisher.pin(table, self.access)
            self._publish_served(self._intake.books.keys())
            self.publisher.standings()
        self.publisher.publish_again()

    def _ruled(self, ruling: Ruling, deals: frozenset[int]) -> None:
        """Publish what follows from a ruling of the desk once it is safe."""
        self.publisher.height = self._journal.height
        self._counted.clear()
        self._intake.rule(ruling)
        if isinstance(ruling.decision, CheckedIn):
            return  # it is for the desk alone
        self.dashboard.changed()
        self.publisher.ruling(ruling)
        book, planned = self.state.book, self.state.planned
        root = book.root(book.entries[ruling.id])
        if plan.corrects_plan(book, root.decision):
            self.publisher.players_renamed()
        tables = {table for table, _ in plan.plays_of_ruling(planned, root)}
        tables |= plan.tables_concerned(planned, root.decision)
        if isinstance(book.root(root).decision, PlanChanged):
            self.publisher.players_renamed()
            tables |= {*planned.tables}
        for table in sorted(tables if root.table is None else {root.table}):
            self.publisher.assignment(table)
        self.publisher.plays_changed(deals)
        # IMPs beside all plays change no deal; an arbiter who rules looks at once.
        self.publisher.standings_due.ask()
        self.publisher.standings_due.hurry()
        self._publish_standings()

    def _committed(self, decided: Sequence[Decided], lines: Sequence[WitnessLine]) -> None:
        """Keep what was decided in its other homes."""
        self.homes.follow(decided, lines)
        if decided:
            self.standby.decided = lines[-1].height

    def _count_again(self, decided: Decided) -> None:
        """Let something count that has come back from a second home."""
        if isinstance(decided.message, Ruling):
            self._ruled(decided.message, self.state.apply(decided.message, self._judged))
        else:
            self.devices.hold(decided.message)

    def _tables_changed(self, tables: set[int]) -> None:
        self.publisher.height = self._journal.height
        self.dashboard.changed(tables)
        self._publish_served(tables)

    def _publish_served(self, tables: Iterable[int]) -> None:
        self.publisher.served(tables, self.devices, self.attendance)

    def _publish_standings(self) -> None:
        self._alerts.note(self.publisher.standings_if_due())

    def _publish_alerts(self, now: int) -> None:
        self._alerts.note(concern_of_wrong_pin(*one) for one in self.access.wrong_pins())
        new = self._alerts.add(self.devices.concerns(), now)
        for concern in new:
            self.publisher.alert(concern, now)
        self.devices.reported(new)


def _log(verdict: IntakeVerdict) -> None:
    """Log what became of a fact, by its kind alone: what it says is under embargo."""
    message = verdict.message
    if isinstance(message, LogMessage) and log.isEnabledFor(logging.INFO):
        play = play_id(message.fact.round, message.table, message.fact.deal)
        told = verdict.code or ("fact_taken" if verdict.new else "fact_again")
        log.info(told, table=message.table, seq=message.seq, kind=fact_kind(message.fact), play=play)
