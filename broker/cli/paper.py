"""`homologue event sheets` and `seating`: an event's paper, as PDF."""

from pathlib import Path

import click

from broker.cli import options
from broker.console import FILE
from broker.event import Event, open_event, read_deals
from broker.export.paper_sheets import blank_sheets, blank_sheets_pdf, refuse_none_or_many
from broker.export.pdf import spelled, unprintable_text
from broker.export.seating import seating_pdf
from broker.files import deliver
from broker.i18n import Translator
from broker.scorer import open_stored_event
from broker.store import has_started


@click.command("sheets", short_help="Print blank result sheets, for when a device fails.")
@options.folder_argument
@click.option("--output", type=FILE, help="PDF file to write [default: standard output].")
@click.option("--table", "tables", type=click.IntRange(1), multiple=True, help="Only this table; may be repeated.")
@click.option("--round", "rounds", type=click.IntRange(1), multiple=True, help="Only this round; may be repeated.")
@options.language_option("the pages")
@options.force_option
def event_sheets(
    folder: Path,
    output: Path | None,
    tables: tuple[int, ...],
    rounds: tuple[int, ...],
    language: str,
    *,
    force: bool,
) -> None:
    """Print blank result sheets, two per A4 page.

    Each has table, round, deal, seats and names, and a field for each signature.

    \b
    homologue event sheets my-cup --output sheets.pdf
    homologue event sheets my-cup --table 7 --language fr --output table-7.pdf
    """
    stored = open_stored_event(folder) if has_started(folder) else None
    event = stored.event if stored else open_event(folder)
    deals = {deal.number: deal for deal in read_deals(folder)}
    known = stored.room.snapshot().stand_ins if stored else ()
    made = blank_sheets(event, deals, tables=tables, rounds=rounds, stand_ins=known)
    with spelled(event):
        deliver(blank_sheets_pdf(refuse_none_or_many(made), language), output, source=folder, force=force)
    say_unprintable(event)


@click.command("seating", short_help="Print who sits where: lists, and a card for each player.")
@options.folder_argument
@click.option("--output", type=FILE, help="PDF file to write [default: standard output].")
@click.option(
    "--by",
    "kind",
    type=click.Choice(["names", "tables"]),
    default="names",
    show_default=True,
    help="Order of the list.",
)
@click.option("--cards", is_flag=True, help="A card for each player instead, eight per page.")
@options.language_option("the pages")
@options.force_option
def event_seating(folder: Path, output: Path | None, kind: str, language: str, *, cards: bool, force: bool) -> None:
    """Print who sits where in each round, on A4.

    Everybody can see the same plan at /seating on the desk.

    \b
    homologue event seating my-cup --output by-name.pdf
    homologue event seating my-cup --by tables --output by-table.pdf
    homologue event seating my-cup --cards --language fr --output cards.pdf
    """
    now = open_stored_event(folder).room.snapshot() if has_started(folder) else None
    event = now.event if now else open_event(folder)
    plan, known = (now.seated_plan, now.stand_ins) if now else (event.plan, ())
    with spelled(event):
        made = seating_pdf(event, "cards" if cards else kind, Translator(language), plan, known)
    deliver(made, output, source=folder, force=force)
    say_unprintable(event)


def say_unprintable(event: Event) -> None:
    """Say whose names what was printed has no letters for."""
    if text := unprintable_text(event):
        click.echo(text, err=True)
