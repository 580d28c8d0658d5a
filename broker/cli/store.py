"""`homologue store`: copies of an event, the way back, and the way into a database.

Also the options of `homologue scorer` that are about its store.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from broker.errors import BackupBroken, BackupMissing, StoreError, StoreMissing
from broker.people.copies import copy_people, restore_people
from broker.store import STORE, DatabaseAddress, copy_journal, event_name, open_at, write_address
from broker.store.backup import MANIFEST, Manifest, check_copy, choose_copy, copy_names, make_copy, refuse_taken
from broker.store.backup import restore_copy as put_back
from broker.store.sqlite import SqliteJournal

F = TypeVar("F", bound=Callable[..., object])

FOLDER: Final = click.Path(file_okay=False, path_type=Path)
PASSWORD_FILE: Final = click.Path(dir_okay=False, path_type=Path)

ADDRESS = click.option(
    "--store", "store_address", metavar="postgresql://USER@HOST/DATABASE", help="Keep the journal in PostgreSQL."
)
PASSWORD = click.option(
    "--store-password", type=PASSWORD_FILE, help="File that contains only the password for --store."
)
KEEP = click.option(
    "--keep", type=click.IntRange(min=1), default=12, show_default=True, help="Number of copies to keep."
)

STORE_OPTIONS: Final = (
    ADDRESS,
    PASSWORD,
    click.option("--standby", is_flag=True, help="If another scorer is active on this event, wait until it ends."),
    click.option(
        "--backup", type=FOLDER, help="Back up the event to this folder (a second disk, a stick) while it runs."
    ),
    click.option(
        "--backup-every",
        type=click.FloatRange(min=0.01),
        default=5.0,
        show_default=True,
        metavar="MINUTES",
        help="Minutes between two copies.",
    ),
    click.option(
        "--backup-keep", type=click.IntRange(min=1), default=12, show_default=True, help="Number of copies to keep."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """What was asked for."""

    store_address: str | None
    store_password: Path | None
    standby: bool
    backup: Path | None
    backup_every: float
    backup_keep: int

    def place(self) -> DatabaseAddress | None:
        """Return the address, if there is one."""
        return database_address(self.store_address, self.store_password)


def database_address(address: str | None, password: Path | None) -> DatabaseAddress | None:
    """Return what two options say of a database."""
    if address is None and password is not None:
        raise click.UsageError("--store-password is for --store")
    return None if address is None else DatabaseAddress(address, str(password.absolute()) if password else None)


def store_options(command: F) -> F:
    """Add the options; the command gets them as `wishes`."""

    def wished(*args: Any, **told: Any) -> object:  # noqa: ANN401 - click's way
        mine = {name: told.pop(name) for name in StoreOptions.__slots__}
        return command(*args, wishes=StoreOptions(**mine), **told)

    wished.__doc__, wished.__name__ = command.__doc__, getattr(command, "__name__", "command")
    wished.__dict__.update(command.__dict__)  # the options that it has
    for option in reversed(STORE_OPTIONS):
        wished = option(wished)
    return wished  # type: ignore[return-value] # click calls it with what its options name


SOURCE = click.argument("source", metavar="COPY|FOLDER", type=click.Path(file_okay=False, path_type=Path))


@click.group(short_help="Copy an event to another disk, restore it, move its journal into PostgreSQL.")
def store() -> None:
    """Back up, check, restore and move an event's journal. See docs/store.md."""


@store.command()
@SOURCE
def check_command(source: Path) -> None:
    """Check copies by reading every message. The exit code is 1 if one is damaged.

    \b
    homologue store check /media/stick
    """  # noqa: D301 - click reads the \b
    with _errors_in_one_line("check"):
        names = [source.name] if (source / MANIFEST).exists() else copy_names(_names(source))
        within = source.parent if (source / MANIFEST).exists() else source
        if not names:
            raise BackupMissing(f"{source} has no copy in it")
        if not all([_check_one(within / name) for name in names]):  # noqa: C419 - all of them are told
            sys.exit(1)


