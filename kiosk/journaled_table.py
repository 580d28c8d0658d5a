"""A table of which every event is in its journal before anybody is told what follows.

Where no place takes the journal's writes, events wait in memory, in their order, until the card has been looked at.
"""

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from broker.logs import get_logger
from broker.protocol import Fact, LogMessage, Result
from broker.protocol.play_sequence import OF_A_PLAY, OutOfSequence, SessionSoFar, TableSequence, fact_kind
from broker.rules import Profile
from kiosk.errors import CardRefuses, DiskLow, FactUnexpected, JournalFull, JournalNewer
from kiosk.journal import TableJournal
from kiosk.table import (
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    Event,
    NotNow,
    Ordered,
    Restarted,
    Table,
    TrayChecked,
    handle,
)

NO_TURNS: Final = ()
"""The order of plays is the scorer's to judge: a table knows neither the desk's rulings nor what others told here."""


@dataclass(frozen=True, slots=True)
class Unexpected:
    """A fact that does not follow, and why, by the scorer's code."""

    fact: Fact
    code: str


class SequenceWatch:
    """Whether what a table tells follows, by the rules by which the scorer counts it (`protocol/play_sequence.py`).

    Nothing is held back: the scorer stores a fact that does not follow, and the head arbiter decides what counts. Held
    back it would be lost, and four players could not end their play. But a table may be without network, so it says so
    itself, before they leave. `unexpected`: the last such fact, until a play after its own has a result.
    """

    def __init__(self) -> None:
        self.unexpected: Unexpected | None = None
        self._of: tuple[object, ...] = ()
        """What is played: of another store, or under other rules, everything begins anew."""
        self._sequence = TableSequence(NO_TURNS)

    def take(self, state: Table, facts: Iterable[Fact]) -> None:
        """Take in what a table tells, and the state in which it tells it."""
        for fact in facts:
            if isinstance(fact, OF_A_PLAY):
                self._follow(state)
                self._judge(fact)

    def _judge(self, fact: Fact) -> None:
        try:
            self._sequence.follow(fact)
        except OutOfSequence as error:
            self.unexpected = Unexpected(fact, error.code)
            self._sequence.count(fact)
            return
        if self.unexpected and isinstance(fact, Result) and fact.round != self.unexpected.fact.round:
            self.unexpected = None

    def _follow(self, state: Table) -> None:
        plan = state.assignment
        session = state.session.planned if state.session else None
        of = (plan.store, plan.profile, session and session.round) if plan else ()
        if of != self._of:
            rules = state.profile
            nearest = isinstance(rules, Profile) and rules.payments.several_hu.value == "nearest"
            sessions = frozenset((session.round,) if session else ())
            self._of, self._sequence = of, TableSequence(NO_TURNS, sessions, nearest=nearest)
            if session and session.entries:  # another device has begun it
                self._sequence.plays[session.round] = SessionSoFar(confirmed=True)


log = get_logger("homologue.kiosk")

ENOUGH_ROOM: Final = 100_000_000
"""Bytes: a day's journal takes less than one hundredth of it."""

EVERY_NS: Final = 30_000_000_000
LOW_EVERY_NS: Final = 1_000_000_000
"""How often the card is looked at, and how often where it has little room."""

MOST_HELD: Final = 1000
"""As many as a table could need in an hour; beyond that somebody plays with a button."""

HELD: Final = (ButtonPressed, ButtonReleased, ButtonHeld, Ordered, TrayChecked)
"""What nobody does again: a camera looks again only at a tray that was touched."""


BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Of a write to the journal: a good card takes some ms, a worn one half a second."""


class WriteTimes:
    """How long writes to the journal took."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._total = seconds, 0.0
        self._counts = [0] * (len(BUCKETS_S) + 1)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure one write."""
        began = self._seconds()
        yield
        took = self._seconds() - began
        self._total += took
        self._counts[bisect_left(BUCKETS_S, took)] += 1

    def now(self) -> tuple[tuple[int, ...], float]:
        """Return how many writes there were in each bucket, the last without a bound, and their whole time in s."""
        return tuple(self._counts), self._total


class JournaledTable:
    """One table. `wall` gives ms since 1970, for the record only; other times are monotonic, in ns.

    The disk is looked at by the clock alone, which tells of no press.
    """

    def __init__(self, journal: TableJournal, wall: Callable[[], int], now: int = 0) -> None:
        """Raise JournalBroken, JournalNewer."""
        self.journal, self._wall, self.writes = journal, wall, WriteTimes()
        self.state, self.sequence = Table(), SequenceWatch()
        self._held: deque[Event] = deque()
        self._check_at = now
        self.begun_again = False
        """Whether the present play was begun again, as what the journal says of it cannot be played on from."""
        try:
            for event in journal.events():
                self.state, facts = handle(self.state, event)
                self.sequence.take(self.state, facts)
        except NotNow as refusal:
            raise JournalNewer(f"it holds what the table does not allow: {refusal}") from None

    def restarted(self, now: int) -> None:
        """Tell the table that the program has started again, where there is a table to tell."""
        self._log_unexpected(None)
        if not self.journal.empty:
            self.apply(Restarted(at=now, same_clock=self.journal.same_boot, doubts=True))

    def apply(self, event: Event) -> tuple[LogMessage, ...]:
        """Take one event in; return the facts to send. Raises NotNow, and nothing has changed.

        When this returns, event and facts are durable; what changes nothing is not kept.
        """
        state, facts = handle(self.state, event)
        if state == self.state and not facts:
            return ()
        with self.writes.timed():
            messages = self.journal.record(event, facts, wall=self._wall())
        self.state, before = state, self.sequence.unexpected
        self.sequence.take(state, facts)
        self._log_unexpected(before)
        self.begun_again &= not any(isinstance(fact, Result) for fact in facts)
        return messages

    @property
    def unexpected(self) -> str | None:
        """The code where what was told does not follow from what was told before; it is sent all the same.

        Or where a play was begun again.
        """
        again = JournalNewer.code if self.begun_again else None
        return FactUnexpected.code if self.sequence.unexpected else again

    def _log_unexpected(self, before: Unexpected | None) -> None:
        found = self.sequence.unexpected
        if found and found is not before:
            fact, kind = found.fact, fact_kind(found.fact)
            log.error(FactUnexpected.code, fact=kind, round=fact.round, deal=fact.deal, code=found.code)

    # ---- without room on the disk -----------------------------------------------------------

    @property
    def held(self) -> bool:
        """Whether an event waits for room, so that nothing may overtake it."""
        return bool(self._held)

    def hold(self, event: Event) -> str:
        """Hold an event if nobody could do it again; return the code of what is wrong."""
        if isinstance(event, HELD) and len(self._held) < MOST_HELD:
            self._held.append(event)
        return JournalFull.code

    def release(self) -> Iterator[Event]:
        """Return what waited, in order; what cannot be written even now waits again."""
        events, self._held = self._held, deque()
        yield from events

    def check_due(self, now: int) -> bool:
        """Return whether the disk is to be looked at."""
        return now >= self._check_at

    def check_disk(self, now: int) -> str | None:
        """Return the code of what is wrong with the disk, by trying where there is little room."""
        code = self._disk_problem()
        self._check_at = now + (EVERY_NS if code in (None, CardRefuses.code) else LOW_EVERY_NS)
        return code

    def _disk_problem(self) -> str | None:
        if not self.journal.spares and self.journal.room >= ENOUGH_ROOM and not self.journal.tight:
            return None
        try:
            if self.journal.spares:  # whether or not a press has found it out before
                self.journal.try_card()
            else:
                self.journal.try_room()
        except JournalFull:
            return JournalFull.code
        if self.journal.away:
            return CardRefuses.code
        return DiskLow.code if self.journal.room < ENOUGH_ROOM else None
