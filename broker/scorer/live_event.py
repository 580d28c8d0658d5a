"""An event in progress: its journal's state, what else is known of tables, devices and arbiters, and the message log.

The publisher, the dashboard and the desk's pages read it; only the scorer's thread changes it. `take` judges messages
and commits them to the journal; `apply` then updates the state. The `WireLog` has the most recent messages, for
arbiters, and metrics, for those who run the scorer.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram

from broker.event import HALLS, Event, HallsFile, missing_file, read_centre
from broker.halls.centre import POSITION_PREFIX, Centre
from broker.halls.link import HallLink
from broker.logs import get_logger, play_id
from broker.protocol import (
    AnyCountAnswer,
    Beat,
    CountRequest,
    LogMessage,
    SigningKey,
    TableState,
    fact_kind,
    kept_form,
    topics,
)
from broker.protocol.link import Incoming
from broker.scorer.access import ArbiterAccess, PinChecker
from broker.scorer.alerts import (
    AlertBook,
    Attendance,
    Concern,
    concern_of_apart,
    concern_of_gap,
    concern_of_hall,
    concern_of_refusal,
    concerns_of_fact,
    concerns_of_faults,
)
from broker.scorer.counting import HandCounter
from broker.scorer.devices import Devices
from broker.scorer.homes import Seal, SecondHomes
from broker.scorer.intake import Intake, IntakeVerdict
from broker.scorer.quarantine import UNEXPLAINED, ApartFact, Judged
from broker.scorer.state import EventState
from broker.scorer.stored_event import JournalContent, past_gaps, past_refusals, replay_journal
from broker.store import DEVICES, Decided, Fault, Journal, RefusedRow

TAKEN: Final = "taken"
AGAIN: Final = "again"
"""A duplicate: the message was already there."""

BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WireMetrics:
    """Metrics for those who run the scorer. They reveal something of the plays, so only arbiters may read them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._messages = Counter(
            "homologue_messages",
            "Messages of tables, by what became of them: taken, again (it was there already), or why refused",
            ["result"],
            registry=self.registry,
        )
        self._receipts = Histogram(
            "homologue_receipt_delay_seconds",
            "From the arrival of a table's fact until its receipt was given to the broker",
            buckets=BUCKETS_S,
            registry=self.registry,
        )

    def judged(self, verdict: IntakeVerdict) -> None:
        """Count a judged message."""
        new = verdict.new or not isinstance(verdict.message, LogMessage)
        self._messages.labels(verdict.code or (TAKEN if new else AGAIN)).inc()

    def answered(self, facts: Iterable[Incoming], now: float) -> None:
        """Record how long facts waited for their answer. `now` in s, by the clock that has stamped their arrival."""
        for one in facts:
            self._receipts.observe(max(0.0, now - one.came_at))


MESSAGES_KEPT: Final = 1_000
LONGEST_TEXT: Final = 2_000
"""Bytes stored of each message, so that a thousand of them take at most two megabytes."""

WITHHELD: Final = frozenset(
    one.name for one in (topics.ASSIGNMENT, topics.KEPT, topics.KEPT_BACK, topics.PIN, topics.PIN_GIVEN)
)
"""Topics whose content (what to restore, whom to let in) is for the table alone. Arbiters see only that it was sent."""


class WireMessage(NamedTuple):
    """One message. `number` increases. `code`: why it was refused."""

    number: int
    at: int
    way: Literal["in", "out"]
    topic: str
    kind: str
    table: int | None
    size: int
    text: str | None
    """None if arbiters may not read it."""
    code: str | None


class WireLog:
    """The most recent messages, and metrics of those from tables. The scorer's thread writes; any thread may read."""

    def __init__(self) -> None:
        self.metrics = WireMetrics()
        self._kept: deque[WireMessage] = deque(maxlen=MESSAGES_KEPT)
        self._number = 0

    def note(self, at: int, way: Literal["in", "out"], topic: str, payload: bytes, code: str | None = None) -> None:
        """Add one message."""
        self._number += 1
        place = topics.parse_topic(topic)
        kind = place.topic.name if place else ""
        text = None if kind in WITHHELD else payload[:LONGEST_TEXT].decode("utf-8", "replace")
        table = place.table if place else None
        self._kept.append(WireMessage(self._number, at, way, topic[:200], kind, table, len(payload), text, code))

    def newest(self, *, kind: str = "", table: int | None = None, text: str = "") -> Iterator[WireMessage]:
        """Yield messages, newest first, filtered by kind of topic, table, or text in the topic, message or code."""
        wanted = text.casefold()
        for one in reversed(tuple(self._kept)):
            if kind and one.kind != kind:
                continue
            if table is not None and one.table != table:
                continue
            if wanted in one.topic.casefold() or wanted in (one.text or "").casefold() or wanted in (one.code or ""):
                yield one


