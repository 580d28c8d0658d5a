"""The file of a table's journal: on the card, or in a spare folder while the card takes no writes.

It is one SQLite file, open in one kiosk at a time. Its write-ahead log is allocated in full before play begins, so that
no press waits for the file system.

If the card refuses a write, because it is full or failing, the whole journal moves to a spare folder in the middle of
that write, and returns once a regular check finds the card writable. A spare holds all that the card holds plus
everything since, so when both are found, the one that is ahead is used. If each has something the other lacks (the
table was played without its stick), the spare's facts are added to the card's. The scorer takes each only once, by id.
"""

import errno
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TextIO, TypeVar

from broker.errors import reason
from broker.files import make_folder, sync_log
from broker.logs import get_logger
from broker.protocol import Refused, decode_fact, signing
from kiosk.config import JOURNAL_FILE, KEY_FILE, KioskSettings, open_device_key
from kiosk.errors import JournalBroken, JournalFull, JournalInUse

log = get_logger("homologue.kiosk")

VERSION: Final = "4"

EVENTS_TABLE: Final = """
CREATE TABLE IF NOT EXISTS happened (
    number INTEGER PRIMARY KEY,
    wall   INTEGER NOT NULL,
    event  BLOB    NOT NULL
) STRICT;
"""

SCHEMA: Final = f"""
{EVENTS_TABLE}
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

LARGEST_EVENT: Final = 65_536
"""Bytes. No event takes more, except a long plan."""

BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
"""Changes whenever the machine starts (Linux)."""


def boot_id() -> str:
    """Return an id of this run of the machine, or "" if it cannot be read."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


REFUSALS: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


