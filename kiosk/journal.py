"""The table's journal: every accepted event, and the facts that wait for the scorer's receipt.

Each fact is signed with the device's key and carries the hash of the table's fact before it (protocol/signing.py).
What another device has signed stays as it is where it still fits; what gets another number, or another fact before it,
is signed anew by this device.

One SQLite file, open in one kiosk at a time. What `record` returns is durable. Its write-ahead log gets its full length
before anybody plays, so that no press waits for the file system. The table's state changes here alone, journal first.

Where the card takes no write, full or failing, the whole journal goes on elsewhere (`kiosk/spare.py`) in the middle of
that write, and comes back when the card takes it; the card is looked at by the clock. Where no place takes it, presses
and orders are held in memory, in their order, until one does: a press counts by its edge, so it may be learnt of later.
What people can do again (a key, a tray under the camera) is refused instead.
"""

import fcntl
import shutil
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, TypeVar

import msgspec
from msgspec.structs import replace

from broker.coded_error import reason
from broker.files import make_folder, sync_log
from broker.logs import get_logger
from broker.protocol import Fact, KeptRecord, LogMessage, Receipt, Refused, Result, Taken, decode_fact, encode
from broker.protocol.signing import SigningKey, fact_hash, kept_form
from kiosk import spare
from kiosk.config import KEY_FILE, open_device_key
from kiosk.errors import JournalBroken, JournalFull, JournalInUse
from kiosk.table import Event, Restarted

log = get_logger("homologue.kiosk")

