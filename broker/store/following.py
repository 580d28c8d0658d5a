"""Keep another machine's copy of an event up to date: one side reads what the copy lacks, the other writes it.

Journal rows come with their links and are appended unchanged. Files come whole when they have changed. The copy's store
has a name of its own, so that tables that find it active send what it lacks. What only one machine needs (its
certificate, its broker's store) is not copied; the keys of the event and of sealed deals are.
"""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
from msgspec import Struct

from broker.errors import FollowedDiffers
from broker.files import PRIVATE_FOLDER, make_folder, write_private
from broker.read_ahead import STORE
from broker.store.backup import SQLITE_HEADER, copy_file, files_of
from broker.store.journal import RefusedRow
from broker.store.records import WITNESS_SUFFIX, Fault, link_after
from broker.store.sqlite import SqliteJournal, SqliteReader

ROWS_A_PART: Final = 5_000

BYTES_A_PART: Final = 16 * 1024 * 1024
"""Limit of the file contents in one part. A larger file is sent alone."""

PEER: Final = "standby.json"
"""File in the event's folder with the other machine's address (broker/scorer/standby.py)."""

NOT_COPIED: Final = (
    *(STORE, "standings.csv", PEER, "store.toml", "broker", "upgrade", "session.key", "disk-reserve"),
    *("server.crt", "server.key"),
)
"""Files that each machine has for itself, makes from the rest, or, like the large upgrade packages, fetches again."""

REFUSED_UPTO: Final = "followed_refusals"
"""Key for the number of the last refusal that a copy has."""

KEYS_NOT_COPIED: Final = ("store", "version", "event", "lease", REFUSED_UPTO)
"""Keys stored beside the journal that belong to one store and are not copied."""

SET_ASIDE_PREFIX: Final = ".scorer-before"
"""Prefix of the folders for stores that the active one does not contain; a number follows. They are never removed."""


class Have(Struct, frozen=True, forbid_unknown_fields=True):
    """What a copy has, sent as a request for what it lacks."""

    height: int
    link: bytes
    refused: int
    files: bytes
    """Hash of the names and states of the copy's files."""
    about: bytes
    """Hash of the values stored beside the journal."""
    want: tuple[str, ...] = ()
    """Changed files that the copy requests."""


class JournalPart(Struct, frozen=True, forbid_unknown_fields=True):
    """What a copy lacks, or a part of it."""

    height: int
    """Height of the whole journal."""
    rows: list[tuple[int, int, int, int, str, bytes, bytes, int | None]] = []
    refused: list[tuple[int, RefusedRow]] = []
    aside: list[Fault] = []
    about: dict[str, str] | None = None
    states: dict[str, str] | None = None
    """The state of each file, if it differs from what the copy has."""
    files: dict[str, bytes] = {}
    differs: bool = False
    """The copy's journal contains rows that this one does not, so it is not a copy of this journal."""


def _hash(content: object) -> bytes:
    return hashlib.sha256(msgspec.msgpack.encode(content, order="deterministic")).digest()


def _state(path: Path) -> str:
    """Return a text that changes whenever the file does, or the log that SQLite writes beside it."""
    found = []
    for one in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            status = one.stat()
            found.append(f"{status.st_ino}.{status.st_size}.{status.st_mtime_ns}")
    return " ".join(found)


