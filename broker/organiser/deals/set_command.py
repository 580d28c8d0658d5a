"""`homologue deal set`: the registry of tile sets."""

import secrets
from pathlib import Path

import click

from broker.organiser.deals import options, sets
from broker.organiser.deals.listed import LAST_SET
from broker.scorer.folder import SETS


@click.group(name="set", short_help="Register tile sets: which serial is on which face.")
def tile_set() -> None:
    """Register tile sets in sets.json: which serial is on the back of which face. It is secret.

    \b
    homologue deal set new my-cup --set 5
    homologue deal set import old-tiles.csv my-cup --set 6
    homologue deal set check my-cup
    """  # noqa: D301 - click reads the \b


@tile_set.command(short_help="A new set: serials at random.")
@options.folder
@click.option(
    "--set",
    "numbers",
    metavar="NUMBERS",
    callback=options.set_numbers,
    required=True,
    help="Its number, or several: 1-8,12.",
)
@options.red
def new(folder: Path, numbers: tuple[int, ...], *, red: bool) -> None:
    """Give the 136 tiles of a new set their serials, at random; its labels are then printed from sets.json.

    \b
    homologue deal set new my-cup --set 1-16
    """  # noqa: D301 - click reads the \b
    folder.mkdir(parents=True, exist_ok=True)
    sets.add(folder, sets.mixed(numbers, secrets.SystemRandom(), red=red))
    _kept(folder, len(set(numbers)))


@tile_set.command(name="import", short_help="A set whose tiles have numbers already.")
@click.argument("file", type=options.FILE)
@options.folder
@click.option(
    "--set", "number", type=click.IntRange(1, LAST_SET), help="The set's number, unless the file has a column set."
)
def import_(file: Path, folder: Path, number: int | None) -> None:
    """Take a CSV with the columns serial and face (1m..9m, 1p..9p, 1s..9s, 1z..7z), 136 lines a set.

    Of a set with red fives these are 0m, 0p, 0s, one of each.

    Nothing is written unless all of it is right.

    \b
    homologue deal set import old-tiles.csv my-cup --set 6
    """  # noqa: D301 - click reads the \b
    made = sets.read_sets(file, number)
    folder.mkdir(parents=True, exist_ok=True)
    sets.add(folder, made)
    _kept(folder, len(made))


@tile_set.command(short_help="Is every set whole, and there for every deal?")
@options.folder
def check(folder: Path) -> None:
    """Name everything that is wrong with the sets of FOLDER; exit code 1 if anything is.

    \b
    homologue deal set check my-cup
    """  # noqa: D301 - click reads the \b
    registry = sets.check(folder)
    click.echo(f"{len(registry)} sets, each whole: {', '.join(map(str, sorted(registry)))}.")


def _kept(folder: Path, count: int) -> None:
    click.echo(f"{count} set{'s' * (count > 1)} in {folder / SETS}: secret.")
