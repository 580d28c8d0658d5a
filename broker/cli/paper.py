"""`homologue event sheets`, `event seating` and `rules sheet`: result sheets, seating plans and session sheets."""

from pathlib import Path

import click
from msgspec import Struct

from broker.cli import options
from broker.cli.rules_input import input_lines, load_riichi_rules, read_line, riichi_rules_option
from broker.cli.session import EventLine
from broker.console import EXISTING_FOLDER, FILE, language_option
from broker.event import Event, open_event, read_deals
from broker.export.paper_sheets import blank_sheets, blank_sheets_pdf, refuse_none_or_many
from broker.export.pdf import printed_spellings, unprintable_text
from broker.export.seating import seating_pdf
from broker.export.session_sheet import StoredSession, make_session_sheet, read_session, session_pdf, session_text
from broker.files import write_export, write_if_same_kind
from broker.i18n import Translator
from broker.rules.riichi import first_state, play_session
from broker.scorer import open_stored_event
from broker.store import has_started


@click.command("sheets", short_help="Print blank result sheets, for when a device fails.")
@options.folder_argument
@click.option("--output", type=FILE, help="PDF file to write [default: standard output].")
@click.option("--table", "tables", type=click.IntRange(1), multiple=True, help="Only this table; may be repeated.")
@click.option("--round", "rounds", type=click.IntRange(1), multiple=True, help="Only this round; may be repeated.")
@language_option("the pages")
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
    stand_ins = stored.state.snapshot().stand_ins if stored else ()
    sheets = blank_sheets(event, deals, tables=tables, rounds=rounds, stand_ins=stand_ins)
    with printed_spellings(event):
        write_export(blank_sheets_pdf(refuse_none_or_many(sheets), language), output, source=folder, force=force)
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
@language_option("the pages")
@options.force_option
def event_seating(folder: Path, output: Path | None, kind: str, language: str, *, cards: bool, force: bool) -> None:
    """Print who sits where in each round, on A4.

    Everybody can see the same plan at /seating on the desk.

    \b
    homologue event seating my-cup --output by-name.pdf
    homologue event seating my-cup --by tables --output by-table.pdf
    homologue event seating my-cup --cards --language fr --output cards.pdf
    """
    snapshot = open_stored_event(folder).state.snapshot() if has_started(folder) else None
    event = snapshot.event if snapshot else open_event(folder)
    plan, stand_ins = (snapshot.seated_plan, snapshot.stand_ins) if snapshot else (event.plan, ())
    with printed_spellings(event):
        content = seating_pdf(event, "cards" if cards else kind, Translator(language), plan, stand_ins)
    write_export(content, output, source=folder, force=force)
    say_unprintable(event)


def say_unprintable(event: Event) -> None:
    """Report the names that contain characters missing from the printed font."""
    if text := unprintable_text(event):
        click.echo(text, err=True)


SEATED = 4


class SheetEvent(Struct):
    """A line of `homologue session`. Only its event is read, because the sheet computes the state itself."""

    event: EventLine


@click.command(short_help="Write the sheet of a riichi session: every hand, scores, places.")
@click.option(
    "--event",
    "folder",
    type=EXISTING_FOLDER,
    help="Use a table of this event; requires --table.",
)
@click.option("--table", type=int, help="Number of the table.")
@click.option("--round", "round_", type=int, default=1, show_default=True, help="Number of the table's session.")
@riichi_rules_option("Riichi profile, by id or as a file.")
@click.option("--players", default="1,2,3,4", show_default=True, help="Names in turn order, first dealer first.")
@click.option("--title", help="Title of the sheet [default: the title of the rules].")
@language_option("the sheet")
@click.option("--pdf", "file", type=FILE, help="Write a PDF file instead of text.")
def session_sheet(  # noqa: PLR0913, PLR0917 - one parameter per option
    folder: Path | None,
    table: int | None,
    round_: int,
    rules: str,
    players: str,
    title: str | None,
    language: str,
    file: Path | None,
) -> None:
    """Write the sheet of a riichi session.

    The events come from standard input, one per line, starting with the first hand, or from what a table of an event
    has sent to its scorer: `homologue rules sheet --event cup --table 3`.

    Lines are those of `homologue session`; `start` is ignored.

    \b
    homologue rules sheet --players "Ann,Bob,Cho,Dov" --pdf session.pdf <events.jsonl
    {"event": {"type": "ron", "winner": 1, "loser": 2, "han": 3, "fu": 30}}
    """
    record = _session_from_input(rules, players) if folder is None else read_session(folder, table or 0, round_)
    entries = play_session(record.events, record.rules)
    sheet = make_session_sheet(title or record.rules.title, first_state(record.rules), entries, record.names, language)
    if file is None:
        click.echo(session_text(sheet), nl=False)
    elif record.event is None:
        write_if_same_kind(file, session_pdf(sheet))
    else:
        with printed_spellings(record.event):
            write_if_same_kind(file, session_pdf(sheet))
        say_unprintable(record.event)


def _session_from_input(rules: str, players: str) -> StoredSession:
    """Read a session from standard input."""
    names = [name.strip() for name in players.split(",")]
    if len(names) != SEATED or not all(names):
        raise click.UsageError("--players needs four names, with commas between them")
    return StoredSession(
        load_riichi_rules(rules), names, (read_line(line, SheetEvent).event.event() for _, line in input_lines())
    )
