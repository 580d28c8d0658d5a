"""The quarantine: facts that do not follow from the earlier facts of their table are kept apart and do not count.

A projection in front of the event's state. It judges facts in the order of their numbers, by the same table of rules
that tables use (`protocol/play_sequence.py`). A fact that follows counts from then on. One that does not is stored and
receipted, but is in no result, embargo, export or standings until the head arbiter admits it. A fact that comes after a
missing one waits, and counts by itself once that has arrived. A fact that has once counted always counts.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, cast

from msgspec import Struct

from broker.event import Event
from broker.protocol import (
    MOST_FACTS,
    SEQUENCED_FACTS,
    LogMessage,
    OutOfSequence,
    Result,
    RiichiRecorded,
    TableSequence,
    fact_kind,
)
from broker.rules import Profile
from broker.rulings import PlayKey
from broker.scorer.whole_plays import WholePlay, unfolded

WAITS: Final = "play_waits"
"""Code of a fact that waits for a missing one before it."""

UNEXPLAINED: Final = frozenset(
    {
        "another_device",
        "bad_signature",
        "chain_broken",
        "conflict",
        "id_reused",
        "unknown_device",
        "unsigned",
        "wrong_event",
    }
)
"""Refusals after which the number is still waited for: the device that serves the table may yet send its fact."""

MOST_PASSED: Final = 1_000
"""Most numbers per table not waited for. The store keeps as many refusals, so a restart changes nothing."""

_number = attrgetter("seq")


class ApartFact(Struct, frozen=True):
    """A fact that does not count by itself, with the code that says why."""

    message: LogMessage
    code: str

    @property
    def key(self) -> PlayKey:
        """The play that the fact is about."""
        return self.message.table, self.message.fact.round


class ApartPlay(Struct, frozen=True):
    """A play with facts that are kept apart and about which nothing was decided."""

    table: int
    round: int
    deal: int
    facts: tuple[ApartFact, ...]
    missing: tuple[str, ...]
    """Kinds of facts that the table never reported."""
    waits_for: tuple[int, ...]
    """Missing numbers of the table's facts. Once they arrive, the play may count by itself."""

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the reasons, each once."""
        return tuple(dict.fromkeys(one.code for one in self.facts))

    @property
    def sent(self) -> tuple[str, ...]:
        """Kinds of the facts that were sent, each once."""
        return tuple(dict.fromkeys(fact_kind(one.message.fact) for one in self.facts))

    @property
    def result(self) -> LogMessage | None:
        """The last result that was sent."""
        return next((one.message for one in reversed(self.facts) if isinstance(one.message.fact, Result)), None)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the facts that one decision can name."""
        return tuple(one.message.id for one in self.facts[:MOST_FACTS])

    @property
    def at(self) -> int:
        """When the last of the facts was reported, ms since 1970."""
        return self.facts[-1].message.at


class ApartDecisions(Struct, frozen=True):
    """The head arbiter's decisions on a table's facts that were kept apart, by their ids."""

    taken: frozenset[str] = frozenset()
    discarded: frozenset[str] = frozenset()


NOTHING_DECIDED: Final = ApartDecisions()

PlaysCheck = Callable[[Sequence[WholePlay]], bool]
"""Returns whether whole plays of one table are valid."""

Judged = LogMessage | ApartFact
"""A fact that counts from now on, or the first fact of a play that is kept apart for a reason."""


