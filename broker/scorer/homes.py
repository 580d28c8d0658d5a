"""Second homes of the desk's decisions, from which a store recovers rulings and admissions that it lacks.

One home is a folder on another disk (broker/store/second_home.py). The others are tables: those that a decision is
about and a few more, which store it sealed with the event's key, so that they can neither read nor forge one.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import count
from math import inf
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec.structs import replace

from broker.errors import StoreBroken, StoreError
from broker.protocol import (
    MOST_STORED_RECORDS,
    DeviceRecord,
    KeptBack,
    KeptRecord,
    LogMessage,
    Ruling,
    SigningKey,
    encode,
    topics,
)
from broker.scorer.alerts import Concern, ranges
from broker.scorer.stored_event import JournalContent
from broker.store import (
    DESK,
    LOST,
    STORE,
    DeskDecision,
    Entry,
    Fault,
    Journal,
    SecondHome,
    SecondHomeWriter,
    SqliteReader,
    Witness,
    message_of,
    source_and_number,
)

PATIENCE_WITH_GAPS_S: Final = 60.0
"""How long rulings returned by tables wait for earlier ones that are missing."""

FEWEST_HOMES: Final = 3
"""Tables that store each record, if there are as many: one device may fail together with the scorer's disk."""

LARGEST: Final = topics.KEPT.limit * 3 // 4
"""Most bytes of a message with everything that a table stores."""

NONCE: Final = 12


class Seal:
    """Encrypts records so that only this event's scorer can open them."""

    def __init__(self, event: str, key: SigningKey) -> None:
        self._event = event.encode()
        self._secret = hmac.digest(key.to_bytes(), b"homologue: records kept at tables", "sha256")
        self._cipher = AESGCM(self._secret)

    def close(self, entry: Entry, id_: str) -> KeptRecord:
        """Seal a record for a table. The same record always gives the same result."""
        plain = b"%d %b" % entry
        nonce = hmac.digest(self._secret, plain, hashlib.sha256)[:NONCE]
        sealed = nonce + self._cipher.encrypt(nonce, plain, self._event)
        return KeptRecord(id=id_, sealed=base64.b64encode(sealed).decode())

    def open(self, record: KeptRecord) -> DeskDecision | None:
        """Open a record returned by a table, or return None if it is not one of ours."""
        try:
            sealed = base64.b64decode(record.sealed, validate=True)
            plain = self._cipher.decrypt(sealed[:NONCE], sealed[NONCE:], self._event)
            received_at, _, body = plain.partition(b" ")
            message = message_of(body)
        except (ValueError, InvalidTag, StoreBroken):
            return None
        return None if isinstance(message, LogMessage) else DeskDecision(message, int(received_at), body)


class RecordsAtTables:
    """The records that each table stores for the scorer."""

    def __init__(self, tables: Iterable[int], seal: Seal) -> None:
        self._tables, self._seal = tuple(sorted(tables)), seal
        self._records: dict[int, dict[str, KeptRecord]] = {table: {} for table in self._tables}
        self._ids: set[str] = set()
        self.waiting: dict[str, DeskDecision] = {}
        """Records that have come back and wait for earlier ones."""

    def add(self, decided: DeskDecision) -> list[int]:
        """Assign a record to its tables. Return which."""
        self._ids.add(decided.message.id)
        self.waiting.pop(decided.message.id, None)
        record = self._seal.close((decided.received_at, decided.body), decided.message.id)
        homes = [table for table in self._homes(decided) if table in self._records]
        for table in homes:
            self._records[table][record.id] = record
        return homes

    def _homes(self, decided: DeskDecision) -> list[int]:
        """Return the table that a record is about, if any, and others in rotation until there are enough."""
        about = decided.message.table
        homes = [about] if about is not None and about in self._records else []
        start = source_and_number(decided.message)[1]
        for place in range(len(self._tables)):
            if len(homes) >= FEWEST_HOMES:
                break
            table = self._tables[(start + place) % len(self._tables)]
            homes += [table] if table not in homes else []
        return homes

    def records(self, table: int) -> tuple[KeptRecord, ...]:
        """Return the records for a table: all, or the newest that fit into a message."""
        records: list[KeptRecord] = []
        left = LARGEST
        for record in reversed(self._records[table].values()):
            left -= len(record.sealed) + len(record.id) + 50
            if left < 0 or len(records) == MOST_STORED_RECORDS:
                break
            records.append(record)
        return tuple(reversed(records))

    def receive(self, table: int, records: Iterable[KeptRecord]) -> Iterator[Concern]:
        """Add records returned by a table to `waiting`. Yield concerns for records that are not ours."""
        for record in records:
            if record.id in self._ids or record.id in self.waiting:
                continue
            decided = self._seal.open(record)
            if decided is None or decided.message.id != record.id:
                yield Concern("kept_unproven", table)
            else:
                self.waiting[record.id] = decided

    def next(self, first_missing: Callable[[int], int], *, in_order: bool) -> DeskDecision | None:
        """Remove and return the next record to recover. With `in_order`, none above a missing number.

        Return None if there is none.
        """
        for decided in sorted(self.waiting.values(), key=lambda one: source_and_number(one.message)):
            source, number = source_and_number(decided.message)
            if not in_order or number <= first_missing(source):
                return self.waiting.pop(decided.message.id)
        return None


