"""Where an event's journal is: in its folder (SQLite), or in PostgreSQL, as `store.toml` in that folder says.

A password is in a file of its own, never in an address: addresses stand in logs, in units and in lists of processes.
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import tomli_w
from msgspec import Struct

from broker.store.errors import NoEvent, StoreAddressRefused, StoreDiffers

STORE: Final = "scorer.sqlite"
"""In the event's folder, where nothing else was said."""

SETTING: Final = "store.toml"

SCHEMES: Final = ("postgresql://", "postgres://")


class Place(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A server's address, and the file with the password if it asks for one. Neither holds a secret."""

    address: str
    password_file: str | None = None


def place_of(folder: Path) -> Place | None:
    """Give what `store.toml` says; None for SQLite. Raises StoreAddressRefused."""
    path = folder / SETTING
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Place)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # not TOML, not UTF-8, or not these two settings
        raise StoreAddressRefused(f"{path}: {error}") from None


def event_name(folder: Path) -> str:
    """Give the name of the event in a folder. Raises NoEvent."""
    try:
        return str(tomllib.loads((folder / "event.toml").read_text(encoding="utf-8"))["name"])
    except (OSError, KeyError, ValueError) as error:
        raise NoEvent(f"{folder} is no event's folder: {error}") from None


def started(folder: Path) -> bool:
    """Say whether anything may have been recorded for the event in this folder."""
    return (folder / STORE).exists() or (folder / SETTING).exists()


def agreed(folder: Path, wanted: Place) -> Place:
    """Give the place that was named, unless the journal is elsewhere: it is in one place. Raises StoreDiffers."""
    found = place_of(folder)
    if found is None and (folder / STORE).exists():
        raise StoreDiffers(f"the journal is in {STORE}: `homologue store move` moves it")
    if found is not None and found.address != wanted.address:
        raise StoreDiffers(f"{SETTING} says {found.address}, not {wanted.address}")
    return wanted


def write(folder: Path, place: Place) -> None:
    """Write `store.toml` in one step. To be called when the place has been found to be one."""
    new = folder / f".{SETTING}.new"
    with new.open("wb") as file:
        tomli_w.dump(msgspec.to_builtins(place), file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / SETTING)
    _sync(folder)


def _sync(folder: Path) -> None:
    """See to it that a new name is on the disk: without it a scorer would begin another journal after a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def parameters(place: Place, folder: Path) -> Mapping[str, str]:
    """Give what libpq is told. Raises StoreAddressRefused; no text of it has a password in it."""
    from psycopg import ProgrammingError  # noqa: PLC0415 - only events in PostgreSQL load its library
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - as above

    if not place.address.startswith(SCHEMES):
        raise StoreAddressRefused("an address is postgresql://USER@HOST/DATABASE")
    try:
        told = {key: str(value) for key, value in conninfo_to_dict(place.address).items()}
    except ProgrammingError:
        # Without the library's own text: it quotes what it stumbled over, which may be a password.
        raise StoreAddressRefused("this is no address of PostgreSQL's: postgresql://USER@HOST/DATABASE") from None
    if "password" in told:
        raise StoreAddressRefused("a password in an address is seen by others: put it into a file (--store-password)")
    return told | ({"password": _password(folder / place.password_file)} if place.password_file else {})


def _password(path: Path) -> str:
    """Read a file that holds a password and nothing else."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise StoreAddressRefused(f"others may read {path}: chmod 600 it, or take a new password")
            return file.read().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise StoreAddressRefused(f"{path}: {reason}") from None
