"""The table's journal: accepted events, facts waiting for the scorer's receipt, and the table state built from them.

Each fact is signed with the device's key and carries the hash of the table's previous fact (protocol/signing.py). Facts
of another device are left as they are while they fit. A fact that gets another number or another predecessor is signed
again by this device.

Whatever `record` returns is durable. The table's state changes only in `JournaledTable`, after the journal is written.
While the journal cannot be written anywhere, presses and orders are held in memory, in their order: a press counts from
its edge, so it may be handled later. Anything people can do again (a key, a tray under the camera) is refused instead.
"""

import sqlite3
import time
import uuid
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.errors import reason
from broker.logs import get_logger
from broker.protocol import (
    UNREADABLE,
    Assignment,
    Fact,
    KeptRecord,
    LogMessage,
    PlannedSession,
    Receipt,
    Refused,
    Result,
    RiichiRecorded,
    RiichiStanding,
    RiichiTakenBack,
    Taken,
    decode_fact,
    encode,
    play_sequence,
    signing,
)
from broker.rules import Profile
from kiosk.errors import JournalBroken, JournalFull, JournalNewer
from kiosk.journal_file import EVENTS_TABLE, JournalFile
from kiosk.table import Event, NotNow, Table, events, handle

log = get_logger("homologue.kiosk")

_EVENTS: Final = msgspec.json.Decoder(Event)

EVENT_TYPES: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Event))


class _EventHeader(Struct, frozen=True):
    """The fields of an event that every program can read, even if only a newer one knows its type."""

    type: str
    optional: bool = False


_EVENT_HEADERS: Final = msgspec.json.Decoder(_EventHeader)


class _FactPlay(Struct, frozen=True):
    """The fields of a fact that every program can read: its type and its play."""

    type: str
    round: int
    deal: int


class _FactHeader(Struct, frozen=True):
    fact: _FactPlay
    before: str | None = None


_FACT_HEADERS: Final = msgspec.json.Decoder(_FactHeader)

RESULT: Final = str(Result.__struct_config__.tag)

SESSION_FACTS: Final = frozenset(str(kind.__struct_config__.tag) for kind in (RiichiRecorded, RiichiTakenBack))

MOST_RECORDS: Final = 1000
"""Most records that a table keeps for its scorer."""

NEVER_TAKEN: Final = ("already_recorded", "id_reused")
"""Codes of facts that never need to be sent again."""

MISPLACED: Final = ("conflict", "chain_broken")
"""Codes of facts that need another number, or another fact before them."""

OTHER_DEVICE: Final = "another_device"
"""The code returned while another device serves the table."""

LATER: Final = (OTHER_DEVICE, "unknown_device")
"""Codes of facts that wait until this device serves the table and is known to the scorer."""

UNPROVEN: Final = ("unsigned", "unknown_device", "bad_signature")
"""Codes of facts whose signature the scorer does not accept. Those of another device are signed again by this one."""


