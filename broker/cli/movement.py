"""`homologue movement`: makes or checks a movement, and replans the rest of an event."""

import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

import click
import msgspec

from broker.cli import options
from broker.cli.rules_input import error_answer
from broker.console import EXISTING, FILE, amount, json_lines, json_option, say, shows_progress
from broker.event import MOVEMENT
from broker.event.movement import (
    STEPS_AT_ONCE,
    KeepSearching,
    MovementFault,
    MovementPlay,
    MovementProblem,
    check_movement,
    check_teams,
    files,
    is_measurable,
    make_movement,
    measure_movement,
    movement_csv,
    name_players,
    read_player_id,
    repair_movement,
    summary,
    usual_copies,
    usual_order,
)
from broker.event.structure import seeded
from broker.files import refuse_unwritable, write_export
from broker.rules import RuleError
from broker.spreadsheet import encode_output

log = logging.getLogger("homologue.movement")

F = TypeVar("F", bound=Callable[..., Any])

PROGRESS_S: Final = 2.0
"""Seconds between two lines of progress."""

OPTIONS: Final = (
    json_option(),
    click.option("--cards", is_flag=True, help="Print a card for each player."),
    click.option("--print", "tables_shown", is_flag=True, help="Print the rounds as tables."),
    options.excel_option,
    click.option("--force", is_flag=True, help="Overwrite an existing file or movement."),
    click.option("--output", type=FILE, help="File to write, CSV or .xlsx."),
    click.option("--iterations", type=click.IntRange(min=0), help="Number of search steps, instead of a time limit."),
    click.option(
        "--seconds", type=click.FloatRange(min=0), default=20.0, show_default=True, help="Time limit of the search."
    ),
    click.option(
        "--seed",
        type=int,
        default=0,
        show_default=True,
        help="Random seed. The same seed and iterations give the same movement.",
    ),
)


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The values of `OPTIONS`."""

    seed: int
    seconds: float
    iterations: int | None
    output: Path | None
    force: bool
    tables_shown: bool
    cards: bool
    as_json: bool
    excel: bool
    written: bool = False
    """Whether the movement was already written into its event, and so is not printed by default."""


def search_options(command: F) -> F:
    """Add `OPTIONS` to a command."""
    for option in OPTIONS:
        command = option(command)
    return command


@contextmanager
def refusals_reported(*, as_json: bool) -> Iterator[None]:
    """Print a RuleError as an answer like any other if `as_json`; otherwise let it end the command."""
    try:
        yield
    except RuleError as problem:
        if not as_json:
            raise
        click.echo(msgspec.json.encode(error_answer(problem)).decode())


@contextmanager
def search_limits(settings: SearchOptions) -> Iterator[KeepSearching]:
    """Return a function that says whether to continue, by time or by steps, until Ctrl-C. It also reports progress.

    An output file that may not be written is refused before the search.
    """
    if settings.output:
        refuse_unwritable(settings.output, source=None, force=settings.force)
    stopped: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        stopped.append(number)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield _search_limit(settings, stopped)
    finally:
        signal.signal(signal.SIGINT, before)


def _search_limit(settings: SearchOptions, stopped: Sequence[int]) -> KeepSearching:
    start = reported_at = time.monotonic()
    steps = 0

    def keep_searching() -> bool:
        nonlocal steps, reported_at
        now = time.monotonic()
        if now - reported_at >= PROGRESS_S:
            reported_at = now
            text = f"searching: {now - start:.0f} s, {steps} steps; Ctrl-C takes the best so far"
            if shows_progress():
                click.echo(text, err=True)
            else:
                log.info(text)
        steps += STEPS_AT_ONCE
        return not stopped and (
            now - start < settings.seconds if settings.iterations is None else steps <= settings.iterations
        )

    return keep_searching


def write_movement(
    plays: Sequence[MovementPlay],
    names: Sequence[str],
    faults: Sequence[MovementFault],
    settings: SearchOptions,
    more: Mapping[str, object],
) -> None:
    """Write the movement in the requested forms, and its measures to standard error. `more` is for the JSON object."""
    measured = measure_movement(plays, names)
    if settings.output:
        content = encode_output(movement_csv(plays), settings.output, excel=settings.excel)
        write_export(content, settings.output, source=None, force=settings.force)
    if settings.as_json:
        problems = [{"code": fault.code, "message": str(fault.text)} for fault in faults]
        listed = [{"round": p.round, "table": p.table, "deal": p.deal, "players": dict(p.players)} for p in plays]
        answer = {"plays": listed, "faults": problems, "quality": summary.measures_as_json(measured), **more}
        click.echo(msgspec.json.encode(answer).decode())
        return
    if settings.tables_shown:
        click.echo(summary.rounds_as_tables(plays, names))
    if settings.cards:
        click.echo(summary.player_cards(plays, names))
    if not (settings.output or settings.tables_shown or settings.cards or settings.written):
        write_export(encode_output(movement_csv(plays), None, excel=settings.excel), None, source=None, force=False)
    for fault in faults:
        click.echo(f"{fault.code}: {fault.text}", err=True)
    click.echo(summary.measures_in_words(measured), err=True)


@click.group(short_help="Make, check and repair movements: who plays which deal, where and when.")
def movement() -> None:
    """Plan who plays which deal, at which table and seat, in which round.

    See `homologue movement COMMAND --help` for details.

    \b
    homologue movement new --players 16 --rounds 5 --output cup.csv
    homologue movement check cup.csv
    homologue movement repair cup.csv --played played.csv --absent p07 --output rest.csv
    """


@movement.command("new", short_help="Make a movement.")
@click.option("--players", type=int, help="Number of players [default: those of --teams or --event].")
@click.option("--rounds", type=int, required=True, help="Number of rounds. Players stay at their table during a round.")
@click.option(
    "--tables",
    type=int,
    help="Number of tables [default: as many as the players fill]. With fewer, some players sit out.",
)
@click.option(
    "--deals-per-round", type=int, help="Deals per table and round [default: 1; with 16 players and 5 rounds 4]."
)
@click.option(
    "--copies", type=int, help="Carriers of each deal [default: 1; with 16 players and 5 rounds of one deal 4]."
)
@click.option("--teams", type=EXISTING, help='Team event: a JSON file {"team": ["p01", ...]}, four players each.')
@click.option("--event", type=EXISTING, help="Write the movement into this event's folder.")
@search_options
def movement_new(
    *,
    players: int | None,
    rounds: int,
    tables: int | None,
    deals_per_round: int | None,
    copies: int | None,
    teams: Path | None,
    event: Path | None,
    **search: Any,  # noqa: ANN401 - the options of `search_options`
) -> None:
    """Make the best valid movement that can be found in the given time.

    The movement is printed as CSV unless another output is chosen; its quality is printed to standard error. Ctrl-C
    ends the search with the best movement so far.

    \b
    homologue movement new --players 16 --rounds 5 --output cup.csv
    homologue movement new --players 64 --rounds 8 --deals-per-round 4 --print
    """
    settings = SearchOptions(**search)
    with refusals_reported(as_json=settings.as_json):
        members = files.read_teams_file(teams) if teams else None
        if event and members:
            raise RuleError(
                "teams_not_of_event", "an event's teams are those of its list of players: leave --teams out"
            )
        if event:
            members = files.check_teams_of_four(files.event_plan(event).teams) or None
        names = files.player_names(players, members, event)
        carriers = 1 if event and copies is None and deals_per_round is not None else copies
        order = usual_order(len(names), tables, rounds, deals_per_round, carriers)
        if event:
            files.replaceable_plan(event, force=settings.force)
        with search_limits(settings) as keep_searching:
            made = make_movement(order, seeded(settings.seed), keep_searching, in_teams=members is not None)
        plays = name_players(made, names)
        if event:
            click.echo(
                f"{files.write_movement_to_event(event, plays, force=settings.force)} plays in {event / MOVEMENT}",
                err=True,
            )
            settings = replace(settings, written=True)
        faults = [*check_movement(plays, order.copies), *(check_teams(plays, members) if members else ())]
        write_movement(plays, names, faults, settings, {})


@movement.command("take", short_help="Copy a movement from a file into an event.")
@click.argument("file", type=EXISTING)
@click.option("--event", type=EXISTING, required=True, help="Folder of the event.")
@click.option("--force", is_flag=True, help="Replace the existing movement.")
@json_lines
def movement_take(*, file: Path, event: Path, force: bool) -> None:
    """Copy a movement into an event's folder, for example one that you wrote or that `repair` planned.

    It is checked first, as the scorer does, assuming as many carriers of each deal as most deals need. Nothing is
    written if anything is wrong.

    \b
    homologue movement take cup.csv --event my-cup
    """
    with refusals_reported(as_json=False):
        read = files.read_movement(file)
        problems = [
            *read.problems,
            *(_at_line(fault, read.lines) for fault in check_movement(read.plays, usual_copies(read.plays))),
        ]
        for problem in sorted(problems, key=lambda p: p.line):
            fields = {"line": problem.line, "code": problem.code, "message": str(problem.text)}
            say(f"line {problem.line}: {problem.code}: {problem.text}", **fields)
        if problems:
            click.get_current_context().exit(1)
        count = files.write_movement_to_event(event, read.plays, force=force)
        say(f"{amount(count, 'play')} in {event / MOVEMENT}", plays=count, file=event / MOVEMENT)


@movement.command("check", short_help="Check a movement.")
@click.argument("file", type=EXISTING)
@click.option("--copies", type=click.IntRange(min=1), help="Carriers of each deal [default: what most deals need].")
@click.option("--teams", type=EXISTING, help='Team event: a JSON file {"team": ["p01", ...]}, four players each.')
@json_option("Print one JSON object; the exit code is 0.")
def movement_check(*, file: Path, copies: int | None, teams: Path | None, as_json: bool) -> None:
    """List everything that is wrong with a movement, by code and line, and measure its quality.

    FILE is CSV or a workbook (columns round, table, deal, east, south, west, north), or an event's folder. The exit
    code is 1 if something is wrong.

    \b
    homologue movement check cup.csv
    """
    with refusals_reported(as_json=as_json):
        read = files.read_movement(file)
        faults = check_movement(read.plays, copies or usual_copies(read.plays))
        faults += check_teams(read.plays, files.read_teams_file(teams)) if teams else []
        problems = sorted([*read.problems, *(_at_line(fault, read.lines) for fault in faults)], key=lambda p: p.line)
        measured = measure_movement(read.by_stays) if read.plays and is_measurable(read.by_stays) else None
        if as_json:
            found = [{"line": p.line, "code": p.code, "message": str(p.text)} for p in problems]
            answer = {"faults": found, "quality": summary.measures_as_json(measured) if measured else None}
            click.echo(msgspec.json.encode(answer).decode())
            return
        for problem in problems:
            click.echo(f"line {problem.line}: {problem.code}: {problem.text}")
        if measured:
            click.echo(summary.measures_in_words(measured))
        click.get_current_context().exit(1 if problems else 0)


def _at_line(fault: MovementFault, lines: Sequence[int]) -> MovementProblem:
    return MovementProblem(fault.code, fault.text, lines[fault.at[-1]])


@movement.command("repair", short_help="Plan the rest of an event again.")
@click.argument("file", type=EXISTING)
@click.option("--played", type=EXISTING, help="CSV file of the plays that took place [default: none].")
@click.option("--absent", multiple=True, help="Player who has left; may be repeated.")
@click.option("--substitute", nargs=2, multiple=True, metavar="GONE NEW", help="Replace a player with another one.")
@search_options
def movement_repair(
    *,
    file: Path,
    played: Path | None,
    absent: Sequence[str],
    substitute: Sequence[tuple[str, str]],
    **search: Any,  # noqa: ANN401 - the options of `search_options`
) -> None:
    """Plan the remaining rounds again, breaking as few rules and moving as few players as possible.

    Plays that took place are kept; planned plays of those rounds that did not take place are dropped. The complete
    movement is written, and the changes are listed on standard error.

    \b
    homologue movement repair cup.csv --played played.csv --absent p07 --substitute p03 p99 --output rest.csv
    """
    settings = SearchOptions(**search)
    with refusals_reported(as_json=settings.as_json):
        plan, done = files.read_faultless_movement(file), files.read_faultless_movement(played) if played else ()
        replacements: dict[int | str, int | str | None] = dict.fromkeys(absent)
        replacements |= {old: read_player_id(instead) for old, instead in substitute}
        with search_limits(settings) as keep_searching:
            plays = repair_movement(plan, done, replacements, seeded(settings.seed), keep_searching)
        changes = summary.movement_changes(plan, plays, after=max((play.round for play in done), default=0))
        for change in changes or ["nothing changes"]:
            click.echo(change, err=True)
        names = sorted({str(who) for play in (*plan, *plays) for who in play.players.values()})
        write_movement(plays, names, check_movement(plays, usual_copies(plan)), settings, {"changes": changes})