class SecondHomes:
    """Copies decisions to their second homes, and recovers those that are missing here. For the scorer's thread only.

    `count` applies a recovered decision. `record` stores a device record under the next number, if its own is
    already used. `seconds` is a monotonic clock.
    """

    def __init__(
        self,
        journal: Journal,
        stored: JournalContent,
        tables: Iterable[int],
        seal: Seal,
        seconds: Callable[[], float],
        count: Callable[[DeskDecision], None],
        record: Callable[[DeviceRecord], None],
    ) -> None:
        self._journal, self._seconds, self._count, self._record = journal, seconds, count, record
        self.writer: SecondHomeWriter | None = None
        """Writes to the other disk, if there is one."""
        self._decided, self.numbers = list(stored.decided), Numbers(stored)
        self.rulings_missing = self.numbers.missing(DESK)
        """Numbers of rulings that are known to have been given but are nowhere."""
        self._altered = {one.id: one.height for one in stored.faults if one.id and one.code != LOST}
        self._at_tables = RecordsAtTables(tables, seal)
        self.tables_to_publish: set[int] = set()
        """Tables that have more records to store."""
        for decided in stored.decided:
            self._at_tables.add(decided)
        self._original_numbers: dict[str, int] = {}
        """Original numbers of device records recovered under another number, by id."""
        self.gaps_at = inf
        """When (s) `recover` stops waiting for missing earlier records."""

    def missing(self) -> Iterator[Concern]:
        """Yield a concern for rulings that are nowhere: numbers below others that nobody has."""
        if text := ranges(self.rulings_missing):
            yield Concern("rulings_missing", about=len(self.rulings_missing), values={"numbers": text})

    def write_to(self, writer: SecondHomeWriter) -> None:
        """Write all decisions, past and future, to another disk."""
        self.writer = writer
        writer.queue_entries([(one.received_at, one.body) for one in self._decided])
        writer.queue_journal(self._journal)

    def wait(self) -> None:
        """Wait until all decisions are on the other disk, if there is one and it responds. Thread-safe."""
        if self.writer:
            self.writer.wait()

    def follow(self, decided: Sequence[DeskDecision]) -> None:
        """Copy the decisions of a commit to their second homes."""
        if self.writer:
            self.writer.queue_entries([(one.received_at, one.body) for one in decided])
        for one in decided:
            self._decided.append(one)
            self.numbers.add(one)
            self.tables_to_publish.update(self._at_tables.add(one))
        self.rulings_missing = self.numbers.missing(DESK)

    def records(self, table: int) -> tuple[KeptRecord, ...]:
        """Return the records that a table has to store."""
        return self._at_tables.records(table)

    def receive(self, message: KeptBack) -> list[Concern]:
        """Accept records that a table has stored and this scorer may lack. Return concerns."""
        before = len(self._at_tables.waiting)
        found = [*self._at_tables.receive(message.table, message.records)]
        if len(self._at_tables.waiting) > before:
            self.gaps_at = self._seconds() + PATIENCE_WITH_GAPS_S
            for one in self._at_tables.waiting.values():
                self.numbers.add_known(one)
            self.rulings_missing = self.numbers.missing(DESK)
        return found + self.recover(self._seconds())

    def recover(self, now: float) -> list[Concern]:
        """Take back the waiting records: in order, unless the missing ones do not come in time. Return concerns.

        `now` in s of the monotonic clock.
        """
        recovered, concerns = list[DeskDecision](), list[Concern]()
        while one := self._at_tables.next(self.numbers.first_missing, in_order=now < self.gaps_at):
            known = [other.message for other in self._decided]
            late = is_late(one.message, known, self._original_numbers)
            if self.numbers.has(one) or (not late and is_late(one.message, known, {})):
                concerns += concerns_of_clash([one])
                old = late or is_late(one.message, (other.message for other in self._at_tables.waiting.values()), {})
                if not isinstance(one.message, Ruling) and not old:  # device records are independent of one another
                    self._original_numbers[one.message.id] = one.message.number
                    self._record(one.message)
                    recovered.append(one)
                continue
            altered = self._altered.pop(one.message.id, None)
            with self._journal.commit():
                self._journal.append(one.message, one.received_at, one.body, repairs=altered)
            recovered.append(one)
            if late:  # it will count in its place when the journal is read again
                number = one.message.number
                concerns.append(Concern("ruling_late", about=number, values={"number": number}))
            else:
                self._count(one)
        if recovered:
            concerns += (*concerns_of_recovered(recovered), *self.missing())
        if not self._at_tables.waiting:
            self.gaps_at = inf
        return concerns


