"""`homologue rules sheet`: the sheet of a riichi session."""

from pathlib import Path

import click
from msgspec import Struct

from broker.cli import options
from broker.cli.paper import say_unprintable
from broker.cli.rules_input import input_lines, load_riichi_rules, read_line
from broker.cli.session import EventLine
from broker.console import EXISTING_FOLDER, FILE
from broker.export.pdf import spelled
from broker.export.session_sheet import StoredSession, make_session_sheet, read_session, session_pdf, session_text
from broker.files import write_whole
from broker.rules import DEFAULT_RIICHI
from broker.rules.riichi import first_state, play_session

SEATED = 4


class SheetEvent(Struct):
    """A line of `homologue session`, of which only the event is read: the sheet follows the state itself."""

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
@click.option("--rules", default=DEFAULT_RIICHI, show_default=True, help="Riichi profile, by id or as a file.")
@click.option("--players", default="1,2,3,4", show_default=True, help="Names in turn order, first dealer first.")
@click.option("--title", help="Title of the sheet [default: the title of the rules].")
@options.language_option("the sheet")
@click.option("--pdf", "file", type=FILE, help="Write a PDF file instead of text.")
def session_sheet(  # noqa: PLR0913, PLR0917 - one for each option
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
    told = _typed(rules, players) if folder is None else read_session(folder, table or 0, round_)
    entries = play_session(told.events, told.rules)
    made = make_session_sheet(title or told.rules.title, first_state(told.rules), entries, told.names, language)
    if file is None:
        click.echo(session_text(made), nl=False)
    elif told.of is None:
        write_whole(file, session_pdf(made))
    else:
        with spelled(told.of):
            write_whole(file, session_pdf(made))
        say_unprintable(told.of)


def _typed(rules: str, players: str) -> StoredSession:
    """Take a session from standard input."""
    names = [name.strip() for name in players.split(",")]
    if len(names) != SEATED or not all(names):
        raise click.UsageError("--players needs four names, with commas between them")
    return StoredSession(
        load_riichi_rules(rules), names, (read_line(line, SheetEvent).event.event() for _, line in input_lines())
    )
