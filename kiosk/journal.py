"""The table's memory: every accepted event, and the facts that wait for the scorer's receipt.

An event and the facts that follow from it are committed together, before any effect shows. After a power cut at
any instant the journal is played again and the table stands where it stood.
"""

import fcntl
import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from broker.contract.messages import Fact, LogMessage, Receipt
from broker.contract.wire import decode, encode
from kiosk.errors import JournalBroken, JournalInUse
from kiosk.table.events import Event

VERSION: Final = "1"

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS happened (
    number INTEGER PRIMARY KEY,
    wall   INTEGER NOT NULL,
    event  BLOB    NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS outbox (
    seq   INTEGER PRIMARY KEY,
    id    TEXT NOT NULL UNIQUE,
    body  BLOB NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'safe', 'refused')),
    code  TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""

_EVENTS: Final = msgspec.json.Decoder(Event)


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose journal it is."""

    event: str
    table: int


class Journal:
    """One table's journal, open for one kiosk at a time."""

    def __init__(self, path: Path, whose: Whose) -> None:
        """Open or make it. Raises JournalInUse, JournalBroken."""
        self._whose = whose
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = path.with_suffix(".lock").open("w")
        except OSError as error:
            raise JournalBroken(f"{path}: {error}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise JournalInUse(f"another kiosk works on {path}") from None
        try:
            self._open(path)
        except (sqlite3.DatabaseError, JournalBroken) as error:
            self.close()
            raise JournalBroken(f"{path}: {error}") from None

    def _open(self, path: Path) -> None:
        self._store = sqlite3.connect(path, isolation_level=None)
        self._store.execute("PRAGMA journal_mode=WAL")
        self._store.execute("PRAGMA synchronous=FULL")
        self._store.executescript(SCHEMA)
        self._about("version", VERSION, VERSION)
        self._about("event", self._whose.event, self._whose.event)
        self._about("table", str(self._whose.table), str(self._whose.table))
        self.device = self._about("device", uuid.uuid4().hex)

    def _about(self, key: str, first: str, must_be: str | None = None) -> str:
        self._store.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (key, first))
        (value,) = self._store.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        if must_be is not None and value != must_be:
            raise JournalBroken(f"its {key} is {value}, not {must_be}")
        return str(value)

    def close(self) -> None:
        """Close it; may be called twice."""
        if hasattr(self, "_store"):
            self._store.close()
        self._lock.close()

    def events(self) -> Iterator[Event]:
        """Give all accepted events, oldest first. Raises JournalBroken."""
        try:
            for (event,) in self._store.execute("SELECT event FROM happened ORDER BY number"):
                yield _EVENTS.decode(event)
        except (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalBroken(f"an event cannot be read: {error}") from None

    @contextmanager
    def _as_one(self) -> Iterator[None]:
        """Commit all or nothing; a commit that fails leaves nothing open either."""
        self._store.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._store.execute("COMMIT")
        except BaseException:
            if self._store.in_transaction:  # some errors make sqlite roll back by itself
                self._store.execute("ROLLBACK")
            raise

    @property
    def empty(self) -> bool:
        """Whether nothing has ever happened here."""
        return self._store.execute("SELECT 1 FROM happened LIMIT 1").fetchone() is None

    def record(self, event: Event, facts: Iterable[Fact], *, wall: int, after: int) -> tuple[LogMessage, ...]:
        """Make an event and its facts durable, as one. `wall` is ms since 1970; `after` a seq known to be taken."""
        messages: list[LogMessage] = []
        with self._as_one():
            encoded = msgspec.json.encode(event)
            self._store.execute("INSERT INTO happened (wall, event) VALUES (?, ?)", (wall, encoded))
            for seq, fact in enumerate(facts, max(self.last_seq, after) + 1):
                message = self._message(seq, fact, wall)
                row = (seq, message.id, encode(message))
                self._store.execute("INSERT INTO outbox (seq, id, body) VALUES (?, ?, ?)", row)
                messages.append(message)
        return tuple(messages)

    def _message(self, seq: int, fact: Fact, wall: int) -> LogMessage:
        whose = self._whose
        return LogMessage(id=uuid.uuid4().hex, event=whose.event, table=whose.table, seq=seq, at=wall, fact=fact)

    @property
    def last_seq(self) -> int:
        """The number of the last fact."""
        (seq,) = self._store.execute("SELECT coalesce(max(seq), 0) FROM outbox").fetchone()
        return int(seq)

    def unsent(self) -> tuple[LogMessage, ...]:
        """Give the facts for which no receipt has come, in order."""
        rows = self._store.execute("SELECT body FROM outbox WHERE state = 'open' ORDER BY seq")
        return tuple(decode(LogMessage, body) for (body,) in rows)

    def refused(self) -> tuple[tuple[int, str], ...]:
        """Give what the scorer did not take: number and code."""
        rows = self._store.execute("SELECT seq, code FROM outbox WHERE state = 'refused' ORDER BY seq")
        return tuple((int(seq), str(code)) for seq, code in rows)

    def settle(self, receipt: Receipt) -> None:
        """Mark what the scorer names as taken or refused; what was once safe stays so.

        A number that was taken under another id is another device's fact: ours is a conflict, kept and shown.
        """
        with self._as_one():
            for refusal in receipt.refused:
                self._close(refusal.seq, refusal.id, "refused", refusal.code)
            for taken in receipt.taken:
                self._close(taken.seq, taken.id, "safe", None)
                self._store.execute(
                    "UPDATE outbox SET state = 'refused', code = 'conflict' WHERE seq = ? AND state = 'open'",
                    (taken.seq,),
                )

    def _close(self, seq: int, message_id: str, state: str, code: str | None) -> None:
        self._store.execute(
            "UPDATE outbox SET state = ?, code = ? WHERE seq = ? AND id = ? AND state = 'open'",
            (state, code, seq, message_id),
        )
