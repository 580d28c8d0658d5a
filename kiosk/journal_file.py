"""The file of a table's journal: on the card, or elsewhere while the card takes no writes.

One SQLite file, open in one kiosk at a time. Its write-ahead log gets its full length before anybody plays, so that no
press waits for the file system.

Where the card takes no write, full or failing, the whole journal goes on in another folder, a spare, in the middle of
that write, and comes back when the card takes it; the card is looked at by the clock. A spare holds everything that the
card holds, and what has happened since; so whoever finds both takes the one that is ahead. Where each of them has
something that the other has not (the table was played without its stick), the facts of the spare join those of the
card: they keep their ids, by which the scorer takes each once.
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

HAPPENED: Final = """
CREATE TABLE IF NOT EXISTS happened (
    number INTEGER PRIMARY KEY,
    wall   INTEGER NOT NULL,
    event  BLOB    NOT NULL
) STRICT;
"""

SCHEMA: Final = f"""
{HAPPENED}
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

BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
"""Another one whenever the machine starts (Linux)."""


def boot_id() -> str:
    """Tell one run of the machine from another; "" where that cannot be told."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


REFUSALS: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


def refused(error: Exception) -> bool:
    """Return whether the disk did not take a write, for want of room or whatever else."""
    if isinstance(error, OSError):
        return error.errno in (errno.EIO, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in REFUSALS


def is_read_only(folder: Path) -> bool:
    """Return whether the file system of a folder takes no writes.

    ext4 that was made read-only by force takes what a file that is open has room for, as the journal's log has, says
    that it is synced, and writes nothing.
    """
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal's file as every one is opened. Raises sqlite3.Error."""
    store = sqlite3.connect(path, isolation_level=None)
    try:
        store.execute("PRAGMA journal_mode=WAL")
        store.execute("PRAGMA synchronous=FULL")
    except BaseException:
        store.close()
        raise
    return store


def _make_own_folder(folder: Path) -> None:
    """Make a spare's folder, for this user alone. Raises OSError, also if it is somebody else's."""
    make_folder(folder, 0o700)
    for made in (folder, folder.parent):
        if made.stat().st_uid != os.getuid():
            raise PermissionError(f"{made} belongs to another user")


def remove_journal(path: Path) -> None:
    """Remove a journal's files; what cannot be removed is found behind the card at the next start, and dropped."""
    for suffix in ("-wal", "-shm", ""):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _put_aside(path: Path) -> None:
    """Keep what could not be joined to the card, for somebody to look at."""
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(path.with_name(f"unjoined-{path.name}{suffix}"))


def copy_into(folders: Iterable[Path], store: sqlite3.Connection) -> tuple[Path, sqlite3.Connection] | None:
    """Copy a journal into the first folder that takes it, and return its file there, open; None: none does."""
    for folder in folders:
        spare = None
        try:
            _make_own_folder(folder)
            _put_aside(folder / JOURNAL_FILE)
            spare = connect(folder / JOURNAL_FILE)
            store.backup(spare)
        except (OSError, sqlite3.Error):
            if spare is not None:
                spare.close()
        else:
            return folder / JOURNAL_FILE, spare
    return None


def open_without_card(folders: Iterable[Path], card: Path) -> Path | None:
    """Return the journal's file in the first folder that takes it, as far as this or the card has got.

    The card can be read, but not by SQLite, which writes to read: its files are copied.
    """
    for folder in folders:
        spare, copy = folder / JOURNAL_FILE, folder / "card.sqlite"
        try:
            _make_own_folder(folder)
            remove_journal(copy)
            for suffix in ("-wal", ""):
                if (source := card.with_name(card.name + suffix)).exists():
                    shutil.copyfile(source, copy.with_name(copy.name + suffix))
            if copy.exists() and length(copy) > length(spare):
                with closing(connect(copy)) as ahead, closing(connect(spare)) as behind:
                    ahead.backup(behind)
            remove_journal(copy)
            connect(spare).close()
        except (OSError, sqlite3.Error):
            continue
        return spare
    return None


def length(path: Path) -> int:
    """Return how many events a journal's file holds; none if there is no such file. Raises sqlite3.Error."""
    if not path.exists():
        return 0
    with closing(connect(path)) as store:
        return _length(store)


def is_ahead(spare: sqlite3.Connection, card: sqlite3.Connection) -> bool:
    """Return whether a spare holds all events of the card, and more."""
    have = _length(card)
    event = "SELECT wall, event FROM happened WHERE number = ?"
    same = spare.execute(event, (have,)).fetchone() == card.execute(event, (have,)).fetchone()
    return same and _length(spare) > have


def written_by(spare: sqlite3.Connection, card: sqlite3.Connection, key: str) -> bool:
    """Return whether each fact in a spare is signed with a device's key, or on the card too; and nothing in it acts."""
    known = {body for (body,) in card.execute("SELECT body FROM outbox")}
    more = [body for (body,) in spare.execute("SELECT body FROM outbox") if body not in known]
    signed = all(signing.is_signed_by(key, body, decode_fact(body).signature) for body in more)
    acts = "SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view')"
    return signed and spare.execute(acts).fetchone() is None


def _length(store: sqlite3.Connection) -> int:
    if not store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'happened'").fetchone():
        return 0
    (count,) = store.execute("SELECT coalesce(max(number), 0) FROM happened").fetchone()
    return int(count)


PAGES: Final = 500
"""Of the log, then it begins anew: one event of some 400 waits for that."""

MORE_PAGES: Final = 50
"""More pages than one event adds when the log is nearly full."""


