"""`homologue deal`: what the organiser does with deals before and after an event."""

import secrets
from pathlib import Path

import click

from broker.contract.words import SEATS, Seat
from broker.organiser.deals import committed, listed, made, options, sets
from broker.organiser.deals.public import export, reveal, verify
from broker.organiser.deals.set_command import tile_set
from broker.organiser.deals.wall_command import wall


@click.group(cls=options.Refusing, short_help="Make, commit to, reveal and print deals; register tile sets.")
def deal() -> None:
    """Make the deals of an event, commit to them, print what lies in the carriers, and reveal them afterwards.

    FOLDER is the event's folder. What is there is never written over. docs/deals.md tells the whole way.

    \b
    homologue deal new --event cup --deals 16 my-cup
    homologue deal export my-cup --output sheets
    homologue deal reveal my-cup --output revealed.json
    homologue deal verify revealed.json --commitment my-cup/commitment.json
    """  # noqa: D301 - click reads the \b


@deal.command(short_help="Mix new deals and commit to them.")
@options.folder
@options.event
@click.option("--deals", "count", type=click.IntRange(1, listed.LAST_DEAL), required=True, help="How many.")
@click.option(
    "--prevalent-winds",
    metavar="WINDS",
    callback=options.winds,
    default=",".join(made.BY_ROUNDS),
    help="Taken in turn [default: four deals in east, four in south, west, north, and again].",
)
@click.option(
    "--dealers",
    metavar="WINDS",
    callback=options.winds,
    default=",".join(SEATS),
    show_default=True,
    help="Seats, taken in turn.",
)
@click.option(
    "--sets",
    "wished",
    metavar="NUMBERS",
    callback=options.set_numbers,
    help="Tile sets in the carriers, taken in turn, such as 1-16 [default: deal 7 lies in set 7].",
)
@options.red
def new(
    *,
    folder: Path,
    event: str | None,
    count: int,
    prevalent_winds: tuple[Seat, ...],
    dealers: tuple[Seat, ...],
    wished: tuple[int, ...],
    red: bool,
) -> None:
    """Mix deals 1 to N by a cryptographic generator, and commit to them.

    Writes deals.json (secret), commitment.json (to be published before the event) and, if there is none,
    sets.json (secret: new tile sets, whose labels have yet to be printed).

    \b
    homologue deal new --event cup --deals 16 my-cup
    homologue deal new --event cup --deals 8 --prevalent-winds east --sets 1-4 my-cup
    """  # noqa: D301 - click reads the \b
    name = committed.event_of(folder, event)
    made.refuse_second(folder)
    chance = secrets.SystemRandom()
    deals = made.salted(made.new_deals(count, prevalent_winds, dealers, wished, chance, red=red))
    folder.mkdir(parents=True, exist_ok=True)
    sets.ensure(folder, {deal.set for deal in deals}, chance, red=red)
    _kept(folder, made.keep(folder, name, deals), count)


@deal.command(name="import", short_help="Take deals from a list, CSV or JSON.")
@click.argument("file", type=options.FILE)
@options.folder
@options.event
def import_(file: Path, folder: Path, event: str | None) -> None:
    """Take the deals of a list into FOLDER, and commit to them; nothing is written unless all of it is right.

    CSV: a line a tray, with the columns deal, prevalent_wind, dealer, seat, 1, 2, ... 34, and set if need be.
    JSON (the name ends in .json): a list as in deals.json. docs/deals.md describes both.

    \b
    homologue deal import deals.csv my-cup --event cup
    """  # noqa: D301 - click reads the \b
    name = committed.event_of(folder, event)
    made.refuse_second(folder)
    deals = made.salted(listed.read_list(file))
    folder.mkdir(parents=True, exist_ok=True)
    _kept(folder, made.keep(folder, name, deals), len(deals))


@deal.command(short_help="Commit to deals that have no commitment yet.")
@options.folder
@options.event
def commit(folder: Path, event: str | None) -> None:
    """Write commitment.json for the deals of FOLDER, where `new` or `import` was cut short or somebody else made them.

    \b
    homologue deal commit my-cup
    """  # noqa: D301 - click reads the \b
    click.echo(f"Publish this before the event: {committed.commit(folder, committed.event_of(folder, event))}")


def _kept(folder: Path, root: str, count: int) -> None:
    click.echo(f"{count} deal{'s' * (count > 1)} in {folder / 'deals.json'}: secret.")
    click.echo(f"Publish {folder / committed.COMMITMENT} before the event, or at least its root: {root}")


for command in (reveal, verify, export, tile_set, wall):
    deal.add_command(command)