VERSION: Final = "4"

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
CREATE TABLE IF NOT EXISTS kept (
    number INTEGER PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE,
    sealed TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""

AN_EVENT: Final = 65_536
"""Bytes: no event but a long plan takes more."""

_EVENTS: Final = msgspec.json.Decoder(Event)

MOST_RECORDS: Final = 1000
"""That a table keeps for its scorer."""

NEVER_TAKEN: Final = ("already_recorded", "id_reused")
"""Codes of facts that nobody need send again."""

MISPLACED: Final = ("conflict", "chain_broken")
"""Codes of facts that need another number, or another fact before them."""

OTHER_DEVICE: Final = "another_device"
"""The code where another device serves the table."""

LATER: Final = (OTHER_DEVICE, "unknown_device")
"""Codes of facts that wait until this device serves the table, and is known."""

UNPROVEN: Final = ("unsigned", "unknown_device", "bad_signature")
"""Codes of facts whose signature the scorer does not take. If it is another device's, this device signs instead."""

BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
"""Another one whenever the machine starts (Linux)."""


def boot_id() -> str:
    """Tell one run of the machine from another; "" where that cannot be told."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JournalOwner:
    """Whose journal it is."""

    event: str
    table: int


class TableJournal:
    """One table's journal, open for one kiosk at a time."""

    def __init__(
        self, path: Path, whose: JournalOwner, key: SigningKey | None = None, spares: Sequence[Path] = ()
    ) -> None:
        """Open or make it, in one of the folders `spares` where the card takes no writes.

        Without a key it is that in the file beside it. Raises JournalInUse, JournalBroken, JournalFull.
        """
        self._whose, self._folder, self._card, self.spares = whose, path.parent, path, tuple(spares)
        self._spare: Path | None = None
        """The file in which the journal is kept while its card takes no writes."""
        self._beside: dict[str, str] = {}
        self.tight = False
        """Something could not be written for want of room, whatever the disk says of itself (a quota, for one)."""
        try:
            self._lock = self._open_lock(path.with_suffix(".lock"))
        except OSError as error:
            raise JournalBroken(f"{path}: {reason(error)}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise JournalInUse(f"another kiosk works on {path}") from None
        try:
            self.key = key or open_device_key(path.with_name(KEY_FILE))
        except OSError as error:
            self._lock.close()
            raise JournalBroken(f"{path.with_name(KEY_FILE)}: {reason(error)}") from None
        try:
            self._open_somewhere()
        except (sqlite3.DatabaseError, OSError, Refused) as error:
            self.close()
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                raise JournalFull(f"{path}: {reason(error)}") from None
            raise JournalBroken(f"{path}: {reason(error)}") from None

    def _open_lock(self, path: Path) -> TextIO:
        """Open the lock; one that is there already is enough where the card takes no writes."""
        try:
            make_folder(path.parent)
            return path.open("w")
        except OSError:
            if not self.spares or not path.is_file():
                raise
            return path.open()

    def _open_somewhere(self) -> None:
        """Open the card's file and join to it what spares hold; where it cannot be written, open a spare."""
        try:
            self._open(self._card)
            for folder in self.spares:
                self._join(folder / spare.FILE)
        except (sqlite3.OperationalError, OSError) as error:
            found = spare.open_without_card(self.spares, self._card) if spare.refused(error) else None
            if found is None:
                raise
            if hasattr(self, "_store"):
                self._store.close()
            self._open(found)
            self._spare = found

    def _join(self, path: Path) -> None:
        """Take in what a spare holds and the card does not, then drop it.

        One that cannot be read, or that this device has not written, is left alone: a stick is soon exchanged.
        """
        if not path.exists():
            return
        try:
            with closing(spare.connect(path)) as other:
                about = dict(other.execute("SELECT key, value FROM about"))
                of = about.get("event"), about.get("table")
                if of != (self._whose.event, str(self._whose.table)) or not self._has_written(other):
                    return
                if spare.is_ahead(other, self._store):
                    other.backup(self._store)
                    self._read_about()
                    self._sign_old()
                else:
                    open_ = other.execute("SELECT body FROM outbox WHERE state = 'open' ORDER BY seq")
                    bodies = [body for (body,) in open_]
                    with self._as_one():
                        for body in bodies:
                            self._take_in(body)
        except (JournalFull, Refused):
            return
        except sqlite3.DatabaseError as error:
            if spare.refused(error):
                raise
            return
        spare.remove(path)

    def _has_written(self, other: sqlite3.Connection) -> bool:
        ours = spare.written_by(other, self._store, self.key.public)
        if not ours:
            log.warning("spare_journal_foreign")
        return ours

    def _open(self, path: Path) -> None:
        sync_log(path)
        self._store = spare.connect(path)
        (said,) = self._store.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":  # a card that lost what it said it had written: better now than at a press
            raise JournalBroken(str(said))
        # Laid out at once: a card that fills up meanwhile has no journal, rather than one that says not whose it is.
        self._store.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
        self._read_about()
        self._store.execute("COMMIT")
        self._sign_old()

    def _read_about(self) -> None:
        self._about("version", VERSION, VERSION)
        self._about("event", self._whose.event, self._whose.event)
        self._about("table", str(self._whose.table), str(self._whose.table))
        self.device = self.key.device
        self._keep("device", self.device)
        self.start = int(self._about("start", "0")) + 1
        self._tell("start", str(self.start))
        boot = boot_id()
        self.same_boot = bool(boot) and self._about("boot", "") == boot
        """Whether the machine has run on since the journal was open last: then its monotonic clock has too."""
        self._boot = boot
        if self.empty:
            self._tell("boot", boot)
        self.store = self._about("store", "") or None
        """The scorer's store that receipts came from last."""
        self._about("upto", "0")
        self._about("head", "")  # the hash of the fact `upto`, as the scorer has it

    def _about(self, key: str, first: str, must_be: str | None = None) -> str:
        self._store.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (key, first))
        (value,) = self._store.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        if must_be is not None and value != must_be:
            raise JournalBroken(f"its {key} is {value}, not {must_be}")
        return str(value)

    def _read(self, key: str) -> str:
        (value,) = self._store.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        return str(value)

    @property
    def upto(self) -> int:
        """Facts of this table that are in the scorer's store, by whatever device: ours are numbered after them."""
        return int(self._read("upto"))

    def _tell(self, key: str, value: str) -> None:
        self._store.execute("UPDATE about SET value = ? WHERE key = ?", (value, key))

    @property
    def draft(self) -> str:
        """What was typed into a form that is not whole yet; it is no event before that."""
        return self._about("draft", "")

    @draft.setter
    def draft(self, text: str) -> None:
        self._draft("draft", text)

    @property
    def panel(self) -> str:
        """What an arbiter who was let in has chosen so far."""
        return self._about("panel", "")

    @panel.setter
    def panel(self, text: str) -> None:
        self._draft("panel", text)

    @property
    def bench(self) -> str:
        """What staff were at while walls are restored, beside the trays' own state."""
        return self._about("bench", "")

    @bench.setter
    def bench(self, text: str) -> None:
        self._draft("bench", text)

    def _draft(self, key: str, text: str) -> None:
        with suppress(JournalFull):
            self._write(lambda: self._keep(key, text))

    def _keep(self, key: str, text: str) -> None:
        self._about(key, "")
        self._tell(key, text)

    @contextmanager
    def beside(self, **drafts: str) -> Iterator[None]:
        """Write these drafts with the event that is recorded meanwhile: a power cut leaves both, or neither."""
        before, self._beside = self._beside, {**self._beside, **drafts}
        try:
            yield
        finally:
            self._beside = before

    def close(self) -> None:
        """Close it; may be called twice."""
        if hasattr(self, "_store"):
            with suppress(sqlite3.OperationalError):  # a card that takes no writes takes none at the end either
                self._store.close()
        self._lock.close()

    def events(self) -> Iterator[Event]:
        """Return all accepted events, oldest first. Raises JournalBroken."""
        try:
            for (event,) in self._store.execute("SELECT event FROM happened ORDER BY number"):
                yield _EVENTS.decode(event)
        except (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalBroken(f"an event cannot be read: {reason(error)}") from None

    @contextmanager
    def _as_one(self) -> Iterator[None]:
        """Commit all or nothing; a commit that fails leaves nothing open either."""
        if self._spare is None and spare.is_read_only(self._folder):
            self.tight = True
            raise JournalFull(f"{self._folder} is read-only")
        try:
            self._store.execute("BEGIN IMMEDIATE")
            yield
            self._store.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._undo()
            if spare.refused(error):
                self.tight = True
                raise JournalFull(str(error)) from None
            raise
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self._store.in_transaction:  # some errors make sqlite roll back by itself
            self._store.execute("ROLLBACK")

    def _write(self, do: Callable[[], T]) -> T:
        """Do it as one; where the disk takes no write, elsewhere. Raises JournalFull where nothing takes it."""
        while True:
            try:
                with self._as_one():
                    return do()
            except JournalFull:
                if not self._move():
                    raise

    def _move(self) -> bool:
        """Go on in the next folder that takes the journal; return whether one does.

        Nothing of it may show or be told: it may be a press that could not be written.
        """
        at = 0 if self._spare is None else self.spares.index(self._spare.parent) + 1
        moved = spare.copy_into(self.spares[at:], self._store)
        if moved is None:
            return False
        with suppress(sqlite3.OperationalError):
            self._store.close()
        self._spare, self._store = moved
        self.tight = False
        return True

    @property
    def away(self) -> bool:
        """Whether it is kept elsewhere, for its card takes no writes."""
        return self._spare is not None

    def try_card(self) -> None:
        """Write to the card, and come back to it if it takes that; else go on elsewhere. Raises JournalFull."""
        if self._spare is not None:
            self._come_back(self._spare)
        self._write(self._try)

    def _try(self) -> None:
        """Write something else than is there: what is the same already SQLite does not write."""
        self._tell("room", "" if self._about("room", "") else "-")

    def _come_back(self, left: Path) -> None:
        try:
            card = spare.connect(self._card)
        except sqlite3.OperationalError:
            return
        try:
            self._store.backup(card)
        except sqlite3.OperationalError:
            with suppress(sqlite3.OperationalError):
                card.close()
            return
        self._store.close()
        self._store, self._spare = card, None
        spare.remove(left)
        self.lay_out()

    @property
    def room(self) -> int:
        """Bytes that are free on its disk; none where that cannot be told."""
        try:
            return shutil.disk_usage(self._folder).free
        except OSError:
            return 0

    def try_room(self) -> None:
        """Write as much as an event takes, and take it back. Raises JournalFull."""
        with self._as_one():  # here, and nowhere else
            self._about("room", "")
            self._store.execute("UPDATE about SET value = hex(zeroblob(?)) WHERE key = 'room'", (AN_EVENT // 2,))
            self._tell("room", "")
        self.tight = False

    def lay_out(self) -> None:
        """Let events be durable soon, whatever else the machine writes. Without room for that they are all the same."""
        try:
            spare.allocate_log(self._store)
        except sqlite3.OperationalError as error:
            if not spare.refused(error):
                raise
            self.tight = True

    @property
    def empty(self) -> bool:
        """Whether nothing has ever happened here."""
        return self._store.execute("SELECT 1 FROM happened LIMIT 1").fetchone() is None

    @property
    def last_wall(self) -> int | None:
        """When something happened here last, ms since 1970; None: never."""
        row = self._store.execute("SELECT wall FROM happened ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else int(row[0])

    def record(self, event: Event, facts: Iterable[Fact], *, wall: int) -> tuple[LogMessage, ...]:
        """Make an event and its facts durable, as one. `wall` is ms since 1970."""
        happened = tuple(facts)
        return self._write(lambda: self._record(event, happened, wall))

    def _record(self, event: Event, facts: tuple[Fact, ...], wall: int) -> tuple[LogMessage, ...]:
        messages: list[LogMessage] = []
        encoded = msgspec.json.encode(event)
        self._store.execute("INSERT INTO happened (wall, event) VALUES (?, ?)", (wall, encoded))
        for fact in facts:
            message = self._signed(self._message(fact, wall), max(self.last_seq, self.upto) + 1)
            row = (message.seq, message.id, encode(message))
            self._store.execute("INSERT INTO outbox (seq, id, body) VALUES (?, ?, ?)", row)
            messages.append(message)
        for key, text in self._beside.items():
            self._keep(key, text)
        if isinstance(event, Restarted):  # a start that is cut before it has told so leaves times of another clock
            self._tell("boot", self._boot)
        return tuple(messages)

    def _message(self, fact: Fact, wall: int) -> LogMessage:
        whose = self._whose
        return LogMessage(id=uuid.uuid4().hex, event=whose.event, table=whose.table, seq=1, at=wall, fact=fact)

    def _signed(self, message: LogMessage, seq: int) -> LogMessage:
        """Return a message as this device's, under a number, after the fact that has the number before."""
        before = self._hash_of(seq - 1)
        return self.key.sign(replace(message, seq=seq, device=self.device, before=before, signature=None, sender=None))

    def _signed_anew(self, body: bytes, seq: int) -> bytes:
        """Return a fact that is here the same way, with all that it says, be it that only a newer program knows it."""
        said = msgspec.json.decode(kept_form(body), type=dict[str, object])
        said.pop("signature", None)
        said |= {"seq": seq, "device": self.device, "before": self._hash_of(seq - 1)}
        content = msgspec.json.encode(said).removesuffix(b"}")
        return b'%b,"signature":"%b"}' % (content, self.key.sign_bytes(content).encode())

    def _hash_of(self, seq: int) -> str | None:
        """Return the hash of a fact as the scorer has it, or as it is here; None where neither is known."""
        head = self._read("head")
        if head and seq == self.upto:
            return head
        row = self._store.execute("SELECT body FROM outbox WHERE seq = ?", (seq,)).fetchone()
        return fact_hash(row[0]) if row else None

    def _sign_old(self) -> None:
        """Sign what a program of before facts were signed has left here, and the scorer has not said to have."""
        unsigned = "SELECT min(seq) FROM outbox WHERE state <> 'safe' AND instr(body, ?) = 0"
        (first,) = self._store.execute(unsigned, (b',"signature":"',)).fetchone()
        if first is not None:
            with suppress(JournalFull), self._as_one():  # without room they are signed when they were refused for it
                self._sign_from(first, in_place=True)

    def _sign_from(self, first: int, *, in_place: bool) -> None:
        """Sign anew all from a number on that the scorer has not: it stands after another fact than before.

        Either `in_place`, or under new numbers, after all that the scorer has and all that keeps its number here.
        Ids keep from counting twice what the scorer has all the same.
        """
        waiting = "SELECT seq, body FROM outbox WHERE state <> 'safe' AND seq >= ? ORDER BY seq"
        rows = self._store.execute(waiting, (first,)).fetchall()
        self._store.execute("UPDATE outbox SET seq = -seq WHERE state <> 'safe' AND seq >= ?", (first,))
        for seq, body in rows:
            number = seq if in_place else max(self.last_seq, self.upto) + 1
            self._store.execute(
                "UPDATE outbox SET seq = ?, body = ?, state = iif(code IN (?, ?), state, 'open'),"
                " code = iif(code IN (?, ?), code, NULL) WHERE seq = ?",
                (number, self._signed_anew(body, number), *NEVER_TAKEN, *NEVER_TAKEN, -seq),
            )

    @property
    def last_seq(self) -> int:
        """The number of the last fact."""
        (seq,) = self._store.execute("SELECT max(coalesce(max(seq), 0), 0) FROM outbox").fetchone()
        return int(seq)

    def unsent(self) -> tuple[LogMessage, ...]:
        """Return the facts for which no receipt has come, in order."""
        return tuple(decode_fact(body) for body in self.unsent_bodies())

    def unsent_bodies(self) -> tuple[bytes, ...]:
        """Return the same as the bytes that were signed."""
        return tuple(body for _, body in self.unsent_rows())

    def unsent_rows(self, most: int = -1) -> list[tuple[int, bytes]]:
        """Return the first of them, or all, each with its number."""
        query = "SELECT seq, body FROM outbox WHERE state = 'open' ORDER BY seq LIMIT ?"
        return self._store.execute(query, (most,)).fetchall()

    def waiting(self) -> tuple[int, int]:
        """Return how many facts wait for a receipt, and the number of the first."""
        query = "SELECT count(*), coalesce(min(seq), 0) FROM outbox WHERE state = 'open'"
        count, first = self._store.execute(query).fetchone()
        return count, first

    def refused(self) -> tuple[tuple[int, str], ...]:
        """Return what the scorer did not take: number and code. Where an id is reused, the fact is there."""
        query = "SELECT seq, code FROM outbox WHERE state = 'refused' AND code <> 'id_reused' ORDER BY seq"
        rows = self._store.execute(query)
        return tuple((int(seq), str(code)) for seq, code in rows)

    def take_in(self, facts: Iterable[bytes]) -> int:
        """Add facts of another device of this table, and give how many were new.

        Each keeps its number where that is free here, so that no number stays missing; where another fact has it at
        the scorer's, the receipt says so and it gets another. It keeps its signature too, where the fact before it is
        the same here.
        """
        bodies = tuple(facts)
        return self._write(lambda: sum(map(self._take_in, bodies)))

    def _take_in(self, body: bytes) -> bool:
        fact = decode_fact(body)
        known = "SELECT 1 FROM outbox WHERE id = ?"
        if self._store.execute(known, (fact.id,)).fetchone():
            return False
        number = fact.seq
        if self._store.execute("SELECT 1 FROM outbox WHERE seq = ?", (number,)).fetchone():
            number = max(self.last_seq, self.upto) + 1
            body = self._signed_anew(body, number)
        elif self._hash_of(number - 1) not in (None, fact.before):
            body = self._signed_anew(body, number)
        self._store.execute("INSERT INTO outbox (seq, id, body) VALUES (?, ?, ?)", (number, fact.id, body))
        return True

    def copy_to(self, path: Path) -> None:
        """Write the whole journal into a file for another machine, whose clock is another. Raises JournalFull."""
        with closing(sqlite3.connect(path)) as other:
            try:
                self._store.backup(other)
                other.execute("UPDATE about SET value = '' WHERE key = 'boot'")
                other.commit()
            except sqlite3.OperationalError as error:
                raise JournalFull(f"{path}: {reason(error)}") from None

    def results(self) -> frozenset[tuple[int, int]]:
        """Return round and deal of the results that were accepted here and that the scorer has, or is to have."""
        rows = self._store.execute("SELECT body FROM outbox WHERE state <> 'refused' OR code = 'already_recorded'")
        facts = [decode_fact(body).fact for (body,) in rows]
        return frozenset((fact.round, fact.deal) for fact in facts if isinstance(fact, Result))

    def result(self, round_: int, deal: int) -> LogMessage | None:
        """Return the last result of a play, whatever the scorer has said of it; None: there is none."""
        rows = self._store.execute("SELECT body FROM outbox ORDER BY seq DESC")
        for (body,) in rows:
            message = decode_fact(body)
            fact = message.fact
            if isinstance(fact, Result) and (fact.round, fact.deal) == (round_, deal):
                return message
        return None

    def settle(self, receipt: Receipt) -> bool:
        """Mark what the scorer names as taken or refused; what it should have and has not is open again.

        That happens when its store was lost, replaced by an older copy, or altered on its disk (then the receipt says
        what is wanted): the tables still have everything. What a copy has is known by the head of its chain. Return
        whether facts were signed anew: they are to be sent at once.
        """
        anew = self._write(lambda: self._settle(receipt))
        self.store = receipt.store
        return anew

    def _settle(self, receipt: Receipt) -> bool:
        another = receipt.store != self.store
        if another:
            again = "UPDATE outbox SET state = 'open', code = NULL WHERE state <> 'safe' OR seq < ?"
            self._store.execute(again, (self._shared_from(receipt),))
        if another or receipt.upto >= self.upto:
            self._tell("upto", str(receipt.upto))
            self._tell("head", receipt.head or "")
        self._tell("store", receipt.store)
        self._reopen(receipt)
        for refusal in receipt.refused:
            self._close(refusal.seq, refusal.id, "refused", refusal.code)
        for taken in receipt.taken:
            self._close(taken.seq, taken.id, "safe", None)
        anew = self._renumber(receipt.taken) or self._sign_unproven()
        # This device may serve, and be known, by now: brokers keep no order between two topics.
        later = "UPDATE outbox SET state = 'open', code = NULL WHERE state = 'refused' AND code IN (?, ?)"
        self._store.execute(later, LATER)
        return anew

    def _shared_from(self, receipt: Receipt) -> int:
        """Return the number from which on, up to `upto`, a store that we do not know has our facts, but for its gaps.

        Each names the hash of the one before it, so the last one vouches for them all.
        """
        shared, due = receipt.upto + 1, receipt.head
        rows = self._store.execute("SELECT seq, body FROM outbox WHERE seq <= ? ORDER BY seq DESC", (receipt.upto,))
        for seq, body in rows:
            if due is None or seq != shared - 1 or fact_hash(body) != due:
                break
            shared, due = seq, decode_fact(body).before
        return shared

    def _reopen(self, receipt: Receipt) -> None:
        self._store.execute("UPDATE outbox SET state = 'open' WHERE state = 'safe' AND seq > ?", (receipt.upto,))
        for seq in (*receipt.gaps, *receipt.wanted):
            self._store.execute("UPDATE outbox SET state = 'open' WHERE state = 'safe' AND seq = ?", (seq,))

    def _close(self, seq: int, message_id: str, state: str, code: str | None) -> None:
        """Mark one fact. Whatever was said of it before, what is taken is safe, and what clashes needs a new number."""
        self._store.execute(
            "UPDATE outbox SET state = ?, code = ? WHERE seq = ? AND id = ?"
            " AND (state = 'open' OR ? = 'safe' OR (state = 'refused' AND ? IN (?, ?)))",
            (state, code, seq, message_id, state, code, *MISPLACED),
        )

    def _renumber(self, used: Iterable[Taken]) -> bool:
        """Renumber facts whose numbers another device has used, and to all after them: they are one chain.

        A play that began under numbers that clash and ended under others is then told out of order. The scorer keeps it
        apart until the head arbiter has decided.
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
        """Sign what another device has made and the scorer does not take from it: its card was brought to this one."""
        of_others = "SELECT min(seq) FROM outbox WHERE code IN (?, ?, ?) AND instr(body, ?) = 0"
        ours = b',"device":"%b"' % self.device.encode()
        (first,) = self._store.execute(of_others, (*UNPROVEN, ours)).fetchone()
        if first is not None:
            self._sign_from(first, in_place=True)
        return first is not None

    def keep(self, records: Iterable[KeptRecord]) -> tuple[KeptRecord, ...]:
        """Keep records for the scorer, and return those that it has not named: its store lacks them.

        Of very many the oldest go. Raises JournalFull.
        """
        named = {record.id: record.sealed for record in records}
        self._write(lambda: self._keep_records(named))
        rows = self._store.execute("SELECT id, sealed FROM kept ORDER BY number").fetchall()
        return tuple(KeptRecord(id=id_, sealed=sealed) for id_, sealed in rows if id_ not in named)

    def _keep_records(self, named: Mapping[str, str]) -> None:
        self._store.executemany(
            "INSERT INTO kept (id, sealed) VALUES (?, ?) ON CONFLICT (id)"
            " DO UPDATE SET sealed = excluded.sealed WHERE sealed <> excluded.sealed",
            named.items(),
        )
        newest = "SELECT number FROM kept ORDER BY number DESC LIMIT ?"
        self._store.execute(f"DELETE FROM kept WHERE number NOT IN ({newest})", (MOST_RECORDS,))  # noqa: S608 - ours

    def reconsider(self) -> None:
        """Open again what was refused, but what cannot ever be taken: a plan may have been put right."""
        again = "UPDATE outbox SET state = 'open', code = NULL WHERE state = 'refused' AND code NOT IN (?, ?)"
        self._write(lambda: self._store.execute(again, NEVER_TAKEN))