def allocate_log(store: sqlite3.Connection, pages: int = PAGES) -> None:
    """Write the log full and take back what was written: the file keeps the room, for events to come.

    Raises sqlite3.OperationalError if there is no room; then the log grows with the events, as SQLite's do.
    """
    (size,) = store.execute("PRAGMA page_size").fetchone()
    store.execute("DROP TABLE IF EXISTS ahead")  # of a start that was cut here
    store.execute("CREATE TABLE ahead (pages BLOB)")
    store.execute("INSERT INTO ahead VALUES (zeroblob(?))", ((pages + MORE_PAGES) * size,))
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute("DROP TABLE ahead")
    store.execute("PRAGMA wal_checkpoint(RESTART)")
    store.execute(f"PRAGMA wal_autocheckpoint={pages}")


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JournalOwner:
    """Whose journal it is."""

    event: str
    table: int


class JournalFile:
    """Where one journal is kept, and how it is written: all of a change or nothing of it."""

    def __init__(
        self, path: Path, whose: JournalOwner, key: signing.SigningKey | None = None, spares: Sequence[Path] = ()
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

    @classmethod
    def of(cls, settings: KioskSettings) -> Self:
        """Open a table's journal, where its settings say. Raises BadConfiguration too."""
        whose = JournalOwner(settings.config.event, settings.config.table)
        return cls(settings.journal, whose, settings.device_key(), settings.spares)

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
        """Open the card's file and join to it what spares hold; where it is spoiled or takes no write, open a spare."""
        try:
            self._open(self._card)
            for folder in self.spares:
                self._join(folder / JOURNAL_FILE)
        except (sqlite3.DatabaseError, OSError) as error:
            found = open_without_card(self.spares, self._card) if refused(error) else None
            if found is None and isinstance(error, sqlite3.DatabaseError):
                found = self._whole_spare()
            if found is None:
                raise
            if hasattr(self, "_store"):
                self._store.close()
            self._open(found)
            self._spare = found

    def _whole_spare(self) -> Path | None:
        """Return the longest journal in a spare that this device has written; None: there is none.

        Of a card that is spoiled nobody can tell what it holds, and a spare holds all that it held.
        """
        found, nothing = dict[Path, int](), sqlite3.connect(":memory:")
        with closing(nothing):
            nothing.executescript(SCHEMA)
            for path in (folder / JOURNAL_FILE for folder in self.spares):
                with suppress(sqlite3.DatabaseError, Refused):
                    if path.exists():
                        with closing(connect(path)) as spare:
                            if self._is_ours(spare, nothing):
                                found[path] = _length(spare)
        return max(found, key=found.__getitem__, default=None)

    def _is_ours(self, spare: sqlite3.Connection, card: sqlite3.Connection) -> bool:
        """Return whether a spare holds a journal of this table that this device has written."""
        about = dict(spare.execute("SELECT key, value FROM about"))
        if (about.get("event"), about.get("table")) != (self._whose.event, str(self._whose.table)):
            return False
        ours = written_by(spare, card, self.key.public)
        if not ours:
            log.warning("spare_journal_foreign")
        return ours

    def _join(self, path: Path) -> None:
        """Take in what a spare holds and the card does not, then drop it.

        One that cannot be read, or that this device has not written, is left alone: a stick is soon exchanged.
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
                    with self._as_one():
                        for body in bodies:
                            self._take_in(body)
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
        (said,) = self._store.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":  # a card that lost what it said it had written: better now than at a press
            raise sqlite3.DatabaseError(str(said))
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

    def _keep(self, key: str, text: str) -> None:
        self._about(key, "")
        self._tell(key, text)

    def close(self) -> None:
        """Close it; may be called twice."""
        if hasattr(self, "_store"):
            with suppress(sqlite3.OperationalError):  # a card that takes no writes takes none at the end either
                self._store.close()
        self._lock.close()

    @contextmanager
    def _as_one(self) -> Iterator[None]:
        """Commit all or nothing; a commit that fails leaves nothing open either."""
        if self._spare is None and is_read_only(self._folder):
            self.tight = True
            raise JournalFull(f"{self._folder} is read-only")
        try:
            self._store.execute("BEGIN IMMEDIATE")
            yield
            self._store.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._undo()
            if refused(error):
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
        """Do it as one; where the disk takes no write, elsewhere. Raises JournalFull if nothing takes it."""
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
        moved = copy_into(self.spares[at:], self._store)
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
            card = connect(self._card)
        except sqlite3.DatabaseError:  # what a failing card holds may be no database any more
            return
        try:
            self._store.backup(card)
        except sqlite3.DatabaseError:
            with suppress(sqlite3.DatabaseError):
                card.close()
            return
        self._store.close()
        self._store, self._spare = card, None
        remove_journal(left)
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
            allocate_log(self._store)
        except sqlite3.OperationalError as error:
            if not refused(error):
                raise
            self.tight = True

    @property
    def empty(self) -> bool:
        """Whether nothing has ever happened here."""
        return self._store.execute("SELECT 1 FROM happened LIMIT 1").fetchone() is None

    def copy_to(self, path: Path) -> None:
        """Write the whole journal into a file for another machine, whose clock is another. Raises JournalFull."""
        with closing(sqlite3.connect(path)) as other:
            try:
                self._store.backup(other)
                other.execute("UPDATE about SET value = '' WHERE key = 'boot'")
                other.commit()
            except sqlite3.OperationalError as error:
                raise JournalFull(f"{path}: {reason(error)}") from None

    def _sign_old(self) -> None:
        """Sign facts that have no signature yet, once the file is open."""
        raise NotImplementedError

    def _take_in(self, body: bytes) -> bool:
        """Add a fact that a spare holds; return whether it is new."""
        raise NotImplementedError
