"""What tables keep for the scorer of what the desk decides: those that a decision is about, and a few more.

They keep it sealed with the event's key: they can neither read nor make one.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from broker.errors import StoreBroken
from broker.protocol import MOST_KEPT, KeptRecord, LogMessage, SigningKey, topics
from broker.scorer.concerns import Concern
from broker.store import Decided, Entry, message_of, sequence_of

FEWEST_HOMES: Final = 3
"""Tables that keep each record, if there are as many: one device may die with the scorer's disk."""

LARGEST: Final = topics.KEPT.limit * 3 // 4
"""Bytes of a message with all that a table keeps."""

NONCE: Final = 12


class Seal:
    """Makes of a record what only this event's scorer can open."""

    def __init__(self, event: str, key: SigningKey) -> None:
        self._event = event.encode()
        self._secret = hmac.digest(key.to_bytes(), b"homologue: records kept at tables", "sha256")
        self._cipher = AESGCM(self._secret)

    def close(self, entry: Entry, id_: str) -> KeptRecord:
        """Return a record as a table keeps it: the same record always in the same form."""
        plain = b"%d %b" % entry
        nonce = hmac.digest(self._secret, plain, hashlib.sha256)[:NONCE]
        sealed = nonce + self._cipher.encrypt(nonce, plain, self._event)
        return KeptRecord(id=id_, sealed=base64.b64encode(sealed).decode())

    def open(self, record: KeptRecord) -> Decided | None:
        """Return a record that a table has given back; None if it is not ours."""
        try:
            sealed = base64.b64decode(record.sealed, validate=True)
            plain = self._cipher.decrypt(sealed[:NONCE], sealed[NONCE:], self._event)
            received_at, _, body = plain.partition(b" ")
            message = message_of(body)
        except (ValueError, InvalidTag, StoreBroken):
            return None
        return None if isinstance(message, LogMessage) else Decided(message, int(received_at), body)


class KeptAtTables:
    """What each table keeps for the scorer."""

    def __init__(self, tables: Iterable[int], seal: Seal) -> None:
        self._tables, self._seal = tuple(sorted(tables)), seal
        self._records: dict[int, dict[str, KeptRecord]] = {table: {} for table in self._tables}
        self._ids: set[str] = set()
        self.waiting: dict[str, Decided] = {}
        """What has come back and has to wait for what was decided before it."""

    def add(self, decided: Decided) -> list[int]:
        """Let tables keep a record; return which."""
        self._ids.add(decided.message.id)
        self.waiting.pop(decided.message.id, None)
        record = self._seal.close((decided.received_at, decided.body), decided.message.id)
        homes = [table for table in self._homes(decided) if table in self._records]
        for table in homes:
            self._records[table][record.id] = record
        return homes

    def _homes(self, decided: Decided) -> list[int]:
        """Return the table that a record is about, if it is about one, and others in turn until there are enough."""
        about = decided.message.table
        homes = [about] if about is not None and about in self._records else []
        start = sequence_of(decided.message)[1]
        for place in range(len(self._tables)):
            if len(homes) >= FEWEST_HOMES:
                break
            table = self._tables[(start + place) % len(self._tables)]
            homes += [table] if table not in homes else []
        return homes

    def records(self, table: int) -> tuple[KeptRecord, ...]:
        """Return what a table keeps: all, or the newest that a message has room for."""
        kept: list[KeptRecord] = []
        left = LARGEST
        for record in reversed(self._records[table].values()):
            left -= len(record.sealed) + len(record.id) + 50
            if left < 0 or len(kept) == MOST_KEPT:
                break
            kept.append(record)
        return tuple(reversed(kept))

    def come_back(self, table: int, records: Iterable[KeptRecord]) -> Iterator[Concern]:
        """Take in what a table has given back: it waits in `waiting`. Return what arbiters must know."""
        for record in records:
            if record.id in self._ids or record.id in self.waiting:
                continue
            decided = self._seal.open(record)
            if decided is None or decided.message.id != record.id:
                yield Concern("kept_unproven", table)
            else:
                self.waiting[record.id] = decided

    def next(self, first_missing: Callable[[int], int], *, in_order: bool) -> Decided | None:
        """Return what may be taken back now: in order nothing above a number that nobody has given back yet.

        It waits no more.
        """
        for decided in sorted(self.waiting.values(), key=lambda one: sequence_of(one.message)):
            whose, number = sequence_of(decided.message)
            if not in_order or number <= first_missing(whose):
                return self.waiting.pop(decided.message.id)
        return None
