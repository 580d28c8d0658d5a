"""`homologue store`: copies of an event, the way back, and the way into a database."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from broker.store.address import STORE, Place, event_name, write
from broker.store.backup.checking import check as check_copy
from broker.store.backup.keeping import copies
from broker.store.backup.manifest import MANIFEST, Manifest
from broker.store.backup.restoring import refuse_taken
from broker.store.errors import BackupBroken, BackupMissing, StoreError, StoreMissing
from broker.store.journal import copy
from broker.store.opened import open_at
from broker.store.options import FOLDER, PASSWORD, place
from broker.store.sqlite import SqliteJournal

SOURCE = click.argument("source", metavar="COPY|FOLDER", type=click.Path(file_okay=False, path_type=Path))


@click.group(short_help="Copy an event to another disk, restore it, move its journal into PostgreSQL.")
def store() -> None:
    """The store of an event. See docs/store.md."""


@store.command()
@SOURCE
def check(source: Path) -> None:
    """Read copies back, every message of them. Exit code 1 if one is broken.

    \b
    homologue store check /media/stick
    """  # noqa: D301 - click reads the \b
    with told("check"):
        names = [source.name] if (source / MANIFEST).exists() else copies(_names(source))
        within = source.parent if (source / MANIFEST).exists() else source
        if not names:
            raise BackupMissing(f"{source} has no copy in it")
        if not all([_check_one(within / name) for name in names]):  # noqa: C419 - all of them are told
            sys.exit(1)


@store.command()
@click.argument("event", type=FOLDER)
@click.option("--to", "address", metavar="postgresql://USER@HOST/DATABASE", required=True, help="The database.")
@PASSWORD
def move(event: Path, address: str, store_password: Path | None) -> None:
    """Move an event's journal from its folder into PostgreSQL. No scorer may be at work on it.

    \b
    homologue store move my-event --to postgresql://scorer@db.example.org/homologue --store-password db.password
    """  # noqa: D301 - click reads the \b
    with told("move"):
        wanted = place(address, store_password)
        if wanted is not None:
            click.echo(f"{_move(event, wanted)} messages moved; {STORE}.moved is the journal as it was")


def _move(folder: Path, wanted: Place) -> int:
    if not (folder / STORE).exists():
        raise StoreMissing(f"there is no {STORE} in {folder}: nothing has been recorded there")
    event = event_name(folder)
    with (
        closing(SqliteJournal(folder / STORE, event)) as source,
        closing(open_at(wanted, folder, event)) as target,
    ):
        refuse_taken(target)
        height = copy(source, target)
        write(folder, wanted)
    (folder / STORE).rename(folder / f"{STORE}.moved")
    return height


def _check_one(path: Path) -> bool:
    try:
        click.echo(described(path, check_copy(path)))
    except BackupBroken as problem:
        click.echo(f"{problem.code}: {problem}")
        return False
    return True


def described(path: Path, manifest: Manifest) -> str:
    """Say in a line what a copy is."""
    made = datetime.fromtimestamp(manifest.made_at / 1000, UTC)
    return f"{path.name}: {manifest.event}, {manifest.height} messages, made {made:%Y-%m-%d %H:%M:%S} UTC"


def _names(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir()) if folder.is_dir() else iter(())


@contextmanager
def told(name: str) -> Iterator[None]:
    """End with what is wrong, in one line."""
    try:
        yield
    except StoreError as problem:
        click.echo(f"homologue store {name}: {problem.code}: {problem}", err=True)
        sys.exit(1)
    except OSError as problem:
        click.echo(f"homologue store {name}: backup_failed: {problem.filename}: {problem.strerror}", err=True)
        sys.exit(1)
