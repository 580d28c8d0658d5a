"""`homologue export`: an event's results for print and for other programs."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from broker.cli import options
from broker.cli.paper import say_unprintable
from broker.cli.people import note_faces_shown
from broker.cli.rules_input import input_lines, load_profile, profile_option, read_lines
from broker.cli.score import Plays, read_plays
from broker.console import EXISTING_FILE, EXISTING_FOLDER, FILE, PathType, language_option, working
from broker.export import ema, results
from broker.export.archive import BY_NAME, ExportSource, archive
from broker.export.document import encode_document, event_document
from broker.export.pmn import event
from broker.export.pmn.notation import write_records
from broker.files import write_export
from broker.i18n import N_, Translator
from broker.people.anchors import anchor_of
from broker.protocol import Standing
from broker.rules import Profile, RuleError
from broker.scorer import StoredEvent, open_stored_event, standing_rows, standings
from broker.scoring import Ledger, player_standings
from broker.spreadsheet import encode_output

LANGUAGE = language_option("printed pages")

F = TypeVar("F", bound=Callable[..., None])

FOLDER = click.argument("folder", metavar="EVENT_FOLDER", type=EXISTING_FOLDER)
SOURCE = click.argument("source", metavar="EVENT_FOLDER|PLAYS", type=PathType(exists=True, allow_dash=True))
EMBARGOED = click.option(
    "--embargoed", is_flag=True, help="Include results of deals that have not been played at every table."
)
PROFILE = profile_option("For PLAYS: rule profile, by id or as a .toml file.")


def _file(command: F) -> F:
    """Add what all exports share: the options --output and --force, and a spinner."""

    @wraps(command)
    def exporting(*args: Any, output: Path | None, **values: Any) -> None:  # noqa: ANN401 - click's arguments
        with working("Exporting") if output else nullcontext():
            command(*args, output=output, **values)

    output = click.option("--output", type=FILE, help="File to write [default: standard output].")
    return cast("F", output(options.force_option(exporting)))


@click.group(short_help="Export an event's results: PDF, CSV, Excel, JSON, EMA report, PMN records.")
def export() -> None:
    """Export the results of an event, to print or for other programs.

    The event is only read, and its scorer may be running. The faces of deals stay secret until the event is over, and
    the results of a deal until every table has played it. See docs/records.md.
    """


@export.command("results")
@SOURCE
@_file
@options.excel_option
@EMBARGOED
@PROFILE
def results_(source: Path, output: Path | None, profile: str, *, force: bool, excel: bool, embargoed: bool) -> None:
    """Export all plays as CSV, with a row for each seat of each play.

    PLAYS is a file of JSON lines as for `homologue score`, or - for standard input.

    \b
    homologue export results my-event --output results.csv
    homologue export results my-event --output results.xlsx
    homologue export results plays.jsonl --profile mcr
    """
    if not source.is_dir():
        secret, rules = False, load_profile(profile)
        listed = rows_of_plays(read_played_lines(source, rules), rules)
    else:
        stored = open_stored_event(source)
        _say_what_is_left_out(stored, all_of_it=embargoed)
        listed = results.event_result_rows(stored, embargoed=embargoed)
        secret = embargoed and not stored.state.over
    content = encode_output(results.results_csv(listed), output, excel=excel)
    write_export(content, output, source=source, force=force, secret=secret)


@export.command("plays")
@FOLDER
@_file
@EMBARGOED
def plays(folder: Path, output: Path | None, *, force: bool, embargoed: bool) -> None:
    """Export all plays as JSON lines for `homologue score`.

    \b
    homologue export plays my-event | homologue score --json --event team --teams teams.json
    """
    stored = open_stored_event(folder)
    _say_what_is_left_out(stored, all_of_it=embargoed)
    secret = embargoed and not stored.state.over
    write_export(results.play_lines(stored, embargoed=embargoed), output, source=folder, force=force, secret=secret)


@export.command("standings")
@SOURCE
@_file
@options.excel_option
@PROFILE
@click.option("--teams", is_flag=True, help="For EVENT_FOLDER: export the standings of the teams instead.")
def standings_(source: Path, output: Path | None, profile: str, *, force: bool, excel: bool, teams: bool) -> None:
    """Export the standings as CSV. They are provisional until the head arbiter has declared them final.

    \b
    homologue export standings my-event --output standings-friday.csv
    homologue export standings my-event --teams --output teams-friday.csv
    homologue export standings - <plays.jsonl
    """
    if teams:
        made_from = _source(source)
        _say_provisional(made_from.stored)
        text = BY_NAME["team-standings.csv"].content(made_from).decode()
        write_export(encode_output(text, output, excel=excel), output, source=source, force=force)
        return
    if not source.is_dir():
        rules = load_profile(profile)
        ranked, event = standings_of(read_played_lines(source, rules), rules), None
    else:
        stored = open_stored_event(source)
        _say_provisional(stored)
        ranked, event = tuple(stored.state.snapshot().standings), stored.event
    text = standings.standings_csv(ranked, event.origin_of if event else standings.no_origin)
    write_export(encode_output(text, output, excel=excel), output, source=source, force=force)


@export.command("next-event", short_help="Export what the next event begins from as CSV.")
@FOLDER
@_file
@options.excel_option
def next_event_(folder: Path, output: Path | None, *, force: bool, excel: bool) -> None:
    """Export what the next event begins from as CSV: the final standings with their players, teams and numbers.

    `homologue event previous` and the desk's page Set-up accept the file as it is.

    \b
    homologue export next-event my-event --output next-event.csv
    """
    text = BY_NAME["next-event.csv"].content(_source(folder)).decode()
    write_export(encode_output(text, output, excel=excel), output, source=folder, force=force)


@export.command("ema")
@FOLDER
@_file
@options.excel_option
@click.option(
    "--players",
    type=EXISTING_FILE,
    help="CSV file with the columns id, ema, last_name, first_name, country [default: the event's players.csv].",
)
@click.option("--provisional", is_flag=True, help="Export even if the standings are not final.")
def ema_(
    folder: Path, output: Path | None, players: Path | None, *, force: bool, excel: bool, provisional: bool
) -> None:
    """Export the report for the European Mahjong Association as CSV.

    \b
    homologue export ema my-event --players players.csv --output report.csv
    """
    stored = open_stored_event(folder)
    if not provisional and not stored.final:
        raise RuleError("not_final", f"{_why_provisional(stored)}; --provisional exports them as they are")
    known = ema.read_entrants(players) if players else ema.entrants_of(folder, stored.event)
    made = ema.ema_report(stored, known)
    if made.without_number:
        click.echo(f"without an EMA number: {', '.join(made.without_number)}", err=True)
    write_export(encode_output(made.text, output, excel=excel), output, source=folder, force=force)


@export.command("certificates", short_help="Export a certificate for each player, or team, as PDF.")
@FOLDER
@_file
@language_option("the certificates")
def certificates_(folder: Path, output: Path | None, language: str, *, force: bool) -> None:
    """Export a certificate for each player, or team, as PDF, once the standings are declared final.

    Set the prizes in `event.toml`, or on the page Set-up.

    \b
    homologue export certificates my-event --language fr --output certificates.pdf
    """
    source = _source(folder, language)
    write_export(BY_NAME["certificates.pdf"].content(source), output, source=folder, force=force)
    say_unprintable(source.stored.event)


@export.command("booklet")
@FOLDER
@_file
@LANGUAGE
def booklet_(folder: Path, output: Path | None, language: str, *, force: bool) -> None:
    """Export a booklet for players to take home as PDF, once the standings are declared final.

    One page per deal: the four walls in the order of drawing, all plays, and the highlights.

    \b
    homologue export booklet my-event --language fr --output booklet.pdf
    """
    source = _source(folder, language, anchor=anchor_of(folder))
    write_export(BY_NAME["booklet.pdf"].content(source), output, source=folder, force=force)
    say_unprintable(source.stored.event)


@export.command("replay")
@FOLDER
@_file
@LANGUAGE
def replay_(folder: Path, output: Path | None, language: str, *, force: bool) -> None:
    """Export a page that replays plays in a browser, once the standings are declared final.

    It shows all tables of a deal side by side, turn by turn: plays of simulated players, and plays that `homologue
    record rivers` has reconstructed.

    \b
    homologue export replay my-event --language fr --output replay.html
    """
    write_export(BY_NAME["replay.html"].content(_source(folder, language)), output, source=folder, force=force)


@export.command("pmn")
@FOLDER
@_file
@EMBARGOED
@click.option(
    "--with-deals", is_flag=True, help="Include the faces of deals before the event is over. Keep the file secret."
)
def pmn(folder: Path, output: Path | None, *, force: bool, embargoed: bool, with_deals: bool) -> None:
    """Export plays in Portable Majiang Notation (PMN); plays without points become comments.

    \b
    homologue export pmn my-event --output my-event.pmn
    """
    stored = open_stored_event(folder)
    _say_what_is_left_out(stored, all_of_it=embargoed)
    listed = event.event_records(stored, with_deals=with_deals, embargoed=embargoed)
    secret = (with_deals or embargoed) and not stored.state.over
    if with_deals:
        note_faces_shown(folder, "export pmn")
    text = write_records(listed, event.pmn_notes(stored, embargoed=embargoed))
    write_export(text, output, source=folder, force=force, secret=secret)


@export.command("pdf")
@click.argument("which", type=click.Choice(["standings", "travellers"]))
@FOLDER
@_file
@EMBARGOED
@LANGUAGE
def pdf_(which: str, folder: Path, language: str, output: Path | None, *, force: bool, embargoed: bool) -> None:
    """Export the standings or all travellers as PDF, on A4.

    \b
    homologue export pdf standings my-event --language fr --output standings.pdf
    homologue export pdf travellers my-event --output travellers.pdf
    """
    source = _source(folder, language, anchor=anchor_of(folder), embargoed=embargoed)
    _say_what_is_left_out(source.stored, all_of_it=embargoed or which == "standings")
    secret = embargoed and not source.stored.state.over
    write_export(BY_NAME[f"{which}.pdf"].content(source), output, source=folder, force=force, secret=secret)
    say_unprintable(source.stored.event)


@export.command("json")
@FOLDER
@_file
@EMBARGOED
@click.option(
    "--whole", is_flag=True, help="Include all secrets, so that `homologue event import` can recreate the event."
)
def json_(folder: Path, output: Path | None, *, force: bool, embargoed: bool, whole: bool) -> None:
    """Export an event as one JSON document; its schema is docs/event-document.json.

    \b
    homologue export json my-event --output my-event.json
    homologue export json my-event --whole --output secret.json
    """
    stored = open_stored_event(folder)
    _say_what_is_left_out(stored, all_of_it=embargoed or whole)
    secret = whole or (embargoed and not stored.state.over)
    content = encode_document(event_document(folder, stored, whole=whole, embargoed=embargoed))
    if whole:
        note_faces_shown(folder, "export json")
    write_export(content, output, source=folder, force=force, secret=secret)


@export.command("all", short_help="Export everything as one ZIP archive.")
@FOLDER
@_file
@EMBARGOED
@LANGUAGE
def all_(folder: Path, language: str, output: Path | None, *, force: bool, embargoed: bool) -> None:
    """Export everything as one ZIP archive: PDF, CSV, PMN, JSON, and the EMA report once the event is over.

    \b
    homologue export all my-event --output my-event.zip
    """
    source = _source(folder, language, anchor=anchor_of(folder), embargoed=embargoed)
    _say_what_is_left_out(source.stored, all_of_it=embargoed)
    secret = embargoed and not source.stored.state.over
    write_export(archive(source), output, source=folder, force=force, secret=secret)
    say_unprintable(source.stored.event)


def _source(folder: Path, language: str = "en", *, anchor: str = "", embargoed: bool = False) -> ExportSource:
    """Return an event as a source of the files in its archive, dated now."""
    now = datetime.now().astimezone()
    return ExportSource(folder, open_stored_event(folder), Translator(language), now, embargoed, anchor=anchor)


def _why_provisional(stored: StoredEvent) -> str:
    """Return what provisional standings still wait for."""
    if not stored.state.over:
        return f"{stored.state.plays_in} of {len(stored.event.plan.plays)} plays have their result"
    if stored.state.snapshot().doubles:
        return "a play counts twice for some of its players, until an arbiter has ruled on it"
    return "the head arbiter has not declared them final"


def _say_provisional(stored: StoredEvent) -> None:
    if not stored.final:
        click.echo(f"provisional: {_why_provisional(stored)}", err=True)


def _say_what_is_left_out(stored: StoredEvent, *, all_of_it: bool) -> None:
    _say_provisional(stored)
    hidden = sorted({play.deal for _, play in stored.counted(embargoed=True) if stored.embargoed(play.deal)})
    if hidden and not all_of_it:
        deals = ", ".join(map(str, hidden))
        click.echo(f"left out until every table has played them: deals {deals} (--embargoed includes them)", err=True)


STANDARD_INPUT = Path("-")


def read_played_lines(source: Path, profile: Profile) -> Plays:
    """Read all plays. Raises the first RuleError, since results without that play would be wrong."""
    plays = read_plays(_lines(source), profile)
    if plays.refusals:
        raise plays.refusals[0]
    return plays


def _lines(source: Path) -> Iterator[tuple[int, str]]:
    return input_lines() if source == STANDARD_INPUT else _file_lines(source)


def _file_lines(source: Path) -> Iterator[tuple[int, str]]:
    try:
        with source.open("rb") as file:
            yield from read_lines(file)
    except OSError as error:
        raise RuleError("unreadable", N_("{where}: {problem}", where=source, problem=error.strerror)) from None


def rows_of_plays(plays: Plays, profile: Profile) -> list[results.Row]:
    """Return a row for each seat of each play with a result or a ruling, then rows for IMPs outside plays."""
    ledger = Ledger.of(plays.counted, profile)
    return [
        *results.result_rows(ledger.groups, ledger.unplayed.values()),
        *results.outside_plays_rows(plays.adjustments),
    ]


def standings_of(plays: Plays, profile: Profile) -> tuple[Standing, ...]:
    """Rank the players of all plays, including plays that have no result yet."""
    before, guests = plays.brought("individual"), plays.without_standing("individual")
    ledger = Ledger.of(plays.counted, profile, plays.waiting)
    ledger = ledger.with_adjustments((*before.adjustments, *plays.adjustments))
    return standing_rows(player_standings(ledger, previous=before.places, without_standing=guests), {})
