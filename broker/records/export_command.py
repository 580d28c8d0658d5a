"""`homologue export`: an event's results for other programs."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import click

from broker.calculators.profiles import chosen
from broker.organiser.deals.files import flat
from broker.records import as_lines, of_event, of_lines, results
from broker.records import ema as european
from broker.records.exports import BY_NAME, Source, archive
from broker.records.notes import notes
from broker.records.printed.words import LANGUAGES, Language, words
from broker.records.whole.writing import document, encoded
from broker.records.writing import write
from broker.rules.errors import RuleError
from broker.rules.profile_files import DEFAULT
from broker.scorer import standings
from broker.scorer.errors import ScorerError
from broker.scorer.output import deliver
from broker.scorer.stored import Stored, open_stored
from broker.store.errors import StoreError

LANGUAGE = click.option(
    "--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Of printed pages."
)

F = TypeVar("F", bound=Callable[..., None])

FOLDER = click.argument("folder", metavar="EVENT_FOLDER", type=click.Path(path_type=Path))
SOURCE = click.argument("source", metavar="EVENT_FOLDER|PLAYS", type=click.Path(path_type=Path, allow_dash=True))
EMBARGOED = click.option("--embargoed", is_flag=True, help="Also results of deals that a table has still to play.")
PROFILE = click.option(
    "--profile", default=DEFAULT, show_default=True, help="For PLAYS: a profile's id, or a file that ends in .toml."
)


def _file(command: F) -> F:
    """Add what all exports have: where to write."""
    force = click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
    output = click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="A file, not the terminal.")
    return output(force(command))


@click.group(short_help="Results of an event: PDF, CSV, JSON, EMA report, PMN records.")
def export() -> None:
    """Results of an event, for print and for other programs.

    The event's folder and store are only read; a scorer may be at work on them. What a deal's faces are stays secret
    until the event is over, and its results until every table has played it. See docs/records.md.
    """


@export.command("results")
@SOURCE
@_file
@EMBARGOED
@PROFILE
def results_(source: Path, output: Path | None, profile: str, *, force: bool, embargoed: bool) -> None:
    """All plays as CSV: a row for each seat of each play.

    PLAYS is a file of JSON lines as `homologue score` reads them, or - for standard input.

    \b
    homologue export results my-event --output results.csv
    homologue export results plays.jsonl --profile mcr
    """  # noqa: D301 - click reads the \b
    with _told("results"):
        if not source.is_dir():
            secret, rules = False, chosen(profile)
            listed = of_lines.rows_of(of_lines.read_lines(source, rules), rules)
        else:
            stored = open_stored(source)
            _say_what_is_left_out(stored, all_of_it=embargoed)
            listed = results.of_event(stored, embargoed=embargoed)
            secret = embargoed and not stored.room.final
        deliver(results.written(listed), output, source=source, force=force, secret=secret)


@export.command("plays")
@FOLDER
@_file
@EMBARGOED
def plays(folder: Path, output: Path | None, *, force: bool, embargoed: bool) -> None:
    """All plays as JSON lines, for homologue score: teams, another profile, what can still be reached.

    \b
    homologue export plays my-event | homologue score --json --event team --teams teams.json
    """  # noqa: D301 - click reads the \b
    with _told("plays"):
        stored = open_stored(folder)
        _say_what_is_left_out(stored, all_of_it=embargoed)
        secret = embargoed and not stored.room.final
        deliver(as_lines.written(stored, embargoed=embargoed), output, source=folder, force=force, secret=secret)


@export.command("standings")
@SOURCE
@_file
@PROFILE
def standings_(source: Path, output: Path | None, profile: str, *, force: bool) -> None:
    """The standings as CSV; until corrections are over they are provisional.

    \b
    homologue export standings my-event --output standings-friday.csv
    homologue export standings - <plays.jsonl
    """  # noqa: D301 - click reads the \b
    with _told("standings"):
        if not source.is_dir():
            rules = chosen(profile)
            ranked, event = of_lines.standings_of(of_lines.read_lines(source, rules), rules), None
        else:
            stored = open_stored(source)
            _say_provisional(stored)
            ranked, event = standings.rows(stored.room.standings(), stored.event.players), stored.event
        deliver(
            standings.as_csv(ranked, event.origin_of if event else standings.nowhere),
            output,
            source=source,
            force=force,
        )


@export.command("ema")
@FOLDER
@_file
@click.option(
    "--players",
    type=click.Path(path_type=Path),
    help="CSV of who the players are: id, ema, last_name, first_name, country [default: the event's players.csv].",
)
@click.option("--provisional", is_flag=True, help="Although the standings are not final.")
def ema_(folder: Path, output: Path | None, players: Path | None, *, force: bool, provisional: bool) -> None:
    """The report that the European Mahjong Association takes, as CSV.

    \b
    homologue export ema my-event --players players.csv --output report.csv
    """  # noqa: D301 - click reads the \b
    with _told("ema"):
        stored = open_stored(folder)
        if not provisional and not _is_final(stored):
            raise RuleError("not_final", f"{_missing(stored)}; --provisional reports what there is")
        known = european.read_entrants(players) if players else european.entrants_of(folder, stored.event)
        made = european.report(stored, known)
        if made.without_number:
            click.echo(f"without an EMA number: {', '.join(made.without_number)}", err=True)
        deliver(made.text, output, source=folder, force=force)


@export.command("pmn")
@FOLDER
@_file
@EMBARGOED
@click.option("--with-deals", is_flag=True, help="The deals' faces, although the event is not over. Keep it secret.")
def pmn(folder: Path, output: Path | None, *, force: bool, embargoed: bool, with_deals: bool) -> None:
    """A record for each play that has points, in Portable Majiang Notation; other plays stand in comments.

    \b
    homologue export pmn my-event --output my-event.pmn
    """  # noqa: D301 - click reads the \b
    with _told("pmn"):
        stored = open_stored(folder)
        _say_what_is_left_out(stored, all_of_it=embargoed)
        listed = of_event.records(stored, with_deals=with_deals, embargoed=embargoed)
        secret = (with_deals or embargoed) and not stored.room.final
        text = write(listed, notes(stored, embargoed=embargoed))
        deliver(text, output, source=folder, force=force, secret=secret)


@export.command("pdf")
@click.argument("which", type=click.Choice(["standings", "travellers"]))
@FOLDER
@_file
@EMBARGOED
@LANGUAGE
def pdf_(which: str, folder: Path, language: Language, output: Path | None, *, force: bool, embargoed: bool) -> None:
    """The standings, or all travellers, to be printed: A4, in English, French or Chinese.

    \b
    homologue export pdf standings my-event --language fr --output standings.pdf
    homologue export pdf travellers my-event --output travellers.pdf
    """  # noqa: D301 - click reads the \b
    with _told("pdf"):
        stored = open_stored(folder)
        _say_what_is_left_out(stored, all_of_it=embargoed or which == "standings")
        source = Source(folder, stored, words(language), _now(), embargoed)
        secret = embargoed and not stored.room.final
        content = BY_NAME[f"{which}.pdf"].content(source)
        deliver(content, output, source=folder, force=force, secret=secret)


@export.command("json")
@FOLDER
@_file
@EMBARGOED
@click.option(
    "--whole", is_flag=True, help="All secrets of the event too, so that `homologue event import` makes it anew."
)
def json_(folder: Path, output: Path | None, *, force: bool, embargoed: bool, whole: bool) -> None:
    """Everything of an event in one JSON document; docs/event-document.json is its form.

    \b
    homologue export json my-event --output my-event.json
    homologue export json my-event --whole --output secret.json
    """  # noqa: D301 - click reads the \b
    with _told("json"):
        stored = open_stored(folder)
        _say_what_is_left_out(stored, all_of_it=embargoed or whole)
        secret = whole or (embargoed and not stored.room.final)
        content = encoded(document(folder, stored, _now(), whole=whole, embargoed=embargoed))
        deliver(content, output, source=folder, force=force, secret=secret)


@export.command("all")
@FOLDER
@_file
@EMBARGOED
@LANGUAGE
def all_(folder: Path, language: Language, output: Path | None, *, force: bool, embargoed: bool) -> None:
    """All of these in one archive (zip): PDF, CSV, EMA report once it is over, PMN, JSON.

    \b
    homologue export all my-event --output my-event.zip
    """  # noqa: D301 - click reads the \b
    with _told("all"):
        stored = open_stored(folder)
        _say_what_is_left_out(stored, all_of_it=embargoed)
        content = archive(Source(folder, stored, words(language), _now(), embargoed))
        secret = embargoed and not stored.room.final
        deliver(content, output, source=folder, force=force, secret=secret)


def _now() -> datetime:
    return datetime.now().astimezone()


@contextmanager
def _told(name: str) -> Iterator[None]:
    """End with what is wrong, in one line."""
    try:
        yield
    except (RuleError, ScorerError, StoreError) as problem:
        click.echo(f"homologue export {name}: {problem.code}: {problem}", err=True)
        sys.exit(1)
    except ExceptionGroup as several:
        for one in flat(several):
            click.echo(f"homologue export {name}: {one.code}: {one}", err=True)
        sys.exit(1)


def _is_final(stored: Stored) -> bool:
    return stored.is_final(_now())


def _missing(stored: Stored) -> str:
    """Say of standings that are not final what they wait for."""
    if not stored.room.final:
        return f"{stored.room.plays_in} of {len(stored.event.plan.plays)} plays have their result"
    if stored.room.moment().doubles:
        return "a play counts twice for some of its players, until an arbiter has ruled on it"
    return "the correction period runs"


def _say_provisional(stored: Stored) -> None:
    if not _is_final(stored):
        click.echo(f"provisional: {_missing(stored)}", err=True)


def _say_what_is_left_out(stored: Stored, *, all_of_it: bool) -> None:
    _say_provisional(stored)
    hidden = sorted({play.deal for _, play in stored.counted(embargoed=True) if stored.embargoed(play.deal)})
    if hidden and not all_of_it:
        deals = ", ".join(map(str, hidden))
        click.echo(f"left out until every table has played them: deals {deals} (--embargoed has them)", err=True)