def is_late(
    message: Ruling | DeviceRecord, others: Iterable[Ruling | DeviceRecord], numbers: Mapping[str, int]
) -> bool:
    """Return whether a later decision may depend on this one. For a device record, only those about the same device do.

    `numbers`: original numbers, by id, of records that now have others.
    """
    after = [one for one in others if numbers.get(one.id, one.number) >= message.number and one.id != message.id]
    if isinstance(message, Ruling):
        return any(isinstance(one, Ruling) for one in after)
    about = message.table, message.device
    return any(not isinstance(one, Ruling) and (one.table, one.device) == about for one in after)


def with_second_home(
    journal: Journal, stored: JournalContent, home: SecondHome | None, note: Callable[[Iterable[Concern]], None]
) -> JournalContent:
    """Return a journal's content with what a second home has beyond it, if there is one. Raises StoreError."""
    if home is None:
        return stored
    try:
        stored, found = recover_lost(journal, stored, home)
    except OSError as error:
        text = f"{home.folder}: {error.strerror or error}"
        found = [Concern("second_home_failed", values={"text": text})]
    note(found)
    return stored


def recover_lost(journal: Journal, content: JournalContent, home: SecondHome) -> tuple[JournalContent, list[Concern]]:
    """Add to a journal the decisions that only its second home has, and find what is still missing.

    Call it before anything is computed from the journal, so that recovered decisions count as if never lost. Raises
    StoreError, OSError.
    """
    known_ids = {one.message.id for one in content.decided}
    numbers = {source_and_number(one.message): one.message.id for one in content.decided}
    altered = {fault.id: fault.height for fault in content.faults if fault.code != LOST}
    recovered, clashing = list[DeskDecision](), list[DeskDecision]()
    for received_at, body in home.read():
        message = message_of(body)
        if isinstance(message, LogMessage) or message.id in known_ids:
            continue
        decided = DeskDecision(message, received_at, body)
        (clashing if source_and_number(message) in numbers else recovered).append(decided)
        known_ids.add(message.id)
        numbers.setdefault(source_and_number(message), message.id)
    recovered += _renumbered(clashing, [one.message for one in (*content.decided, *recovered, *clashing)])
    with journal.commit():
        for one in recovered:
            journal.append(one.message, one.received_at, one.body, repairs=altered.get(one.message.id))
    content = content.with_decided(recovered)
    witness = Witness(home.witness, read_only=True)
    known = {(fault.id, fault.code) for fault in content.faults}
    lost = [] if journal.agrees_with(witness) else journal.lost(witness)
    content = content.with_faults([fault for fault in lost if (fault.id, fault.code) not in known])
    return content, [*concerns_of_recovered(recovered), *concerns_of_clash(clashing)]