class TableJournal(JournalFile):
    """One table's journal, open for one kiosk at a time."""

    @property
    def draft(self) -> str:
        """The contents of a form that is not complete yet."""
        return self._about("draft", "")

    @draft.setter
    def draft(self, text: str) -> None:
        self._save_draft("draft", text)

    @property
    def panel(self) -> str:
        """The choices so far of an arbiter at the panel."""
        return self._about("panel", "")

    @panel.setter
    def panel(self, text: str) -> None:
        self._save_draft("panel", text)

    @property
    def restoring_draft(self) -> str:
        """The progress of restoring, beyond the state of the trays."""
        return self._about("bench", "")

    @restoring_draft.setter
    def restoring_draft(self, text: str) -> None:
        self._save_draft("bench", text)

    def _save_draft(self, key: str, text: str) -> None:
        with suppress(JournalFull):
            self._write(lambda: self._store_about(key, text))

    @contextmanager
    def with_drafts(self, **drafts: str) -> Iterator[None]:
        """Write these drafts together with an event recorded in the block: a power cut leaves all of them or none."""
        before, self._drafts = self._drafts, {**self._drafts, **drafts}
        try:
            yield
        finally:
            self._drafts = before

    def events(self) -> Iterator[Event]:
        """Yield all accepted events known to this program, oldest first. Raises JournalBroken, JournalNewer."""
        try:
            for (event,) in self._store.execute("SELECT event FROM happened ORDER BY number"):
                try:
                    yield _EVENTS.decode(event)
                except msgspec.ValidationError as error:
                    header = _EVENT_HEADERS.decode(event)
                    if header.type in EVENT_TYPES or not header.optional:
                        raise JournalNewer(f"an event of the kind {header.type} is not known here: {error}") from None
        except (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalBroken(f"an event cannot be read: {reason(error)}") from None

    def last_plan(self) -> Assignment | None:
        """Return the most recent plan that this program can decode, or None."""
        for (event,) in self._store.execute("SELECT event FROM happened ORDER BY number DESC"):
            with suppress(*UNREADABLE):
                if isinstance(taken := _EVENTS.decode(event), events.Assigned):
                    return taken.assignment
        return None

    def set_events_aside(self) -> None:
        """Rename the table of events and start an empty one, without drafts. Facts stay. Raises JournalFull."""
        self._write(self._set_events_aside)

    def _set_events_aside(self) -> None:
        (before,) = self._store.execute("SELECT count(*) FROM sqlite_schema WHERE name GLOB 'happened_*'").fetchone()
        self._store.execute(f"ALTER TABLE happened RENAME TO happened_{before + 1}")
        self._store.execute(EVENTS_TABLE)
        for draft in ("draft", "panel", "bench"):
            self._store_about(draft, "")

    @property
    def last_event_ms(self) -> int | None:
        """When the last event was recorded, in ms since 1970; None if there is none."""
        row = self._store.execute("SELECT wall FROM happened ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else int(row[0])

    def record(self, event: Event, facts: Iterable[Fact], *, wall: int) -> tuple[LogMessage, ...]:
        """Write an event and its facts in one transaction. `wall` is in ms since 1970."""
        all_facts = tuple(facts)
        return self._write(lambda: self._record(event, all_facts, wall))

    def _record(self, event: Event, facts: tuple[Fact, ...], wall: int) -> tuple[LogMessage, ...]:
        messages: list[LogMessage] = []
        encoded = msgspec.json.encode(event)
        self._store.execute("INSERT INTO happened (wall, event) VALUES (?, ?)", (wall, encoded))
        for fact in facts:
            message = self._signed(self._message(fact, wall), max(self.last_seq, self.upto) + 1)
            row = (message.seq, message.id, encode(message))
            self._store.execute("INSERT INTO outbox (seq, id, body) VALUES (?, ?, ?)", row)
            messages.append(message)
        for key, text in self._drafts.items():
            self._store_about(key, text)
        # If a start is cut off before this is written, times of another clock remain.
        if isinstance(event, events.Restarted):
            self._set_about("boot", self._boot)
        return tuple(messages)

    def _message(self, fact: Fact, wall: int) -> LogMessage:
        owner = self._owner
        return LogMessage(id=uuid.uuid4().hex, event=owner.event, table=owner.table, seq=1, at=wall, fact=fact)

    def _signed(self, message: LogMessage, seq: int) -> LogMessage:
        """Return a message signed by this device under a number, with the hash of the fact before that number."""
        before = self._hash_of(seq - 1)
        return self.key.sign(replace(message, seq=seq, device=self.device, before=before, signature=None, sender=None))

    def _signed_again(self, body: bytes, seq: int) -> bytes:
        """Return a stored fact signed by this device, with all its fields, even those only a newer program knows."""
        fields = msgspec.json.decode(signing.stored_form(body), type=dict[str, Any])
        fields.pop("signature", None)
        if fields["fact"].get("sealed"):  # a sealed box can only be opened with the name of the device that sealed it
            fields["fact"]["sealed_by"] = fields["fact"].get("sealed_by") or fields.get("device")
        fields |= {"seq": seq, "device": self.device, "before": self._hash_of(seq - 1)}
        content = msgspec.json.encode(fields).removesuffix(b"}")
        return b'%b,"signature":"%b"}' % (content, self.key.sign_bytes(content).encode())

    def _hash_of(self, seq: int) -> str | None:
        """Return the hash of a fact as the scorer has it, or else as stored here; None if neither is known."""
        head = self._read("head")
        if head and seq == self.upto:
            return head
        row = self._store.execute("SELECT body FROM outbox WHERE seq = ?", (seq,)).fetchone()
        return signing.fact_hash(row[0]) if row else None

    def _sign_old(self) -> None:
        """Sign facts that an older program stored unsigned, unless the scorer has them."""
        unsigned = "SELECT min(seq) FROM outbox WHERE state <> 'safe' AND instr(body, ?) = 0"
        (first,) = self._store.execute(unsigned, (b',"signature":"',)).fetchone()
        if first is not None:
            with suppress(JournalFull), self._transaction():  # if the disk is full: done when the scorer refuses them
                self._sign_from(first, in_place=True)

    def _sign_from(self, first: int, *, in_place: bool) -> None:
        """Sign again all facts from a number on that the scorer lacks, because the fact before them has changed.

        They keep their numbers if `in_place`. Otherwise they get new ones, after all that the scorer has and all that
        keep their number here. Ids stay the same, so a fact that the scorer has after all does not count twice.
        """
        waiting = "SELECT seq, body FROM outbox WHERE state <> 'safe' AND seq >= ? ORDER BY seq"
        rows = self._store.execute(waiting, (first,)).fetchall()
        self._store.execute("UPDATE outbox SET seq = -seq WHERE state <> 'safe' AND seq >= ?", (first,))
        for seq, body in rows:
            number = seq if in_place else max(self.last_seq, self.upto) + 1
            self._store.execute(
                "UPDATE outbox SET seq = ?, body = ?, state = iif(code IN (?, ?), state, 'open'),"
                " code = iif(code IN (?, ?), code, NULL) WHERE seq = ?",
                (number, self._signed_again(body, number), *NEVER_TAKEN, *NEVER_TAKEN, -seq),
            )

    @property
    def last_seq(self) -> int:
        """The number of the last fact, or 0."""
        (seq,) = self._store.execute("SELECT max(coalesce(max(seq), 0), 0) FROM outbox").fetchone()
        return int(seq)

    def unsent(self) -> tuple[LogMessage, ...]:
        """Return the facts without a receipt, in order."""
        return tuple(decode_fact(body) for body in self.unsent_bodies())

    def unsent_bodies(self) -> tuple[bytes, ...]:
        """Return the facts without a receipt as the bytes that were signed."""
        return tuple(body for _, body in self.unsent_rows())

    def unsent_rows(self, most: int = -1) -> list[tuple[int, bytes]]:
        """Return the first `most` facts without a receipt, or all, each with its number."""
        query = "SELECT seq, body FROM outbox WHERE state = 'open' ORDER BY seq LIMIT ?"
        return self._store.execute(query, (most,)).fetchall()

    def waiting(self) -> tuple[int, int]:
        """Return how many facts have no receipt, and the number of the first."""
        query = "SELECT count(*), coalesce(min(seq), 0) FROM outbox WHERE state = 'open'"
        count, first = self._store.execute(query).fetchone()
        return count, first

    def refused(self) -> tuple[tuple[int, str], ...]:
        """Return number and code of each refused fact. Reused ids are left out: the scorer has those facts."""
        query = "SELECT seq, code FROM outbox WHERE state = 'refused' AND code <> 'id_reused' ORDER BY seq"
        rows = self._store.execute(query)
        return tuple((int(seq), str(code)) for seq, code in rows)

    def add_facts(self, facts: Iterable[bytes]) -> int:
        """Add facts of another device of this table, and return how many were new.

        Each keeps its number if that is free here, so that no number is missing; if the scorer has another fact there,
        its receipt says so, and this one gets a new number. A fact whose predecessor is the same here also keeps its
        signature.
        """
        bodies = tuple(facts)
        return self._write(lambda: sum(map(self._add_fact, bodies)))

    def _add_fact(self, body: bytes) -> bool:
        fact = decode_fact(body)
        known = "SELECT 1 FROM outbox WHERE id = ?"
        if self._store.execute(known, (fact.id,)).fetchone():
            return False
        number = fact.seq
        if self._store.execute("SELECT 1 FROM outbox WHERE seq = ?", (number,)).fetchone():
            number = max(self.last_seq, self.upto) + 1
            body = self._signed_again(body, number)
        elif self._hash_of(number - 1) not in (None, fact.before):
            body = self._signed_again(body, number)
        self._store.execute("INSERT INTO outbox (seq, id, body) VALUES (?, ?, ?)", (number, fact.id, body))
        return True

    def results(self) -> frozenset[tuple[int, int]]:
        """Return round and deal of each result that was accepted here and that the scorer has, or will get."""
        rows = self._store.execute("SELECT body FROM outbox WHERE state <> 'refused' OR code = 'already_recorded'")
        facts = [_FACT_HEADERS.decode(body).fact for (body,) in rows]
        return frozenset((fact.round, fact.deal) for fact in facts if fact.type == RESULT)

    def result(self, round_: int, deal: int) -> LogMessage | None:
        """Return the last result of a play, whatever the scorer said about it; None if there is none."""
        rows = self._store.execute("SELECT body FROM outbox ORDER BY seq DESC")
        for (body,) in rows:
            if _FACT_HEADERS.decode(body).fact == _FactPlay(RESULT, round_, deal):
                with suppress(Refused):  # a newer program's result may hold values that this one cannot read
                    return decode_fact(body)
        return None

    def standing(self, planned: PlannedSession) -> PlannedSession | None:
        """Return a riichi session with its standing after this table's entries; None if only the scorer knows it.

        The plan gives the standing before those entries, unless another device has continued the session since.
        """
        known: dict[int, RiichiStanding | None] = {0: None, planned.entries: planned.standing}
        last, highest = planned.entries, 0
        for (body,) in self._store.execute("SELECT body FROM outbox WHERE state <> 'refused' ORDER BY seq"):
            header = _FACT_HEADERS.decode(body).fact
            if header.round != planned.round or header.type not in SESSION_FACTS:
                continue
            try:
                fact = decode_fact(body).fact
            except Refused:  # written by a newer program
                return None
            if isinstance(fact, RiichiRecorded):
                known[fact.entry], last, highest = fact.standing, fact.entry, max(highest, fact.entry)
            elif isinstance(fact, RiichiTakenBack):
                last = fact.entry - 1
        if highest < planned.entries:
            return planned
        return replace(planned, standing=known[last], entries=last) if last in known else None

    def apply_receipt(self, receipt: Receipt) -> bool:
        """Mark the facts that a receipt names as taken or refused; reopen those that the scorer should have but lacks.

        The scorer lacks facts when its store was lost, replaced by an older copy, or altered on disk (the receipt then
        lists what is wanted); the tables still have everything. The head of its hash chain shows what a copy holds.
        Return whether facts were signed again, and so must be sent at once.
        """
        signed = self._write(lambda: self._apply_receipt(receipt))
        self.store = receipt.store
        return signed

    def _apply_receipt(self, receipt: Receipt) -> bool:
        new_store = receipt.store != self.store
        if new_store:
            again = "UPDATE outbox SET state = 'open', code = NULL WHERE state <> 'safe' OR seq < ?"
            self._store.execute(again, (self._shared_from(receipt),))
        if new_store or receipt.upto >= self.upto:
            self._set_about("upto", str(receipt.upto))
            self._set_about("head", receipt.head or "")
        self._set_about("store", receipt.store)
        self._reopen(receipt)
        for refusal in receipt.refused:
            self._close(refusal.seq, refusal.id, "refused", refusal.code)
        for taken in receipt.taken:
            self._close(taken.seq, taken.id, "safe", None)
        signed = self._renumber(receipt.taken) or self._sign_unproven()
        # This device may serve the table and be known by now: brokers do not order messages across topics.
        later = "UPDATE outbox SET state = 'open', code = NULL WHERE state = 'refused' AND code IN (?, ?)"
        self._store.execute(later, LATER)
        return signed

    def _shared_from(self, receipt: Receipt) -> int:
        """Return the first number from which a store new to us holds our facts, up to `upto` and apart from gaps.

        Each fact holds the hash of the one before it, so the store's last fact vouches for all of them.
        """
        shared, due = receipt.upto + 1, receipt.head
        rows = self._store.execute("SELECT seq, body FROM outbox WHERE seq <= ? ORDER BY seq DESC", (receipt.upto,))
        for seq, body in rows:
            if due is None or seq != shared - 1 or signing.fact_hash(body) != due:
                break
            shared, due = seq, _FACT_HEADERS.decode(body).before
        return shared

    def _reopen(self, receipt: Receipt) -> None:
        self._store.execute("UPDATE outbox SET state = 'open' WHERE state = 'safe' AND seq > ?", (receipt.upto,))
        for seq in (*receipt.gaps, *receipt.wanted):
            self._store.execute("UPDATE outbox SET state = 'open' WHERE state = 'safe' AND seq = ?", (seq,))

    def _close(self, seq: int, message_id: str, state: str, code: str | None) -> None:
        """Mark one fact. "Taken" overrides any earlier answer, and a clash of numbers overrides an earlier refusal."""
        self._store.execute(
            "UPDATE outbox SET state = ?, code = ? WHERE seq = ? AND id = ?"
            " AND (state = 'open' OR ? = 'safe' OR (state = 'refused' AND ? IN (?, ?)))",
            (state, code, seq, message_id, state, code, *MISPLACED),
        )

    def _renumber(self, used: Iterable[Taken]) -> bool:
        """Renumber facts whose numbers another device has used, and all later ones, as they form one chain.

        A play that began under clashing numbers and ended under others then arrives out of order. The scorer sets it
        aside until the head arbiter has decided.
        """
        misplaced = self._store.execute("SELECT seq FROM outbox WHERE code IN (?, ?)", MISPLACED)
        clashing = {seq for (seq,) in misplaced}
        another = "SELECT seq FROM outbox WHERE seq = ? AND id <> ? AND state <> 'refused'"
        for taken in used:
            clashing.update(seq for (seq,) in self._store.execute(another, (taken.seq, taken.id)))
        for seq in clashing:
            self._store.execute("UPDATE outbox SET state = 'open' WHERE seq = ?", (seq,))
        if clashing:
            self._sign_from(min(clashing), in_place=False)
        return bool(clashing)

    def _sign_unproven(self) -> bool:
        """Sign facts that another device made and the scorer does not accept: its card was brought to this device."""
        of_others = "SELECT min(seq) FROM outbox WHERE code IN (?, ?, ?) AND instr(body, ?) = 0"
        ours = b',"device":"%b"' % self.device.encode()
        (first,) = self._store.execute(of_others, (*UNPROVEN, ours)).fetchone()
        if first is not None:
            self._sign_from(first, in_place=True)
        return first is not None

    def store_records(self, records: Iterable[KeptRecord]) -> tuple[KeptRecord, ...]:
        """Store records for the scorer, and return those that it did not name, as its store lacks them.

        Beyond `MOST_RECORDS`, the oldest are dropped. Raises JournalFull.
        """
        named = {record.id: record.sealed for record in records}
        self._write(lambda: self._store_records(named))
        rows = self._store.execute("SELECT id, sealed FROM kept ORDER BY number").fetchall()
        return tuple(KeptRecord(id=id_, sealed=sealed) for id_, sealed in rows if id_ not in named)

    def _store_records(self, named: Mapping[str, str]) -> None:
        self._store.executemany(
            "INSERT INTO kept (id, sealed) VALUES (?, ?) ON CONFLICT (id)"
            " DO UPDATE SET sealed = excluded.sealed WHERE sealed <> excluded.sealed",
            named.items(),
        )
        newest = "SELECT number FROM kept ORDER BY number DESC LIMIT ?"
        self._store.execute(f"DELETE FROM kept WHERE number NOT IN ({newest})", (MOST_RECORDS,))  # noqa: S608 - ours

    def reopen_refused(self) -> None:
        """Reopen refused facts, except those that can never be taken: the plan may have been corrected."""
        again = "UPDATE outbox SET state = 'open', code = NULL WHERE state = 'refused' AND code NOT IN (?, ?)"
        self._write(lambda: self._store.execute(again, NEVER_TAKEN))


NO_ORDER: Final = ()
"""Empty, as only the scorer can judge the order of plays: a table does not see the desk's rulings or other devices."""


@dataclass(frozen=True, slots=True)
class Unexpected:
    """A fact that breaks the sequence, with the scorer's code for the reason."""

    fact: Fact
    code: str


class SequenceWatch:
    """Checks facts against the rules by which the scorer counts them (`protocol/play_sequence.py`).

    No fact is held back: that would lose it, and four players could not finish their play. The scorer stores a fact out
    of sequence, and the head arbiter decides what counts. But a table may be offline, so it shows the problem itself
    before the players leave. `unexpected` is the last such fact, until a later play has a result.
    """

    def __init__(self) -> None:
        self.unexpected: Unexpected | None = None
        self._context: tuple[object, ...] = ()
        """Store, profile and session being played. When they change, the sequence starts afresh."""
        self._sequence = play_sequence.TableSequence(NO_ORDER)

    def take(self, state: Table, facts: Iterable[Fact]) -> None:
        """Check new facts, given the state in which the table reports them."""
        for fact in facts:
            if isinstance(fact, play_sequence.SEQUENCED_FACTS):
                self._follow(state)
                self._judge(fact)

    def _judge(self, fact: Fact) -> None:
        try:
            self._sequence.follow(fact)
        except play_sequence.OutOfSequence as error:
            self.unexpected = Unexpected(fact, error.code)
            self._sequence.add(fact)
            return
        if self.unexpected and isinstance(fact, Result) and fact.round != self.unexpected.fact.round:
            self.unexpected = None

    def _follow(self, state: Table) -> None:
        plan = state.assignment
        session = state.session.planned if state.session else None
        context = (plan.store, plan.profile, session and session.round) if plan else ()
        if context != self._context:
            rules = state.profile
            nearest = isinstance(rules, Profile) and rules.payments.several_hu.value == "nearest"
            sessions = frozenset((session.round,) if session else ())
            self._context, self._sequence = context, play_sequence.TableSequence(NO_ORDER, sessions, nearest=nearest)
            if session and session.entries:  # another device has begun the session
                self._sequence.plays[session.round] = play_sequence.SessionSoFar(confirmed=True)


ENOUGH_ROOM: Final = 100_000_000
"""Bytes. A day's journal takes less than one hundredth of this."""

CHECK_EVERY_NS: Final = 30_000_000_000
CHECK_LOW_EVERY_NS: Final = 1_000_000_000
"""How often the card is checked, and how often while it has little room."""

MOST_HELD: Final = 1000
"""As many events as a table could need in an hour. Beyond that, somebody is playing with a button."""

HELD: Final = (events.ButtonPressed, events.ButtonReleased, events.ButtonHeld, events.Ordered, events.TrayChecked)
"""Events that nobody can repeat. The camera checks a tray again only after it was touched."""


BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Bounds for the duration of a journal write: a good card takes a few ms, a worn one half a second."""


class WriteTimes:
    """Statistics of how long writes to the journal took."""

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

    def snapshot(self) -> tuple[tuple[int, ...], float]:
        """Return the number of writes in each bucket, the last one unbounded, and their total time in seconds."""
        return tuple(self._counts), self._total


class JournaledTable:
    """A table whose state is backed by its journal. `wall` returns ms since 1970; other times are monotonic, in ns.

    The disk is checked on a schedule and never because of a press, so the checks reveal nothing about presses.
    """

    def __init__(self, journal: TableJournal, wall: Callable[[], int], now: int = 0) -> None:
        """Replay the journal. Raises JournalBroken, JournalNewer."""
        self.journal, self._wall, self.writes = journal, wall, WriteTimes()
        self.state, self.sequence = Table(), SequenceWatch()
        self._held: deque[Event] = deque()
        self._check_at = now
        self.begun_again = False
        """Whether the current play was started again because the journal's events for it could not be replayed."""
        try:
            for event in journal.events():
                self.state, facts = handle(self.state, event)
                self.sequence.take(self.state, facts)
        except NotNow as refusal:
            raise JournalNewer(f"it holds an event that the table does not allow: {refusal}") from None

    def restarted(self, now: int) -> None:
        """Record that the program has restarted, unless the journal is empty."""
        self._log_unexpected(None)
        if not self.journal.empty:
            self.apply(events.Restarted(at=now, same_clock=self.journal.same_boot, doubts=True))

    def apply(self, event: Event) -> tuple[LogMessage, ...]:
        """Apply one event, and return the facts to send. Raises NotNow, leaving everything unchanged.

        On return, the event and its facts are durable. An event that changes nothing is not stored.
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
        """The code if facts are out of sequence (they are sent all the same), or if a play was started again."""
        again = JournalNewer.code if self.begun_again else None
        return "fact_unexpected" if self.sequence.unexpected else again

    def _log_unexpected(self, before: Unexpected | None) -> None:
        found = self.sequence.unexpected
        if found and found is not before:
            fact, kind = found.fact, play_sequence.fact_kind(found.fact)
            log.error("fact_unexpected", fact=kind, round=fact.round, deal=fact.deal, code=found.code)

    # ---- while the disk is full -------------------------------------------------------------

    @property
    def held(self) -> bool:
        """Whether events are waiting for room, so that no later event may overtake them."""
        return bool(self._held)

    def hold(self, event: Event) -> str:
        """Hold an event that nobody could repeat; return the code of what is wrong."""
        if isinstance(event, HELD) and len(self._held) < MOST_HELD:
            self._held.append(event)
        return JournalFull.code

    def release(self) -> Iterator[Event]:
        """Yield the held events in order. The caller holds again those that still cannot be written."""
        held, self._held = self._held, deque()
        yield from held

    def check_due(self, now: int) -> bool:
        """Return whether the disk is due for a check."""
        return now >= self._check_at

    def check_disk(self, now: int) -> str | None:
        """Check the disk, with a trial write if room is low; return the code of what is wrong, or None."""
        code = self._disk_problem()
        self._check_at = now + (CHECK_EVERY_NS if code in (None, "card_refuses") else CHECK_LOW_EVERY_NS)
        return code

    def _disk_problem(self) -> str | None:
        if not self.journal.spares and self.journal.room >= ENOUGH_ROOM and not self.journal.refuses_writes:
            return None
        try:
            if self.journal.spares:  # even if no press has failed to be written
                self.journal.try_card()
            else:
                self.journal.try_room()
        except JournalFull:
            return JournalFull.code
        if self.journal.on_spare:
            return "card_refuses"
        return "disk_low" if self.journal.room < ENOUGH_ROOM else None
