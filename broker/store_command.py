"""`homologue store` as a whole: copies and the way back, which have the event's people too."""

import time
from pathlib import Path

import click

from broker.people.copies import copy_people, settle_people
from broker.store.address import event_name
from broker.store.backup.keeping import copies
from broker.store.backup.making import make
from broker.store.backup.restoring import choose
from broker.store.backup.restoring import restore as put_back
from broker.store.command import SOURCE, described, store, told
from broker.store.options import ADDRESS, FOLDER, KEEP, PASSWORD, place

__all__ = ["store"]


@store.command()
@click.argument("event", type=FOLDER)
@click.option("--to", "target", type=FOLDER, required=True, help="Folder for copies: a second disk, a stick.")
@KEEP
def backup(event: Path, target: Path, keep: int) -> None:
    """Copy an event now; a scorer may be at work on it.

    \b
    homologue store backup my-event --to /media/stick
    """  # noqa: D301 - click reads the \b
    with told("backup"):
        made = make(event, event_name(event), target, now(), keep, (copy_people,))
        click.echo(f"{made}: read back and whole")


@store.command()
@SOURCE
@click.argument("folder", type=FOLDER)
@click.option("--event", help="Which event's, if the folder has copies of several.")
@ADDRESS
@PASSWORD
def restore(
    source: Path, folder: Path, event: str | None, store_address: str | None, store_password: Path | None
) -> None:
    """Put the newest whole copy into FOLDER, which must be empty or new.

    \b
    homologue store restore /media/stick my-event
    """  # noqa: D301 - click reads the \b
    with told("restore"):
        chosen, manifest, broken = choose(source, event)
        for problem in broken:
            click.echo(f"passed over: {problem}", err=True)
        put_back(chosen, manifest, folder, place(store_address, store_password))
        people = settle_people(folder, chosen, newer(chosen, manifest.event), now())
        click.echo(f"{folder}: {described(chosen, manifest)}")
        if people:
            click.echo(f"accounts: as in {people}; everybody logs in again. Look through them: homologue people list")


def newer(chosen: Path, event: str) -> list[Path]:
    """Give the copies beside a copy that are newer than it, the newest first."""
    names = copies((path.name for path in chosen.parent.iterdir()), event)
    return [chosen.parent / name for name in names[: names.index(chosen.name)]] if chosen.name in names else []


def now() -> int:
    """Give the wall clock in ms since 1970."""
    return time.time_ns() // 1_000_000
