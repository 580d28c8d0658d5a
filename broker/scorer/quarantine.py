"""What is kept apart: facts that do not follow from those of their table before them count for nothing.

A projection in front of the event's state. It judges facts in the order of their numbers by the table of rules that
tables go by too (`protocol/play_sequence.py`). What follows counts from then on; what does not is stored and receipted,
and is in no result, embargo, export or standings until the head arbiter has taken it over. A fact below which one is
missing waits, and counts by itself once that has come. What has counted once counts on.
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
"""The code of a fact below which another is missing."""

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
"""Refusals after which a number is still waited for: the device that serves the table may yet send its fact."""

MOST_PASSED: Final = 1_000
"""Numbers of one table that are not waited for, as many as the store keeps refusals: after a restart it is the same."""

_number = attrgetter("seq")


class ApartFact(Struct, frozen=True):
    """A fact that does not count by itself, and why, by code."""

    message: LogMessage
    code: str

    @property
    def key(self) -> PlayKey:
        """The play that it is about."""
        return self.message.table, self.message.fact.round


class ApartPlay(Struct, frozen=True):
    """A play of whose facts some are kept apart, and nothing was decided on them."""

    table: int
    round: int
    deal: int
    facts: tuple[ApartFact, ...]
    missing: tuple[str, ...]
    """Steps that its table never told, as facts are tagged."""
    waits_for: tuple[int, ...]
    """Numbers of its table's facts that have not come: with them it may count by itself."""

    @property
    def codes(self) -> tuple[str, ...]:
        """Why they are kept apart, each once."""
        return tuple(dict.fromkeys(one.code for one in self.facts))

    @property
    def sent(self) -> tuple[str, ...]:
        """What was sent, as facts are tagged, each once."""
        return tuple(dict.fromkeys(fact_kind(one.message.fact) for one in self.facts))

    @property
    def result(self) -> LogMessage | None:
        """The last result that was sent."""
        return next((one.message for one in reversed(self.facts) if isinstance(one.message.fact, Result)), None)

    @property
    def ids(self) -> tuple[str, ...]:
        """The facts that one decision can name."""
        return tuple(one.message.id for one in self.facts[:MOST_FACTS])

    @property
    def at(self) -> int:
        """When the last of them was told, ms since 1970."""
        return self.facts[-1].message.at


class ApartDecisions(Struct, frozen=True):
    """What the head arbiter has decided of a table's facts that were kept apart, by their ids."""

    taken: frozenset[str] = frozenset()
    discarded: frozenset[str] = frozenset()


NOTHING_DECIDED: Final = ApartDecisions()

Judged = LogMessage | ApartFact
"""A fact that counts from now on, or the first of a play that is kept apart for a reason."""


