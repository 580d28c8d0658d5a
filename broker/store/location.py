"""Find where an event's journal is stored, and open it there.

The journal is either in the event's folder (SQLite) or in the PostgreSQL database named by `store.toml` in that folder.
A password is read from a separate file, never from the address, because addresses appear in logs, unit files and
process lists.
"""

import os
import stat
import threading
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from broker.errors import NoEvent, StoreAddressRefused, StoreDiffers, StoreError, StoreInUse, StoreUnreachable, reason
from broker.files import write_file
from broker.read_ahead import STORE, STORE_ADDRESS_FILE
from broker.store.journal import Journal, Reader
from broker.store.records import WITNESS_SUFFIX
from broker.store.sqlite import SqliteJournal, SqliteReader

SCHEMES: Final = ("postgresql://", "postgres://")


def witness_of(folder: Path) -> Path:
    """Return the path of the witness file, which lists the rows of an event's journal, wherever the journal is."""
    return (folder / STORE).with_suffix(WITNESS_SUFFIX)


class DatabaseAddress(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A database server's address, and the path of its password file if there is one. Neither contains a secret."""

    address: str
    password_file: str | None = None


def database_of(folder: Path) -> DatabaseAddress | None:
    """Read the database's address from `store.toml`; None without that file (SQLite). Raises StoreAddressRefused."""
    path = folder / STORE_ADDRESS_FILE
    try:
        return msgspec.toml.decode(path.read_bytes(), type=DatabaseAddress)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:  # not TOML, not UTF-8, or not these two settings
        raise StoreAddressRefused(f"{path}: {reason(error)}") from None


def event_name(folder: Path) -> str:
    """Return the name of the event in a folder. Raises NoEvent."""
    try:
        return str(tomllib.loads((folder / "event.toml").read_text(encoding="utf-8"))["name"])
    except (OSError, KeyError, ValueError, RecursionError) as error:
        raise NoEvent(f"{folder} is not an event's folder: {reason(error)}") from None


def agreed_database(folder: Path, wanted: DatabaseAddress) -> DatabaseAddress:
    """Return the wanted address, unless the event already has its journal somewhere else. Raises StoreDiffers."""
    found = database_of(folder)
    if found is None and (folder / STORE).exists():
        raise StoreDiffers(f"the journal is in {STORE}: `homologue store move` moves it")
    if found is not None and found.address != wanted.address:
        raise StoreDiffers(f"{STORE_ADDRESS_FILE} says {found.address}, not {wanted.address}")
    return wanted


def write_address(folder: Path, database: DatabaseAddress) -> None:
    """Write `store.toml` atomically. Call it only once the database has been opened successfully."""
    write_file(folder / STORE_ADDRESS_FILE, msgspec.toml.encode(database))


def connection_parameters(database: DatabaseAddress, folder: Path) -> Mapping[str, str]:
    """Return the connection parameters for libpq. Raises StoreAddressRefused, whose text never contains a password."""
    from psycopg import ProgrammingError  # noqa: PLC0415 - only events in PostgreSQL load its library
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - only with PostgreSQL

    if not database.address.startswith(SCHEMES):
        raise StoreAddressRefused("an address is postgresql://USER@HOST/DATABASE")
    try:
        parameters = {key: str(value) for key, value in conninfo_to_dict(database.address).items()}
    except ProgrammingError:
        # The library's own message is left out: it quotes the text that it could not parse, which may be a password.
        raise StoreAddressRefused("this is not a PostgreSQL address: use postgresql://USER@HOST/DATABASE") from None
    if "password" in parameters:
        raise StoreAddressRefused("others can see a password in an address: put it in a file (--store-password)")
    return parameters | ({"password": _password(folder / database.password_file)} if database.password_file else {})


def _password(path: Path) -> str:
    """Read a file that contains only a password."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise StoreAddressRefused(f"other users can read {path}: chmod 600 it, or set a new password")
            return file.read().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise StoreAddressRefused(f"{path}: {why}") from None


PAUSE_S: Final = 1.0
"""How often a standby checks whether the active scorer has gone."""


def open_journal(folder: Path, event: str, wanted: DatabaseAddress | None = None) -> Journal:
    """Open or create the journal of the event in a folder.

    `wanted`: the address to open it at; `store.toml` must not name another. Once it is open, `store.toml` contains the
    address. Raises StoreError.
    """
    database = database_of(folder) if wanted is None else agreed_database(folder, wanted)
    if database is None:
        return SqliteJournal(folder / STORE, event)
    journal = open_at(database, folder, event, witness=witness_of(folder))
    if database_of(folder) != database:
        write_address(folder, database)
    return journal


def open_reader(folder: Path, event: str) -> Reader:
    """Open the journal read-only; a scorer may be writing to it. Raises StoreError, StoreMissing."""
    database = database_of(folder)
    if database is None:
        return SqliteReader(folder / STORE, event)
    from broker.store.postgresql import PostgresReader  # noqa: PLC0415 - loads PostgreSQL's library

    return PostgresReader(connection_parameters(database, folder), event)


def stand_by(
    folder: Path,
    event: str,
    stop: threading.Event,
    on_wait: Callable[[StoreError], None],
    wanted: DatabaseAddress | None = None,
    *,
    pause_s: float = PAUSE_S,
) -> Journal | None:
    """Wait until no other scorer is active, then open the journal. Return None if `stop` was set. Raises StoreError.

    `on_wait` is called with the reason for waiting, whenever that changes.
    """
    last_reason = ""
    while not stop.is_set():
        try:
            return open_journal(folder, event, wanted)
        except (StoreInUse, StoreUnreachable) as why:
            if str(why) != last_reason:
                on_wait(why)
            last_reason = str(why)
        stop.wait(pause_s)
    return None


def open_at(database: DatabaseAddress, folder: Path, event: str, *, witness: Path | None = None) -> Journal:
    """Open the journal in PostgreSQL, whatever the folder says, and compare it with its witness. Raises StoreError."""
    from broker.store.postgresql import PostgresJournal  # noqa: PLC0415 - loads PostgreSQL's library

    return PostgresJournal(connection_parameters(database, folder), event, witness)
