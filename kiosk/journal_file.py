"""The file of a table's journal: on the card, or elsewhere while the card takes no writes.

One SQLite file, open in one kiosk at a time. Its write-ahead log gets its full length before anybody plays, so that no
press waits for the file system.

Where the card takes no write, full or failing, the whole journal goes on elsewhere (`kiosk/spare.py`) in the middle of
that write, and comes back when the card takes it; the card is looked at by the clock.
"""

import errno
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, TypeVar

from broker.errors import reason
from broker.files import make_folder, sync_log
from broker.logs import get_logger
from broker.protocol import Refused, SigningKey
from kiosk import spare
from kiosk.config import KEY_FILE, open_device_key
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


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JournalOwner:
    """Whose journal it is."""

    event: str
    table: int


class JournalFile:
    """Where one journal is kept, and how it is written: all of a change or nothing of it."""

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
            found = spare.open_without_card(self.spares, self._card) if refused(error) else None
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
            if refused(error):
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
