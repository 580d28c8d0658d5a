"""The arbiters' PIN for an event: set at the desk and stored as a hash in the event's folder, which it never leaves.

The scorer checks what is typed at the tables against it (broker/scorer/access.py).
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import ValidationError, convert

from broker.files import write_private
from broker.protocol import Milliseconds, PinHash
from broker.protocol.arbiter_session import LONGEST_PIN, SHORTEST_PIN, hash_pin, is_pin, pin_mark
from broker.scorer import TableView
from broker.web import errors

PIN_FILE: Final = "arbiter-pin"

LOCK: Final = threading.Lock()
"""Held while a PIN is set, one at a time."""


class StoredPin(NamedTuple):
    """The stored hash of a PIN."""

    hash: str
    set_at: int
    """Timestamp in ms since 1970; 0 in files older than the timestamp."""


@dataclass(frozen=True, slots=True)
class PinsAtTables:
    """Numbers of the tables that have sent anything, by the PIN that lets arbiters in there."""

    none: tuple[int, ...] = ()
    another: tuple[int, ...] = ()
    same: tuple[int, ...] = ()
    """Tables with the event's PIN."""


@dataclass(frozen=True, slots=True)
class EventPin:
    """The file with the hash and its timestamp. It may not exist."""

    path: Path

    @classmethod
    def beside(cls, passwords: Path) -> "EventPin":
        """Return the PIN of the event whose tables have these passwords."""
        return cls(passwords.with_name(PIN_FILE))

    def kept(self) -> StoredPin | None:
        """Return the stored PIN, or None if none was set. Raises NothingToPairWith if the file cannot be used."""
        try:
            hashed, *times = self.path.read_text(encoding="ascii").split()
            (set_at,) = times or ("0",)
            return StoredPin(convert(hashed, PinHash), convert(int(set_at), Milliseconds))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, ValidationError):
            raise errors.NothingToPairWith(f"{self.path.name} contains no hash of a PIN: set the PIN again") from None

    def hashed(self) -> str | None:
        """Return the hash, or None if no PIN was set. Raises NothingToPairWith if the file cannot be used."""
        kept = self.kept()
        return kept and kept.hash

    def hash_or_none(self) -> str | None:
        """Return the hash, or None also if the file cannot be used; then no PIN lets anybody in."""
        try:
            return self.hashed()
        except errors.NothingToPairWith:
            return None

    def set(self, pin: str, again: str, now: int = 0) -> None:
        """Store the hash of a new PIN. `now` is in ms since 1970.

        Raises PinUnusable, or NothingToPairWith if it cannot be written.
        """
        if not is_pin(pin):
            raise errors.PinUnusable(f"a PIN has {SHORTEST_PIN} to {LONGEST_PIN} digits")
        if pin != again:
            raise errors.PinUnusable("the PIN was typed differently the second time")
        hashed = hash_pin(pin)
        with LOCK:
            self.keep(StoredPin(hashed, max(now, self._last() + 1)))

    def keep(self, kept: StoredPin) -> None:
        """Write the file. Raises NothingToPairWith if it cannot be written."""
        try:
            write_private(self.path, f"{kept.hash}\n{kept.set_at}\n".encode())
        except OSError as error:
            raise errors.NothingToPairWith(f"the PIN cannot be stored: {error.strerror}") from None

    def _last(self) -> int:
        """Return when the last PIN was set; a clock that was put back must not make the next one look older."""
        try:
            kept = self.kept()
        except errors.NothingToPairWith:
            return 0
        return kept.set_at if kept else 0

    def at_tables(self, tables: tuple[TableView, ...]) -> PinsAtTables:
        """Group the tables that have sent anything by the PIN that they have."""
        hashed = self.hashed()
        event = hashed and pin_mark(hashed)
        heard = [table for table in tables if table.lifecycle is not None]
        none = tuple(table.table for table in heard if table.pin is None)
        same = tuple(table.table for table in heard if event and table.pin == event)
        return PinsAtTables(
            none, tuple(table.table for table in heard if event and table.pin not in (None, event)), same
        )
