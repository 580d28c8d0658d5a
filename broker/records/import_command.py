"""`homologue event import`: an event's folder from the document that `homologue export json --whole` wrote."""

from pathlib import Path

import click

from broker.organiser.deals import options
from broker.records.whole.reading import read, restore


@click.command(name="import", short_help="Make an event's folder from its JSON document.")
@click.argument("file", metavar="DOCUMENT", type=options.FILE)
@options.folder
def import_(file: Path, folder: Path) -> None:
    """Make an event anew from the document of a whole event; FOLDER is new or empty.

    Plan, players, deals, sets and journal come back. Passwords and accounts are in no document: new ones are made.

    \b
    homologue export json my-cup --whole --output my-cup.json
    homologue event import my-cup.json again
    """  # noqa: D301 - click reads the \b
    count = restore(read(file), folder)
    click.echo(f"{folder}: {count} facts. Start it with homologue scorer {folder}")