class _TableFacts:
    """One table: its facts of plays in the order of their numbers, and those of them that are kept apart."""

    def __init__(self, sequence: TableSequence, decided: ApartDecisions = NOTHING_DECIDED) -> None:
        self._sequence, self._decided = sequence, decided
        self._facts: list[LogMessage | WholePlay] = []
        """Until somebody asks for the facts of a whole play it stands there for them; all before it were judged."""
        self._whole = False
        """Whether there is one among them."""
        self._judged = 0
        """So many of them have been judged."""
        self._highest = 0
        self._missing: set[int] = set()
        """Numbers below the highest whose facts have not come."""
        self._passed: set[int] = set()
        """Numbers that are not waited for: their facts were refused."""
        self._lost: set[int] = set()
        """Numbers whose facts were there and cannot be read: what came after them has followed."""
        self._settled = 0
        """Up to this number none is waited for: it is from before plays were judged."""
        self._decided_upto = 0
        """Nor up to this one: the head arbiter has decided what counts."""
        self.apart: dict[str, ApartFact] = {}
        """By id."""
        self._told: set[tuple[int, str]] = set()
        """Round and code of what was reported to be kept apart."""
        self.late = False
        """Whether a fact has come before others that have been judged."""

    def again(self, sequence: TableSequence, decided: ApartDecisions) -> "_TableFacts":
        """Return the same table, to be judged from its first fact on."""
        new = _TableFacts(sequence, decided)
        new._facts, new._highest, new._missing = [*self.facts], self._highest, self._missing
        new._passed, new._settled, new.apart = self._passed, self._settled, dict(self.apart)
        new._told, new._lost = {*self._told}, self._lost  # rulings are tried before they are given
        here = decided.taken | decided.discarded
        new._decided_upto = max((one.seq for one in self.facts if one.id in here), default=0) if here else 0
        return new

    @property
    def facts(self) -> Sequence[LogMessage]:
        """All facts of plays, in the order of their numbers."""
        if self._whole:
            there, self._whole = len(self._facts), False
            self._facts = [*unfolded(self._facts)]
            self._judged += len(self._facts) - there
        return cast("list[LogMessage]", self._facts)

    def note(self, seq: int) -> None:
        """Take in that the fact of a number has come."""
        if seq <= self._highest:
            self._missing.discard(seq)
            return
        if seq > self._highest + 1:
            self._missing.update(range(self._highest + 1, seq))
        self._highest = seq

    def pass_over(self, seq: int) -> None:
        """Take in that the fact of a number is not waited for."""
        if len(self._passed) < MOST_PASSED:
            self._passed.add(seq)

    def lose(self, seq: int) -> None:
        """Take in that the fact of a number was there and cannot be read."""
        self._lost.add(seq)

    def keep(self, message: LogMessage) -> None:
        """Put a fact in its place."""
        facts = self.facts
        if not facts or facts[-1].seq < message.seq:
            self._facts.append(message)
            return
        insort(facts := [*facts], message, key=_number)  # a copy of this table may have the old one
        self._facts = [*facts]
        self.late |= self._judged > 0 and message.seq < facts[self._judged].seq

    def follows_directly(self, seq: int) -> bool:
        """Return whether a fact is the next of this table, and all before it have been judged: as nearly always."""
        return seq == self._highest + 1 and not self._missing and not self.late and self._judged == len(self._facts)

    def take_whole(self, play: WholePlay) -> bool:
        """Take in a play that begins in its turn, where all before it has been judged and has followed."""
        if self.apart or not self.follows_directly(play.first) or not self._sequence.end(play.key[1], play.ended()):
            return False
        self._highest, self._whole = play.last, True
        self._facts.append(play)
        self._judged += 1
        return True

    def may_take(self, plays: Sequence[WholePlay]) -> bool:
        """Return whether plays, in this order, are the next of this table, where all before them has followed."""
        in_row = all(one.last + 1 == then.first for one, then in pairwise(plays))
        next_rounds = self._sequence.are_next([one.key[1] for one in plays])
        return in_row and next_rounds and not self.apart and self.follows_directly(plays[0].first)

    def take_all(self, plays: Sequence[WholePlay]) -> None:
        """Take in plays that may be taken."""
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
        """Take in a fact that counts, whether or not it follows: it is looked at when the next one is to be judged."""
        self.keep(message)
        self._settled = self._highest
        self.late = True

    @property
    def missing(self) -> list[int]:
        """The numbers that are waited for."""
        upto, known = max(self._settled, self._decided_upto), self._passed | self._lost
        return sorted(seq for seq in self._missing if seq > upto and seq not in known)

    def advance(self) -> Iterator[Judged]:
        """Judge what has come up to the first number that is missing."""
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
        """Leave open what happened in the rounds in which a fact was lost that came between these two."""
        between = range(before.seq + 1 if before else 1, after.seq)
        if any(seq in self._lost and seq in self._missing for seq in between):
            self._sequence.leave_open(before.fact.round if before else 0, after.fact.round)

    def _judge(self, message: LogMessage) -> Sequence[Judged]:
        if message.id not in self.apart or message.id in self._decided.taken:
            self._sequence.add(message.fact)
            return ()
        if message.id in self._decided.discarded:
            return ()
        return self._follow(message)

    def _follow(self, message: LogMessage) -> Sequence[Judged]:
        """Let a fact count if it follows; else keep it apart, and report the first of its play and reason."""
        try:
            self._sequence.follow(message.fact)
        except OutOfSequence as error:
            apart = self.apart[message.id] = ApartFact(message, error.code)
            about = message.fact.round, error.code
            if about in self._told:
                return ()
            self._told.add(about)
            return (apart,)
        self.apart.pop(message.id, None)
        return (message,)