class _TableFacts:
    """One table's facts about plays in the order of their numbers, and those among them that are kept apart."""

    def __init__(self, sequence: TableSequence, decisions: ApartDecisions = NOTHING_DECIDED) -> None:
        self._sequence, self._decisions = sequence, decisions
        self._facts: list[LogMessage | WholePlay] = []
        """In order. A whole play stands for its facts until they are asked for; everything before it was judged."""
        self._whole = False
        """Whether there are whole plays among the facts."""
        self._judged = 0
        """How many of the facts have been judged."""
        self._highest = 0
        self._missing: set[int] = set()
        """Numbers below the highest whose facts have not arrived."""
        self._passed: set[int] = set()
        """Numbers not waited for, because their facts were refused."""
        self._lost: set[int] = set()
        """Numbers whose facts can no longer be read. They were there when later facts were judged."""
        self._settled = 0
        """No number up to this one is waited for, because it is from before plays were judged."""
        self._decided_upto = 0
        """No number up to this one is waited for either, because the head arbiter has decided what counts."""
        self.apart: dict[str, ApartFact] = {}
        """Facts kept apart, by id."""
        self._reported: set[tuple[int, str]] = set()
        """Round and code of what was already reported as kept apart."""
        self.late = False
        """Whether a fact has arrived after later ones were judged."""

    def copy_to_judge(self, sequence: TableSequence, decisions: ApartDecisions) -> "_TableFacts":
        """Return a copy of the table that will be judged again from its first fact on."""
        new = _TableFacts(sequence, decisions)
        new._facts, new._highest, new._missing = [*self.facts], self._highest, self._missing
        new._passed, new._settled, new.apart = self._passed, self._settled, dict(self.apart)
        new._reported, new._lost = {*self._reported}, self._lost  # copied, since a ruling may only be tried
        named = decisions.taken | decisions.discarded
        new._decided_upto = max((one.seq for one in self.facts if one.id in named), default=0) if named else 0
        return new

    @property
    def facts(self) -> Sequence[LogMessage]:
        """All facts about plays, in the order of their numbers."""
        if self._whole:
            count, self._whole = len(self._facts), False
            self._facts = [*unfolded(self._facts)]
            self._judged += len(self._facts) - count
        return cast("list[LogMessage]", self._facts)

    def note(self, seq: int) -> None:
        """Record that the fact with a number has arrived."""
        if seq <= self._highest:
            self._missing.discard(seq)
            return
        if seq > self._highest + 1:
            self._missing.update(range(self._highest + 1, seq))
        self._highest = seq

    def pass_over(self, seq: int) -> None:
        """Record that the fact with a number is not waited for."""
        if len(self._passed) < MOST_PASSED:
            self._passed.add(seq)

    def mark_lost(self, seq: int) -> None:
        """Record that the fact with a number was stored but cannot be read."""
        self._lost.add(seq)

    def insert(self, message: LogMessage) -> None:
        """Insert a fact in the order of numbers."""
        facts = self.facts
        if not facts or facts[-1].seq < message.seq:
            self._facts.append(message)
            return
        insort(facts := [*facts], message, key=_number)  # a copy, because another copy of this table may share the list
        self._facts = [*facts]
        self.late |= self._judged > 0 and message.seq < facts[self._judged].seq

    def follows_directly(self, seq: int) -> bool:
        """Return whether a fact is the next of this table and all before it were judged, as is nearly always so."""
        return seq == self._highest + 1 and not self._missing and not self.late and self._judged == len(self._facts)

    def take_whole(self, play: WholePlay) -> bool:
        """Accept a whole play if it is the next of this table, and everything before it was judged and has followed."""
        if self.apart or not self.follows_directly(play.first) or not self._sequence.end(play.key[1], play.ended()):
            return False
        self._highest, self._whole = play.last, True
        self._facts.append(play)
        self._judged += 1
        return True

    def may_take(self, plays: Sequence[WholePlay]) -> bool:
        """Return whether plays, in this order, are the next of this table, and all before them has followed."""
        in_row = all(one.last + 1 == then.first for one, then in pairwise(plays))
        next_rounds = self._sequence.are_next([one.key[1] for one in plays])
        return in_row and next_rounds and not self.apart and self.follows_directly(plays[0].first)

    def take_all(self, plays: Sequence[WholePlay]) -> None:
        """Accept plays for which `may_take` is true."""
        self._sequence.end_next([one.ended() for one in plays])
        self._highest, self._whole = plays[-1].last, True
        self._facts.extend(plays)
        self._judged += len(plays)

    def take(self, message: LogMessage) -> Sequence[Judged]:
        """Judge the next fact of this table."""
        self._highest = message.seq
        self._facts.append(message)
        self._judged += 1
        return self._follow(message)

    def count(self, message: LogMessage) -> None:
        """Add a fact that counts, whether or not it follows. It is judged together with the next one."""
        self.insert(message)
        self._settled = self._highest
        self.late = True

    @property
    def missing(self) -> list[int]:
        """The numbers that are waited for."""
        upto, known = max(self._settled, self._decided_upto), self._passed | self._lost
        return sorted(seq for seq in self._missing if seq > upto and seq not in known)

    def advance(self) -> Iterator[Judged]:
        """Judge the facts up to the first missing number."""
        missing = self.missing if self._missing else None
        limit = missing[0] if missing else float("inf")
        if self._judged == len(self._facts):
            return
        facts = self.facts
        while self._judged < len(facts) and facts[self._judged].seq < limit:
            message = facts[self._judged]
            if self._lost:
                self._pass_lost(facts[self._judged - 1] if self._judged else None, message)
            self._judged += 1
            yield from self._judge(message)

    def _pass_lost(self, before: LogMessage | None, after: LogMessage) -> None:
        """Leave open what happened in the rounds between these two facts if a fact between them was lost."""
        between = range(before.seq + 1 if before else 1, after.seq)
        if any(seq in self._lost and seq in self._missing for seq in between):
            self._sequence.leave_open(before.fact.round if before else 0, after.fact.round)

    def _judge(self, message: LogMessage) -> Sequence[Judged]:
        if message.id not in self.apart or message.id in self._decisions.taken:
            self._sequence.add(message.fact)
            return ()
        if message.id in self._decisions.discarded:
            return ()
        return self._follow(message)

    def _follow(self, message: LogMessage) -> Sequence[Judged]:
        """Let a fact count if it follows; else keep it apart, and report it if it is the first of its kind."""
        try:
            self._sequence.follow(message.fact)
        except OutOfSequence as error:
            apart = self.apart[message.id] = ApartFact(message, error.code)
            about = message.fact.round, error.code
            if about in self._reported:
                return ()
            self._reported.add(about)
            return (apart,)
        self.apart.pop(message.id, None)
        return (message,)