def refused(error: Exception) -> bool:
    """Return whether an error means that the disk refused a write, for lack of room or another reason."""
    if isinstance(error, OSError):
        return error.errno in (errno.EIO, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in REFUSALS


def is_read_only(folder: Path) -> bool:
    """Return whether a folder's file system is read-only.

    When ext4 is forced read-only, an open file still accepts writes into space it already has, as the journal's log
    does. The file system reports them as synced, and writes nothing.
    """
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal's file with the settings that all of them use. Raises sqlite3.Error."""
    store = sqlite3.connect(path, isolation_level=None)
    try:
        store.execute("PRAGMA journal_mode=WAL")
        store.execute("PRAGMA synchronous=FULL")
    except BaseException:
        store.close()
        raise
    return store


def _make_own_folder(folder: Path) -> None:
    """Create a spare's folder, private to this user. Raises OSError, also if it belongs to somebody else."""
    make_folder(folder, 0o700)
    for made in (folder, folder.parent):
        if made.stat().st_uid != os.getuid():
            raise PermissionError(f"{made} belongs to another user")


def remove_journal(path: Path) -> None:
    """Remove a journal's files. One that cannot be removed is found to be behind at the next start, and dropped."""
    for suffix in ("-wal", "-shm", ""):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _set_aside(path: Path) -> None:
    """Rename a spare that could not be joined to the card, so that somebody can inspect it."""
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(path.with_name(f"unjoined-{path.name}{suffix}"))


def copy_into(folders: Iterable[Path], store: sqlite3.Connection) -> tuple[Path, sqlite3.Connection] | None:
    """Copy a journal into the first folder that accepts it; return its path and open connection there, or None."""
    for folder in folders:
        spare = None
        try:
            _make_own_folder(folder)
            _set_aside(folder / JOURNAL_FILE)
            spare = connect(folder / JOURNAL_FILE)
            store.backup(spare)
        except (OSError, sqlite3.Error):
            if spare is not None:
                spare.close()
        else:
            return folder / JOURNAL_FILE, spare
    return None


def open_without_card(folders: Iterable[Path], card: Path) -> Path | None:
    """Return the journal's file in the first usable folder, brought up to date from the card; None if there is none.

    The card is readable, but not by SQLite, which writes even to read; so its files are copied.
    """
    for folder in folders:
        spare, copy = folder / JOURNAL_FILE, folder / "card.sqlite"
        try:
            _make_own_folder(folder)
            remove_journal(copy)
            for suffix in ("-wal", ""):
                if (source := card.with_name(card.name + suffix)).exists():
                    shutil.copyfile(source, copy.with_name(copy.name + suffix))
            if copy.exists() and count_events(copy) > count_events(spare):
                with closing(connect(copy)) as ahead, closing(connect(spare)) as behind:
                    ahead.backup(behind)
            remove_journal(copy)
            connect(spare).close()
        except (OSError, sqlite3.Error):
            continue
        return spare
    return None


def count_events(path: Path) -> int:
    """Return the number of events in a journal's file, 0 if there is no such file. Raises sqlite3.Error."""
    if not path.exists():
        return 0
    with closing(connect(path)) as store:
        return _count_events(store)


def is_ahead(spare: sqlite3.Connection, card: sqlite3.Connection) -> bool:
    """Return whether a spare holds all events of the card, and more."""
    have = _count_events(card)
    event = "SELECT wall, event FROM happened WHERE number = ?"
    same = spare.execute(event, (have,)).fetchone() == card.execute(event, (have,)).fetchone()
    return same and _count_events(spare) > have


def is_written_by(spare: sqlite3.Connection, card: sqlite3.Connection, key: str) -> bool:
    """Return whether this key signed all facts that only the spare has, and the spare has no triggers or views."""
    known = {body for (body,) in card.execute("SELECT body FROM outbox")}
    more = [body for (body,) in spare.execute("SELECT body FROM outbox") if body not in known]
    signed = all(signing.is_signed_by(key, body, decode_fact(body).signature) for body in more)
    triggers = "SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view')"
    return signed and spare.execute(triggers).fetchone() is None


def _count_events(store: sqlite3.Connection) -> int:
    if not store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'happened'").fetchone():
        return 0
    (count,) = store.execute("SELECT coalesce(max(number), 0) FROM happened").fetchone()
    return int(count)


LOG_PAGES: Final = 500
"""Pages of the log before a checkpoint: about one event in 400 waits for one."""

EXTRA_PAGES: Final = 50
"""More pages than one event adds when the log is nearly full."""


def allocate_log(store: sqlite3.Connection, pages: int = LOG_PAGES) -> None:
    """Grow the log to its full length, then empty it: the file keeps its size for events to come.

    Raises sqlite3.OperationalError if there is no room; then the log grows with the events, as SQLite's usually does.
    """
    (size,) = store.execute("PRAGMA page_size").fetchone()
    store.execute("DROP TABLE IF EXISTS ahead")  # left by a start that was interrupted here
    store.execute("CREATE TABLE ahead (pages BLOB)")
    store.execute("INSERT INTO ahead VALUES (zeroblob(?))", ((pages + EXTRA_PAGES) * size,))
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute("DROP TABLE ahead")
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute(f"PRAGMA wal_autocheckpoint={pages}")


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JournalOwner:
    """The event and table that a journal belongs to."""

    event: str
    table: int


class JournalFile:
    """The file of one journal, with transactional writes."""

    def __init__(
        self, path: Path, owner: JournalOwner, key: signing.SigningKey | None = None, spares: Sequence[Path] = ()
    ) -> None:
        """Open or create the journal, in one of the `spares` if the card takes no writes.

        By default the key is the one in the file beside it. Raises JournalInUse, JournalBroken, JournalFull.
        """
        self._owner, self._folder, self._card, self.spares = owner, path.parent, path, tuple(spares)
        self._spare: Path | None = None
        """The journal's file while the card takes no writes; None while it is on the card."""
        self._drafts: dict[str, str] = {}
        self.refuses_writes = False
        """Whether a write failed for lack of room, whatever the disk reports (because of a quota, for example)."""
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

    @classmethod
    def of(cls, settings: KioskSettings) -> Self:
        """Open the journal of a table. Raises BadConfiguration as well."""
        owner = JournalOwner(settings.config.event, settings.config.table)
        return cls(settings.journal, owner, settings.device_key(), settings.spares)

    def _open_lock(self, path: Path) -> TextIO:
        """Open the lock file. If the card takes no writes, an existing one will do."""
        try:
            make_folder(path.parent)
            return path.open("w")
        except OSError:
            if not self.spares or not path.is_file():
                raise
            return path.open()

    def _open_somewhere(self) -> None:
        """Open the card's file and join the spares to it; if it is damaged or takes no writes, open a spare instead."""
        try:
            self._open(self._card)
            for folder in self.spares:
                self._join(folder / JOURNAL_FILE)
        except (sqlite3.DatabaseError, OSError) as error:
            found = open_without_card(self.spares, self._card) if refused(error) else None
            if found is None and isinstance(error, sqlite3.DatabaseError):
                found = self._longest_spare()
            if found is None:
                raise
            if hasattr(self, "_store"):
                self._store.close()
            self._open(found)
            self._spare = found

    def _longest_spare(self) -> Path | None:
        """Return the longest journal in a spare that this device has written, or None.

        What a damaged card held cannot be known, but a spare holds all of it.
        """
        lengths, empty = dict[Path, int](), sqlite3.connect(":memory:")
        with closing(empty):
            empty.executescript(SCHEMA)
            for path in (folder / JOURNAL_FILE for folder in self.spares):
                with suppress(sqlite3.DatabaseError, Refused):
                    if path.exists():
                        with closing(connect(path)) as spare:
                            if self._is_ours(spare, empty):
                                lengths[path] = _count_events(spare)
        return max(lengths, key=lengths.__getitem__, default=None)

    def _is_ours(self, spare: sqlite3.Connection, card: sqlite3.Connection) -> bool:
        """Return whether a spare holds a journal of this table, written by this device."""
        about = dict(spare.execute("SELECT key, value FROM about"))
        if (about.get("event"), about.get("table")) != (self._owner.event, str(self._owner.table)):
            return False
        ours = is_written_by(spare, card, self.key.public)
        if not ours:
            log.warning("spare_journal_foreign")
        return ours

    def _join(self, path: Path) -> None:
        """Add what a spare holds and the card lacks, then remove the spare.

        A spare that cannot be read, or that another device wrote, is left alone, as sticks are easily swapped.
        """
        if not path.exists():
            return
        try:
            with closing(connect(path)) as other:
                if not self._is_ours(other, self._store):
                    return
                if is_ahead(other, self._store):
                    other.backup(self._store)
                    self._read_about()
                    self._sign_old()
                else:
                    open_ = other.execute("SELECT body FROM outbox WHERE state = 'open' ORDER BY seq")
                    bodies = [body for (body,) in open_]
                    with self._transaction():
                        for body in bodies:
                            self._add_fact(body)
        except (JournalFull, Refused):
            return
        except sqlite3.DatabaseError as error:
            if refused(error):
                raise
            return
        remove_journal(path)

    def _open(self, path: Path) -> None:
        sync_log(path)
        self._store = connect(path)
        (verdict,) = self._store.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":  # a card may lose what it reported as written: find out now rather than at a press
            raise sqlite3.DatabaseError(str(verdict))
        # The schema and the owner are written at once: if the card fills up in between, there is no journal, rather
        # than one without an owner.
        self._store.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
        self._read_about()
        self._store.execute("COMMIT")
        self._sign_old()

    def _read_about(self) -> None:
        self._about("version", VERSION, VERSION)
        self._about("event", self._owner.event, self._owner.event)
        self._about("table", str(self._owner.table), str(self._owner.table))
        self.device = self.key.device
        self._store_about("device", self.device)
        self.start = int(self._about("start", "0")) + 1
        self._set_about("start", str(self.start))
        boot = boot_id()
        self.same_boot = bool(boot) and self._about("boot", "") == boot
        """Whether the machine has not restarted since the journal was last open: its clock has run on."""
        self._boot = boot
        if self.empty:
            self._set_about("boot", boot)
        self.store = self._about("store", "") or None
        """The scorer's store from which the last receipt came."""
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
        """The last of this table's facts in the scorer's store, from any device. Ours are numbered after it."""
        return int(self._read("upto"))

    def _set_about(self, key: str, value: str) -> None:
        self._store.execute("UPDATE about SET value = ? WHERE key = ?", (value, key))

    def _store_about(self, key: str, text: str) -> None:
        self._about(key, "")
        self._set_about(key, text)

    def close(self) -> None:
        """Close the journal; may be called twice."""
        if hasattr(self, "_store"):
            with suppress(sqlite3.OperationalError):  # closing also fails on a card that takes no writes
                self._store.close()
        self._lock.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run the block in one transaction. A commit that fails is rolled back too."""
        if self._spare is None and is_read_only(self._folder):
            self.refuses_writes = True
            raise JournalFull(f"{self._folder} is read-only")
        try:
            self._store.execute("BEGIN IMMEDIATE")
            yield
            self._store.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._roll_back()
            if refused(error):
                self.refuses_writes = True
                raise JournalFull(str(error)) from None
            raise
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._store.in_transaction:  # SQLite rolls back by itself after some errors
            self._store.execute("ROLLBACK")

    def _write(self, do: Callable[[], T]) -> T:
        """Run `do` in a transaction, on another disk if this one refuses. Raises JournalFull if all do."""
        while True:
            try:
                with self._transaction():
                    return do()
            except JournalFull:
                if not self._move():
                    raise

    def _move(self) -> bool:
        """Continue in the next folder that accepts the journal; return whether one does.

        Nothing may be shown or sent about it, as the write that failed may have been a press.
        """
        at = 0 if self._spare is None else self.spares.index(self._spare.parent) + 1
        moved = copy_into(self.spares[at:], self._store)
        if moved is None:
            return False
        with suppress(sqlite3.OperationalError):
            self._store.close()
        self._spare, self._store = moved
        self.refuses_writes = False
        return True

    @property
    def on_spare(self) -> bool:
        """Whether the journal is in a spare because its card takes no writes."""
        return self._spare is not None

    def try_card(self) -> None:
        """Write to the card, moving back to it if that works, or else to a spare. Raises JournalFull."""
        if self._spare is not None:
            self._return_to_card(self._spare)
        self._write(self._try)

    def _try(self) -> None:
        """Write a value that differs from the stored one: SQLite skips a write that changes nothing."""
        self._set_about("room", "" if self._about("room", "") else "-")

    def _return_to_card(self, spare: Path) -> None:
        try:
            card = connect(self._card)
        except sqlite3.DatabaseError:  # what is left on a failing card may no longer be a database
            return
        try:
            self._store.backup(card)
        except sqlite3.DatabaseError:
            with suppress(sqlite3.DatabaseError):
                card.close()
            return
        self._store.close()
        self._store, self._spare = card, None
        remove_journal(spare)
        self.allocate_log()

    @property
    def room(self) -> int:
        """Free bytes on the disk; 0 if unknown."""
        try:
            return shutil.disk_usage(self._folder).free
        except OSError:
            return 0

    def try_room(self) -> None:
        """Write as many bytes as an event may take, and remove them. Raises JournalFull."""
        with self._transaction():  # without moving to a spare
            self._about("room", "")
            self._store.execute("UPDATE about SET value = hex(zeroblob(?)) WHERE key = 'room'", (LARGEST_EVENT // 2,))
            self._set_about("room", "")
        self.refuses_writes = False

    def allocate_log(self) -> None:
        """Allocate the log, so that events are durable soon even on a busy disk. Without room, it only takes longer."""
        try:
            allocate_log(self._store)
        except sqlite3.OperationalError as error:
            if not refused(error):
                raise
            self.refuses_writes = True

    @property
    def empty(self) -> bool:
        """Whether no event has been recorded yet."""
        return self._store.execute("SELECT 1 FROM happened LIMIT 1").fetchone() is None

    def copy_to(self, path: Path) -> None:
        """Copy the whole journal into a file for another machine, which has another clock. Raises JournalFull."""
        with closing(sqlite3.connect(path)) as other:
            try:
                self._store.backup(other)
                other.execute("UPDATE about SET value = '' WHERE key = 'boot'")
                other.commit()
            except sqlite3.OperationalError as error:
                raise JournalFull(f"{path}: {reason(error)}") from None

    def _sign_old(self) -> None:
        """Sign facts that have no signature yet. Called once the file is open."""
        raise NotImplementedError

    def _add_fact(self, body: bytes) -> bool:
        """Add a fact from a spare; return whether it was new."""
        raise NotImplementedError
