"""The event's PIN for arbiters: set once at the desk, kept as a hash in the event's folder, taken along by pairing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import ValidationError, convert

from broker.contract.arbiter_pin import LONGEST, SHORTEST, PinHash, hash_of, is_pin, mark_of
from broker.credentials import write_private
from broker.desk.errors import NothingToPairWith, PinUnusable
from broker.scorer.view import TableView

FILE: Final = "arbiter-pin"


@dataclass(frozen=True, slots=True)
class OtherPins:
    """Tables that arbiters do not get in at with the event's PIN; each by number."""

    none: tuple[int, ...]
    another: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EventPin:
    """The file that holds the hash; there may be none."""

    path: Path

    def hashed(self) -> str | None:
        """Give the hash; None where no PIN was set. Raises NothingToPairWith where the file cannot be used."""
        try:
            return convert(self.path.read_text(encoding="ascii").strip(), PinHash)
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError, ValidationError):
            raise NothingToPairWith(f"{self.path.name} holds no PIN's hash: set the PIN again") from None

    def set(self, pin: str, again: str) -> None:
        """Keep another PIN's hash. Raises PinUnusable, NothingToPairWith where it cannot be written."""
        if not is_pin(pin):
            raise PinUnusable(f"a PIN has {SHORTEST} to {LONGEST} digits")
        if pin != again:
            raise PinUnusable("the PIN was typed differently the second time")
        try:
            write_private(self.path, f"{hash_of(pin)}\n".encode())
        except OSError as error:
            raise NothingToPairWith(f"the PIN cannot be kept: {error.strerror}") from None

    def others(self, tables: tuple[TableView, ...]) -> OtherPins:
        """Name the tables that have said of themselves that they have no PIN, or another one than the event's."""
        hashed = self.hashed()
        event = hashed and mark_of(hashed)
        heard = [table for table in tables if table.lifecycle is not None]
        none = tuple(table.table for table in heard if table.pin is None)
        return OtherPins(none, tuple(table.table for table in heard if event and table.pin not in (None, event)))