class Quarantine:
    """All tables of an event.

    `may_skip` returns whether a table may have been told to skip a play. `decisions_of` returns the decisions on a
    table's facts.
    """

    def __init__(
        self, event: Event, may_skip: Callable[[PlayKey], bool], decisions_of: Callable[[int], ApartDecisions]
    ) -> None:
        self._event, self._may_skip, self._decisions_of = event, may_skip, decisions_of
        self._tables: dict[int, _TableFacts] = {}
        self.late: set[int] = set()
        """Tables with facts that arrived after later ones were judged."""

    def copy(self, may_skip: Callable[[PlayKey], bool], decisions_of: Callable[[int], ApartDecisions]) -> "Quarantine":
        """Return a copy in which rulings can be tried."""
        new = Quarantine(self._event, may_skip, decisions_of)
        new._tables = dict(self._tables)
        return new

    # ---- changes -----------------------------------------------------------------------------

    def take(self, message: LogMessage) -> Iterable[Judged]:
        """Add a fact, and return what it changes, in the order of the table's numbers.

        If later facts were already judged, nothing is returned until `judge_late`.
        """
        table, of_play = self._table(message.table), type(message.fact) in SEQUENCED_FACTS
        if of_play and table.follows_directly(message.seq):
            return table.take(message)
        table.note(message.seq)
        if of_play:
            table.apart[message.id] = ApartFact(message, WAITS)
            table.insert(message)
        if table.late:
            self.late.add(message.table)
        follows = () if table.late else table.advance()
        return follows if of_play else chain((message,), follows)

    def take_whole(self, play: WholePlay) -> bool:
        """Accept a whole play if it is the next of its table, and nothing of the table is missing or kept apart."""
        table = play.key[0]
        return (self._tables.get(table) or self._table(table)).take_whole(play)

    def take_all(self, plays: Sequence[WholePlay], are_valid: PlaysCheck) -> bool:
        """Accept plays that are the next of their tables, all or none."""
        at_tables = defaultdict[int, list[WholePlay]](list)
        for play in plays:
            at_tables[play.key[0]].append(play)
        tables = [(self._table(table), here) for table, here in at_tables.items()]
        if not all(are_valid(here) and table.may_take(here) for table, here in tables):
            return False
        for table, here in tables:
            table.take_all(here)
        return True

    def judge_late(self) -> Iterator[Judged]:
        """Judge again, once each, the tables with late facts. Yield what this changes."""
        late, self.late = self.late, set()
        for table in sorted(late):
            yield from self.judge_again(table)

    def count(self, message: LogMessage) -> Iterable[Judged]:
        """Add a fact that counts as it did before plays were judged. Return what this changes."""
        table = self._table(message.table)
        table.note(message.seq)
        if type(message.fact) in SEQUENCED_FACTS:
            table.count(message)
        return chain((message,), self.judge_again(message.table)) if table.apart else (message,)

    def mark_lost(self, table: int, seq: int) -> None:
        """Record, before later facts are added, that a fact was stored but can no longer be read."""
        self._table(table).mark_lost(seq)

    def pass_over(self, table: int, seq: int) -> Iterator[Judged]:
        """Stop waiting for a fact that was refused. Yield what this changes."""
        found = self._table(table)
        found.pass_over(seq)
        yield from () if found.late else found.advance()

    def judge_again(self, table: int) -> Iterator[Judged]:
        """Judge a table's facts again after a ruling. Yield what this changes."""
        before = self._tables.get(table)
        if before is not None and before.apart:
            self._tables[table] = now = before.copy_to_judge(self._sequence(table), self._decisions_of(table))
            yield from now.advance()

    # ---- read models ------------------------------------------------------------------------

    def apart(self, key: PlayKey) -> list[ApartFact]:
        """Return the facts of a play that do not count by themselves, in the order of their numbers."""
        found = self._tables.get(key[0])
        facts = (one for one in found.apart.values() if one.key == key) if found else ()
        return sorted(facts, key=lambda one: one.message.seq)

    def counted(self, table: int) -> list[LogMessage]:
        """Return the facts of a table's plays that count by themselves, in the order of their numbers."""
        found = self._tables.get(table)
        return [one for one in found.facts if one.id not in found.apart] if found else []

    def apart_plays(
        self, undecided: Callable[[PlayKey, list[ApartFact]], list[ApartFact]], table: int | None = None
    ) -> list[ApartPlay]:
        """Return the plays on which an arbiter has to decide, at one table or all, by rounds.

        `undecided` returns which of a play's facts that concerns.
        """
        at = self._tables if table is None else self._tables.keys() & {table}
        apart = [number for number in at if self._tables[number].apart]
        found = [one for number in apart for one in self._apart_at(number, undecided)]
        return sorted(found, key=lambda one: (one.round, one.table))

    def _apart_at(
        self, number: int, undecided: Callable[[PlayKey, list[ApartFact]], list[ApartFact]]
    ) -> Iterator[ApartPlay]:
        table, kinds_sent = self._tables[number], defaultdict[int, set[str]](set)
        by_round = defaultdict[int, list[ApartFact]](list)
        for fact in sorted(table.apart.values(), key=lambda one: one.message.seq):
            by_round[fact.key[1]].append(fact)
        for one in table.facts:
            if one.fact.round in by_round:
                kinds_sent[one.fact.round].add(fact_kind(one.fact))
        missing_numbers = tuple(table.missing) if by_round else ()
        for round_, apart in by_round.items():
            facts = undecided((number, round_), apart)
            if not facts:
                continue
            last = facts[-1].message.fact
            steps = ("confirmed",) if (number, round_) in self._event.riichi else ("restored", "seated", "confirmed")
            ends = isinstance(last, Result | RiichiRecorded)
            missing = tuple(step for step in steps if ends and step not in kinds_sent[round_])
            waits = missing_numbers if any(one.code == WAITS for one in facts) else ()
            yield ApartPlay(number, round_, last.deal, tuple(facts), missing, waits)

    def ids(self) -> set[str]:
        """Return the ids of all facts that do not count by themselves."""
        return {id_ for table in self._tables.values() for id_ in table.apart}

    # ---- internals --------------------------------------------------------------------------

    def _table(self, table: int) -> _TableFacts:
        found = self._tables.get(table)
        if found is None:
            found = self._tables[table] = _TableFacts(self._sequence(table))
        return found

    def _sequence(self, table: int) -> TableSequence:
        sessions = frozenset(round_ for at, round_ in self._event.riichi if at == table)
        rounds = sorted(self._event.rounds_of(table) | sessions)
        rules = self._event.profile
        nearest = isinstance(rules, Profile) and rules.payments.several_hu.value == "nearest"
        return TableSequence(rounds, sessions, lambda round_: self._may_skip((table, round_)), nearest=nearest)