class FollowedEvent:
    """The event in a folder, read for its copy. Thread-safe: each call opens what it reads."""

    def __init__(self, folder: Path, event: str) -> None:
        self._folder, self._event = folder, event

    def part(self, have: Have) -> JournalPart:
        """Return the next part that a copy lacks. Raises StoreError, OSError."""
        with closing(SqliteReader(self._folder / STORE, self._event)) as journal:
            height = journal.last_height()
            if not journal.has_row(have.height, have.link):
                return JournalPart(height, differs=True)
            about = {key: value for key, value in journal.stored_values("").items() if key not in KEYS_NOT_COPIED}
            new = islice(journal.whole_rows(have.height), ROWS_A_PART) if height > have.height else ()
            rows = [tuple(row) for row in new]
            refused = [*islice(journal.refused_after(have.refused), ROWS_A_PART)]
            faults = journal.recorded_faults()
        states = {str(path.relative_to(self._folder)): _state(path) for path in files_of(self._folder, NOT_COPIED)}
        return JournalPart(
            height,
            rows,
            refused,
            faults,
            about if _hash(about) != have.about else None,
            states if _hash(states) != have.files else None,
            dict(self._wanted([name for name in have.want if name in states])),
        )

    def _wanted(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        size = 0
        for name in names:
            path = self._folder / name
            with suppress(FileNotFoundError):
                body = _content(path)
                size += len(body)
                if size > BYTES_A_PART and size > len(body):
                    return
                yield name, body


def _content(path: Path) -> bytes:
    """Return a file's content. A SQLite file is read as a consistent snapshot."""
    with path.open("rb") as file:
        if file.read(len(SQLITE_HEADER)) != SQLITE_HEADER:
            return path.read_bytes()
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy_file(path, copy)
        return copy.read_bytes()


class EventCopy:
    """The copy of an event in a folder. Its store is locked, so no scorer can work on it meanwhile."""

    def __init__(self, folder: Path, event: str) -> None:
        """Open or create the copy. Raises StoreError."""
        self._folder, self._event = folder, event
        self._states: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        """Files still to be received, with their states."""
        self.altered = 0
        """Number of rows that were already altered when they arrived. They are stored as they are, but do not count."""
        self._open()

    def _open(self) -> None:
        self.journal = SqliteJournal(self._folder / STORE, self._event)
        self._refused = int(self.journal.stored_values(REFUSED_UPTO).get("", "0"))
        self._about = b""

    def close(self) -> None:
        """Close the store. May be called twice."""
        self.journal.close()

    @property
    def have(self) -> Have:
        """What the copy has, as a request for what it lacks."""
        files = _hash(self._states) if not self._missing else b""
        return Have(self.journal.height, self.journal.last_link(), self._refused, files, self._about, (*self._missing,))

    def store_part(self, part: JournalPart) -> bool:
        """Store a part. Return whether the copy is now complete. Raises FollowedDiffers, StoreError, OSError.

        If FollowedDiffers is raised, nothing of the part was stored.
        """
        if part.differs:
            raise FollowedDiffers("this store holds messages that the other machine's lacks")
        self._append(part)
        for name, body in part.files.items():
            if name in self._missing:
                self._write(name, body)
                self._states[name] = self._missing.pop(name)
        if part.states is not None:
            self._compare(part.states)
        return self.journal.height >= part.height and not self._missing

    def _append(self, part: JournalPart) -> None:
        height, link = self.journal.height, self.journal.last_link()
        for at, received_at, _, _, _, body, new, _ in part.rows:
            if at <= height:
                raise FollowedDiffers(f"row {at} of the journal does not follow row {height}")
            self.altered += link_after(link, at, received_at, body) != new
            height, link = at, new
        if part.rows or part.refused or part.about is not None:
            self._commit(part)

    def _commit(self, part: JournalPart) -> None:
        upto = self._refused
        with self.journal.commit():
            for row in part.rows:
                self.journal.copy_row(row)
            for upto, refused in part.refused:  # noqa: B007 - the last one's number is stored
                self.journal.refuse(refused)
            if part.refused:
                self.journal.set_value(REFUSED_UPTO, str(upto))
            self.journal.record_faults(part.aside)
            for key, value in (part.about or {}).items():
                self.journal.set_value(key, value)
        self._refused = upto
        if part.about is not None:
            self._about = _hash(part.about)

    def _compare(self, states: dict[str, str]) -> None:
        """Find out which files to request, and remove those that the event no longer has."""
        for path in files_of(self._folder, NOT_COPIED):
            if str(path.relative_to(self._folder)) not in states:
                path.unlink()
        self._states = {name: state for name, state in self._states.items() if states.get(name) == state}
        self._missing = {name: state for name, state in states.items() if name not in self._states}

    def _write(self, name: str, body: bytes) -> None:
        path = self._folder / name
        if not path.resolve().is_relative_to(self._folder.resolve()):
            raise FollowedDiffers(f"{name} is outside of the event's folder")
        make_folder(path.parent, PRIVATE_FOLDER)
        if body.startswith(SQLITE_HEADER):  # remove files that a killed process left beside the old one
            for end in ("-wal", "-shm"):
                path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
            path.with_suffix(WITNESS_SUFFIX).unlink(missing_ok=True)
        write_private(path, body)

    def start_over(self) -> Path:
        """Set the store aside for people to inspect, and start with an empty one. Return the old one's folder."""
        self.journal.close()
        numbers = (f"{SET_ASIDE_PREFIX}-{number}" for number in range(1, 10_000))
        set_aside = next(self._folder / name for name in numbers if not (self._folder / name).exists())
        make_folder(set_aside, PRIVATE_FOLDER)
        store = self._folder / STORE
        for path in (*self._folder.glob(f"{STORE}*"), store.with_suffix(WITNESS_SUFFIX)):
            with suppress(FileNotFoundError):
                shutil.move(path, set_aside / path.name)
        self._open()
        return set_aside