@store.command()
@click.argument("event", type=FOLDER)
@click.option(
    "--to", "address", metavar="postgresql://USER@HOST/DATABASE", required=True, help="Address of the database."
)
@PASSWORD
def move_command(event: Path, address: str, store_password: Path | None) -> None:
    """Move an event's journal from its folder into PostgreSQL. Its scorer must not be running.

    \b
    homologue store move my-event --to postgresql://scorer@db.example.org/homologue --store-password db.password
    """  # noqa: D301 - click reads the \b
    with _errors_in_one_line("move"):
        wanted = database_address(address, store_password)
        if wanted is not None:
            click.echo(f"{_move(event, wanted)} messages moved; {STORE}.moved is the journal as it was")


def _move(folder: Path, wanted: DatabaseAddress) -> int:
    if not (folder / STORE).exists():
        raise StoreMissing(f"there is no {STORE} in {folder}: nothing has been recorded there")
    event = event_name(folder)
    with (
        closing(SqliteJournal(folder / STORE, event)) as source,
        closing(open_at(wanted, folder, event)) as target,
    ):
        refuse_taken(target)
        height = copy_journal(source, target)
        write_address(folder, wanted)
    (folder / STORE).rename(folder / f"{STORE}.moved")
    return height


def _check_one(path: Path) -> bool:
    try:
        click.echo(_describe(path, check_copy(path)))
    except BackupBroken as problem:
        click.echo(f"{problem.code}: {problem}")
        return False
    return True


def _describe(path: Path, manifest: Manifest) -> str:
    """Say in a line what a copy is."""
    made = datetime.fromtimestamp(manifest.made_at / 1000, UTC)
    return f"{path.name}: {manifest.event}, {manifest.height} messages, made {made:%Y-%m-%d %H:%M:%S} UTC"


def _names(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir()) if folder.is_dir() else iter(())


@contextmanager
def _errors_in_one_line(name: str) -> Iterator[None]:
    """End with what is wrong, in one line."""
    try:
        yield
    except StoreError as problem:
        click.echo(f"homologue store {name}: {problem.code}: {problem}", err=True)
        sys.exit(1)
    except OSError as problem:
        click.echo(f"homologue store {name}: backup_failed: {problem.filename}: {problem.strerror}", err=True)
        sys.exit(1)


__all__ = ["store"]


@store.command()
@click.argument("event", type=FOLDER)
@click.option("--to", "target", type=FOLDER, required=True, help="Folder for copies, on a second disk or a stick.")
@KEEP
def backup_command(event: Path, target: Path, keep: int) -> None:
    """Copy an event now. Its scorer may be running.

    \b
    homologue store backup my-event --to /media/stick
    """  # noqa: D301 - click reads the \b
    with _errors_in_one_line("backup"):
        made = make_copy(event, event_name(event), target, _now(), keep, (copy_people,))
        click.echo(f"{made}: read back and whole")


@store.command()
@SOURCE
@click.argument("folder", type=FOLDER)
@click.option("--event", help="Name of the event, if the folder has copies of several.")
@ADDRESS
@PASSWORD
def restore_command(
    source: Path, folder: Path, event: str | None, store_address: str | None, store_password: Path | None
) -> None:
    """Restore the newest complete copy into FOLDER, which must be new or empty.

    \b
    homologue store restore /media/stick my-event
    """  # noqa: D301 - click reads the \b
    with _errors_in_one_line("restore"):
        chosen, manifest, broken = choose_copy(source, event)
        for problem in broken:
            click.echo(f"passed over: {problem}", err=True)
        put_back(chosen, manifest, folder, database_address(store_address, store_password))
        people = restore_people(folder, chosen, _newer_copies(chosen, manifest.event), _now())
        click.echo(f"{folder}: {_describe(chosen, manifest)}")
        if people:
            click.echo(f"accounts: as in {people}; everybody logs in again. Look through them: homologue people list")


def _newer_copies(chosen: Path, event: str) -> list[Path]:
    """Return the copies beside a copy that are newer than it, the newest first."""
    names = copy_names((path.name for path in chosen.parent.iterdir()), event)
    return [chosen.parent / name for name in names[: names.index(chosen.name)]] if chosen.name in names else []


def _now() -> int:
    """Return the wall clock in ms since 1970."""
    return time.time_ns() // 1_000_000