def _renumbered(clashing: Iterable[DeskDecision], known: Sequence[Ruling | DeviceRecord]) -> Iterator[DeskDecision]:
    """Yield the latest clashing device records with new numbers: device records are independent of one another."""
    highest = max((one.number for one in known if not isinstance(one, Ruling)), default=0)
    for one in clashing:
        if not isinstance(one.message, Ruling) and not is_late(one.message, known, {}):
            highest += 1
            message = replace(one.message, number=highest)
            yield DeskDecision(message, one.received_at, encode(message))


def lost_since(journal: Journal, content: JournalContent, newer: Iterable[Path]) -> list[Fault]:
    """Return what newer, damaged copies of the event have and this journal lacks."""
    known = content.ids() | {fault.id for fault in content.faults}
    lost: dict[str, Fault] = {}
    for copy in newer:
        with suppress(StoreError), closing(SqliteReader(copy / STORE, journal.event)) as reader:
            for line in reader.witness_lines():
                if line.id not in known:
                    lost[line.id] = Fault(LOST, *line[:4])
    return [*lost.values()]


def concerns_of_recovered(recovered: Sequence[DeskDecision]) -> Iterator[Concern]:
    """Yield concerns that decisions were recovered from a second home."""
    numbers = ranges(one.message.number for one in recovered if isinstance(one.message, Ruling))
    if numbers:
        yield Concern("rulings_back", values={"numbers": numbers})
    others = len(recovered) - sum(isinstance(one.message, Ruling) for one in recovered)
    if others:
        yield Concern("admissions_back", values={"count": others})


def concerns_of_clash(clashing: Iterable[DeskDecision]) -> Iterator[Concern]:
    """Yield a concern for each ruling that came back too late: its number was used again."""
    for one in clashing:
        if isinstance(one.message, Ruling):
            number, author, reason = one.message.number, one.message.author, one.message.reason
            values: dict[str, int | str] = {"number": number, "author": author, "reason": reason}
            yield Concern("ruling_too_late", one.message.table, about=number, values=values)


class Numbers:
    """The numbers used in each sequence of decisions (see `source_and_number`)."""

    def __init__(self, content: JournalContent) -> None:
        self._taken = {source_and_number(one.message): one.message.id for one in content.decided}
        faults = ((fault.table, fault.seq) for fault in content.faults)
        self._known = {(table, seq) for table, seq in faults if table is not None and seq and table <= DESK}
        """Numbers known to have been given, whether or not their records are here."""

    def add(self, decided: DeskDecision) -> None:
        """Record a decision that is in the journal."""
        self._taken[source_and_number(decided.message)] = decided.message.id

    def add_known(self, decided: DeskDecision) -> None:
        """Record that a number was given, although its decision is not in the journal yet."""
        self._known.add(source_and_number(decided.message))

    def has(self, decided: DeskDecision) -> bool:
        """Return whether a decision's number is used, by itself or by another one."""
        return source_and_number(decided.message) in self._taken

    def highest(self, source: int) -> int:
        """Return the highest number that is used."""
        return max((number for other, number in self._taken if other == source), default=0)

    def first_missing(self, source: int) -> int:
        """Return the lowest number that is not used."""
        return next(number for number in count(1) if (source, number) not in self._taken)

    def highest_given(self, source: int) -> int:
        """Return the highest number known to have been given."""
        return max((number for other, number in self._known if other == source), default=self.highest(source))

    def missing(self, source: int) -> list[int]:
        """Return the missing numbers: those below others, or known to have been given."""
        last = max(self.highest_given(source), self.highest(source))
        return [number for number in range(1, last + 1) if (source, number) not in self._taken]