class Quarantine:
    """All tables of an event.

    `passed` says whether arbiters have ever ruled on a play, `decided` what was decided of the facts of a table.
    """

    def __init__(
        self, event: Event, passed: Callable[[PlayKey], bool], decided: Callable[[int], ApartDecisions]
    ) -> None:
        self._event, self._passed, self._decided = event, passed, decided
        self._tables: dict[int, _TableFacts] = {}
        self.late: set[int] = set()
        """Tables of which facts have come before others that have been judged."""

    def copy(self, passed: Callable[[PlayKey], bool], decided: Callable[[int], ApartDecisions]) -> "Quarantine":
        """Return the same, in which rulings can be tried."""
        new = Quarantine(self._event, passed, decided)
        new._tables = dict(self._tables)
        return new

    # ---- what happens to it -----------------------------------------------------------------

    def take(self, message: LogMessage) -> Iterable[Judged]:
        """Take a fact in, and return what follows from that, in the order of a table's numbers.

        Where others after it have been judged by now, nothing follows before `judge_late`.
        """
        table, of_play = self._table(message.table), type(message.fact) in SEQUENCED_FACTS
        if of_play and table.follows_directly(message.seq):
            return table.take(message)
        table.note(message.seq)
        if of_play:
            table.apart[message.id] = ApartFact(message, WAITS)
            table.keep(message)
        if table.late:
            self.late.add(message.table)
        follows = () if table.late else table.advance()
        return follows if of_play else chain((message,), follows)

    def take_whole(self, play: WholePlay) -> bool:
        """Take in a play that begins in its turn, at a table of which nothing is missing or kept apart."""
        table = play.key[0]
        return (self._tables.get(table) or self._table(table)).take_whole(play)

    def take_all(self, plays: Sequence[WholePlay], may: Callable[[Sequence[WholePlay]], bool]) -> bool:
        """Take in plays that are the next of their tables, or none; `may`: whether it may some of one table."""
        at_tables = defaultdict[int, list[WholePlay]](list)
        for play in plays:
            at_tables[play.key[0]].append(play)
        tables = [(self._table(table), here) for table, here in at_tables.items()]
        if not all(may(here) and table.may_take(here) for table, here in tables):
            return False
        for table, here in tables:
            table.take_all(here)
        return True

    def judge_late(self) -> Iterator[Judged]:
        """Judge again the tables of which facts have come late since, each once. Return what follows from that."""
        late, self.late = self.late, set()
        for table in sorted(late):
            yield from self.judge_again(table)

    def count(self, message: LogMessage) -> Iterable[Judged]:
        """Take in a fact that counts as it did before plays were judged, and return what follows from that."""
        table = self._table(message.table)
        table.note(message.seq)
        if type(message.fact) in SEQUENCED_FACTS:
            table.count(message)
        return chain((message,), self.judge_again(message.table)) if table.apart else (message,)

    def lose(self, table: int, seq: int) -> None:
        """Take in that a fact was there and cannot be read any more, before what came after it."""
        self._table(table).lose(seq)

    def pass_over(self, table: int, seq: int) -> Iterator[Judged]:
        """Do not wait for a fact: it was refused. Return what follows from that."""
        found = self._table(table)
        found.pass_over(seq)
        yield from () if found.late else found.advance()

    def judge_again(self, table: int) -> Iterator[Judged]:
        """Judge a table's facts again, after something was ruled. Return what follows from that."""
        found = self._tables.get(table)
        if found is not None and found.apart:
            self._tables[table] = again = found.again(self._sequence(table), self._decided(table))
            yield from again.advance()

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
        """Return what an arbiter is to decide, of a table or of all, by rounds.

        `undecided` tells which facts of a play that is.
        """
        at = self._tables if table is None else self._tables.keys() & {table}
        apart = [number for number in at if self._tables[number].apart]
        found = [one for number in apart for one in self._apart_at(number, undecided)]
        return sorted(found, key=lambda one: (one.round, one.table))

    def _apart_at(
        self, number: int, undecided: Callable[[PlayKey, list[ApartFact]], list[ApartFact]]
    ) -> Iterator[ApartPlay]:
        table, told = self._tables[number], defaultdict[int, set[str]](set)
        apart = defaultdict[int, list[ApartFact]](list)
        for fact in sorted(table.apart.values(), key=lambda one: one.message.seq):
            apart[fact.key[1]].append(fact)
        for one in table.facts:
            if one.fact.round in apart:
                told[one.fact.round].add(fact_kind(one.fact))
        missing_numbers = tuple(table.missing) if apart else ()
        for round_, there in apart.items():
            facts = undecided((number, round_), there)
            if not facts:
                continue
            last = facts[-1].message.fact
            steps = ("confirmed",) if (number, round_) in self._event.riichi else ("restored", "seated", "confirmed")
            ends = isinstance(last, Result | RiichiRecorded)
            missing = tuple(step for step in steps if ends and step not in told[round_])
            waits = missing_numbers if any(one.code == WAITS for one in facts) else ()
            yield ApartPlay(number, round_, last.deal, tuple(facts), missing, waits)

    def ids(self) -> set[str]:
        """Return the ids of all facts that do not count by themselves."""
        return {id_ for table in self._tables.values() for id_ in table.apart}

    # ---- its own ----------------------------------------------------------------------------

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
        return TableSequence(rounds, sessions, lambda round_: self._passed((table, round_)), nearest=nearest)
