"""Options of `homologue scorer` that are about its store, and what they ask for."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from broker.store.address import Place

F = TypeVar("F", bound=Callable[..., object])

FOLDER: Final = click.Path(file_okay=False, path_type=Path)
FILE: Final = click.Path(dir_okay=False, path_type=Path)

ADDRESS = click.option(
    "--store", "store_address", metavar="postgresql://USER@HOST/DATABASE", help="The journal in PostgreSQL."
)
PASSWORD = click.option("--store-password", type=FILE, help="File with the password for --store, and nothing else.")
KEEP = click.option("--keep", type=click.IntRange(min=1), default=12, show_default=True, help="Copies that are kept.")

STORE_OPTIONS: Final = (
    ADDRESS,
    PASSWORD,
    click.option("--standby", is_flag=True, help="If another scorer is active on --store, wait until it has gone."),
    click.option(
        "--backup", type=FOLDER, help="Copy the event into this folder (a second disk, a stick) as it goes on."
    ),
    click.option(
        "--backup-every",
        type=click.FloatRange(min=0.01),
        default=5.0,
        show_default=True,
        metavar="MINUTES",
        help="Pause between two copies.",
    ),
    click.option("--backup-keep", type=click.IntRange(min=1), default=12, show_default=True, help="Copies kept there."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What was asked for."""

    store_address: str | None
    store_password: Path | None
    standby: bool
    backup: Path | None
    backup_every: float
    backup_keep: int

    def place(self) -> Place | None:
        """Give the address, if there is one."""
        return place(self.store_address, self.store_password)


def place(address: str | None, password: Path | None) -> Place | None:
    """Give what two options say of a database."""
    if address is None and password is not None:
        raise click.UsageError("--store-password is for --store")
    return None if address is None else Place(address, str(password.absolute()) if password else None)


def store_options(command: F) -> F:
    """Add the options; the command gets them as `wishes`."""

    def wished(*args: Any, **told: Any) -> object:  # noqa: ANN401 - click's way
        mine = {name: told.pop(name) for name in Wishes.__slots__}
        return command(*args, wishes=Wishes(**mine), **told)

    wished.__doc__, wished.__name__ = command.__doc__, getattr(command, "__name__", "command")
    wished.__dict__.update(command.__dict__)  # the options that it has
    for option in reversed(STORE_OPTIONS):
        wished = option(wished)
    return wished  # type: ignore[return-value] # click calls it with what its options name