log = get_logger("homologue.scorer")

LOG_ENDS: Final = topics.LOG.name
"""The last part of the topics for facts."""


class LiveEvent:
    """One event. Its `state` is computed from the journal, and alone decides what counts.

    Messages are judged, and both accepted and refused ones are stored in one commit, before anything is acknowledged or
    applied. Messages that depend on whether a PIN is right wait in `pins`.

    `changed` is called with the tables that an arbiter has gone to, or whose device was admitted or replaced; `back`
    with each decision of the desk that is recovered from a second home. `clock` returns ms since 1970; `seconds` is a
    monotonic clock.
    """

    def __init__(  # noqa: PLR0913 - what is stored, where, and whom to notify
        self,
        event: Event,
        journal: Journal,
        stored: JournalContent,
        folder: Path,
        key: SigningKey,
        pins: PinChecker,
        *,
        clock: Callable[[], int],
        seconds: Callable[[], float],
        changed: Callable[[set[int]], None],
        back: Callable[[Decided], None],
    ) -> None:
        self.journal, self._clock, self._seconds, self.pins = journal, clock, seconds, pins
        self.wire = WireLog()
        self.connected = False
        """Whether the broker is connected, so that tables can be heard."""
        self.state = EventState(event)
        self.alerts = AlertBook()
        self.devices = Devices(journal, event.name, stored.devices(), clock, changed)
        self.attendance = Attendance(journal, clock, changed)
        self.access = ArbiterAccess(event.name, key, clock, seconds, pins.start, stored.messages)
        refused, serving = tuple(journal.refused()), self.devices.serving
        self.intake = Intake(
            event, stored.messages, refused, serving.refuses, self.devices.admissions, stored.heads, stored.faults
        )
        self.intake.access, self.intake.place_of = self.access, journal.place_of
        self.counted: list[LogMessage] = []
        """Facts that have begun to count since the last answer."""
        counts = stored.without(self.intake.without_place)
        replayed = replay_journal(self.state, counts, refused)
        self.alerts.load(chain(replayed, past_gaps(self.intake.books, stored), past_refusals(refused)))
        seal, record = Seal(event.name, key), self.devices.record
        self.homes = SecondHomes(journal, stored, event.tables, seal, seconds, back, record)
        admissions = self.devices.admissions
        admissions.number = max(admissions.number, self.homes.numbers.given(DEVICES))
        self._counter = HandCounter(event)
        halls, centre, passed = HallsFile(folder), read_centre(folder), self.intake.passed_over
        if not halls.now() and journal.remembered(POSITION_PREFIX):
            raise missing_file(HALLS)
        self.hall = HallLink(centre, event.name, journal, passed, clock, seconds) if centre else None
        """The link to the centre, if this is a hall of a larger event."""
        content = journal, stored.decided, self.intake.has
        self.centre = Centre(lambda: self.state.planned, halls, *content, clock, seconds) if halls.now() else None
        """The halls, if this is the centre of an event in several places."""
        if self.centre:
            self.centre.note_refused(self.intake.refused())
            self.intake.access = None  # each hall has already judged whom it let in at its tables

    # ---- incoming messages ------------------------------------------------------------------

    def take(self, batch: Sequence[Incoming], now: int, centre: Centre | None = None) -> list[IntakeVerdict]:
        """Judge and store a batch, and return the verdicts. `centre`: also store how far its halls have been read."""
        facts = [one.payload for one in batch if one.topic.endswith(LOG_ENDS)]
        self.devices.admissions.prove(facts, self.intake.has_taken)
        with self.journal.commit():
            verdicts = [verdict for one in batch if (verdict := self._judge(one, now))]
            if centre:
                centre.store_positions()
        return verdicts

    def set_aside(self, faults: Sequence[Fault]) -> None:
        """Record faults of the store, ask the tables for the affected facts, and alert the arbiters."""
        if not faults:
            return
        with self.journal.commit():
            self.journal.put_aside(faults)
        for fault in faults:
            self.intake.want(fault)
        self.alerts.note(concerns_of_faults(faults))

    def _judge(self, one: Incoming, now: int) -> IntakeVerdict | None:
        """Judge one message, and store it. None: it waits for a PIN, as do later facts of its table."""
        if self.pins.holds(one):
            return None
        verdict = self.intake.judge(one.topic, one.payload)
        if verdict.waits and isinstance(verdict.message, LogMessage):
            self.pins.hold(verdict.message.table, one)
            return None
        self._take_up(one, verdict, now)
        return verdict

    def _take_up(self, one: Incoming, verdict: IntakeVerdict, now: int) -> None:
        """Store a judged message, or its refusal."""
        message = verdict.message
        if isinstance(message, Beat) and not verdict.code:
            self.devices.heard(message, now, self._seconds())
            return  # of no use in the message log
        if isinstance(message, TableState) and not verdict.code:
            self.alerts.note(self.devices.apply(message, now))
            if book := self.intake.books.get(message.table):
                self.alerts.note(self.devices.compare_receipts(message.table, book.upto))
        self.wire.note(now, "in", one.topic, one.payload, verdict.code)
        self.wire.metrics.judged(verdict)
        fact = message if isinstance(message, LogMessage) else None
        if fact:
            _log(fact, verdict)
        if verdict.code:
            self._refuse(one, fact, verdict, now)
        elif fact and (verdict.new or fact.seq in self.intake.books[fact.table].wanted):
            self._keep(fact, now, kept_form(one.payload), verdict)

    def _refuse(self, one: Incoming, fact: LogMessage | None, verdict: IntakeVerdict, now: int) -> None:
        """Store a refusal with its reason."""
        place = topics.parse_topic(one.topic)
        about = (place.table if place else None, fact.seq if fact else None, fact.id if fact else None)
        is_new = self.journal.refuse(RefusedRow(now, verdict.code or "", one.topic, one.payload, *about))
        if is_new and not verdict.again:
            self.alerts.note((concern_of_refusal(one.topic, place, verdict),))

    def _keep(self, fact: LogMessage, now: int, body: bytes, verdict: IntakeVerdict) -> None:
        """Store a fact, or store it again if its row was altered or lost."""
        wanted = self.intake.books[fact.table].wanted
        if fact.seq in wanted:
            self.alerts.note((Concern("row_repaired", fact.table, about=fact.seq, values={"number": fact.seq}),))
        self.journal.append(fact, now, body, repairs=wanted.pop(fact.seq, None))
        if verdict.new:
            self.intake.take(fact, verdict.hash)

    # ---- after the commit -------------------------------------------------------------------

    def apply(self, verdict: IntakeVerdict, now: int) -> Iterable[int]:
        """Apply a judged and committed message. Return the deals that have changed. `now` in ms since 1970."""
        message = verdict.message
        if not isinstance(message, LogMessage) or message.table not in self.intake.books:
            return ()
        book = self.intake.books[message.table]
        if verdict.new:
            deals = self.state.apply_fact(self.state.tables.clock.corrected(message, now), self.judged)
            before = message.seq - 1
            if before and before not in book.taken and before not in book.passed_over:
                self.alerts.note((concern_of_gap(message.table, message.seq),))
            return deals
        if verdict.code and verdict.code not in UNEXPLAINED and message.seq not in book.taken:
            return self.state.pass_over(message.table, message.seq, self.judged)
        return ()

    def judged(self, one: Judged) -> None:
        """Handle a fact that now counts, or is kept apart."""
        if isinstance(one, ApartFact):
            self.alerts.note((concern_of_apart(one),))
            return
        self.counted.append(one)
        self.attendance.apply(one)
        self.alerts.note(concerns_of_fact(self.state, one, self._clock()))

    def look(self, now: float) -> list[Concern]:
        """Return alerts about what nobody reports: silent tables and halls, and decisions recovered from second homes.

        `now` in s of a monotonic clock.
        """
        found = self.devices.look(now, listening=self.connected)
        if now >= self.homes.gaps_at:
            found += self.homes.take_back(now)
        if self.centre:
            found += (concern_of_hall("hall_silent", hall) for hall in self.centre.newly_silent())
        return found

    def new_alerts(self, now: int) -> tuple[Concern, ...]:
        """Return the alerts that the arbiters have not had yet. `now` in ms since 1970."""
        self.alerts.note(
            Concern("pin_wrong", table, values={"count": count}) for table, count in self.access.wrong_pins()
        )
        new = self.alerts.add(self.devices.concerns(), now)
        self.devices.reported(new)
        return new

    def count(self, request: CountRequest) -> AnyCountAnswer:
        """Return what a hand is worth, given all facts of its table so far."""
        facts, recorded = self.state.quarantine.counted(request.table), self.state.recorded(request.table)
        return self._counter.answer(request, facts, recorded=recorded)


def _log(fact: LogMessage, verdict: IntakeVerdict) -> None:
    """Log the outcome for a fact, by its kind only: its content is under embargo."""
    if log.isEnabledFor(logging.INFO):
        play = play_id(fact.fact.round, fact.table, fact.fact.deal)
        outcome = verdict.code or ("fact_taken" if verdict.new else "fact_again")
        log.info(outcome, table=fact.table, seq=fact.seq, kind=fact_kind(fact.fact), play=play)
