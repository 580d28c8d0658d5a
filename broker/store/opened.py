"""An event's store, opened where it is."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from broker.store.address import STORE, Place, agreed, parameters, place_of, write
from broker.store.errors import StoreError, StoreInUse, StoreUnreachable
from broker.store.journal import Journal, Reader
from broker.store.sqlite import SqliteJournal
from broker.store.sqlite_reading import SqliteReader

PAUSE_S: Final = 1.0
"""How often a standby asks whether the active scorer has gone."""


def open_journal(folder: Path, event: str, wanted: Place | None = None) -> Journal:
    """Open or make the store of the event in a folder; where a place is wanted, there, if it agrees.

    Once it has been opened, `store.toml` says where it is. Raises StoreError.
    """
    place = place_of(folder) if wanted is None else agreed(folder, wanted)
    if place is None:
        return SqliteJournal(folder / STORE, event)
    journal = open_at(place, folder, event)
    if place_of(folder) != place:
        write(folder, place)
    return journal


def open_reader(folder: Path, event: str) -> Reader:
    """Open it for reading alone, while a scorer may be at work. Raises StoreError, StoreMissing."""
    place = place_of(folder)
    if place is None:
        return SqliteReader(folder / STORE, event)
    from broker.store.postgresql_reading import PostgresReader  # noqa: PLC0415 - loads PostgreSQL's library

    return PostgresReader(parameters(place, folder), event)


def stand_by(
    folder: Path,
    event: str,
    stop: threading.Event,
    tell: Callable[[StoreError], None],
    wanted: Place | None = None,
    *,
    pause_s: float = PAUSE_S,
) -> Journal | None:
    """Wait until no other scorer is active, and become it; None where told to stop. Raises StoreError.

    `tell` hears, once each, why we wait.
    """
    said = ""
    while not stop.is_set():
        try:
            return open_journal(folder, event, wanted)
        except (StoreInUse, StoreUnreachable) as why:
            if str(why) != said:
                tell(why)
            said = str(why)
        stop.wait(pause_s)
    return None


def open_at(place: Place, folder: Path, event: str) -> Journal:
    """Open the journal in PostgreSQL, whatever the folder says. Raises StoreError."""
    from broker.store.postgresql import PostgresJournal  # noqa: PLC0415 - loads PostgreSQL's library

    return PostgresJournal(parameters(place, folder), event)
