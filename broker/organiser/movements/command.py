"""`homologue movement`: makes a movement, checks one, and plans anew what is left of an event."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec

from broker.organiser.movements import file as files
from broker.organiser.movements import text
from broker.organiser.movements.players import TEAM, fours, player_names, read_teams
from broker.organiser.movements.search import Wanted, going_on, refusals, searching, write
from broker.rules.errors import RuleError
from broker.rules.movement import (
    Fault,
    Order,
    check,
    check_teams,
    is_measurable,
    is_perfect,
    make,
    named,
    quality,
    repair,
    usual_copies,
)
from broker.scorer.event import EVENT

FILE = click.Path(path_type=Path)


@click.group(short_help="Who plays which deal, where and when: make, check, repair.")
def movement() -> None:
    """Who plays which deal, at which table and seat, in which round.

    `homologue movement COMMAND --help` says more of each.

    \b
    homologue movement new --players 16 --rounds 5 --output cup.csv
    homologue movement check cup.csv
    homologue movement repair cup.csv --played played.csv --absent p07 --output rest.csv
    """  # noqa: D301 - click reads the \b


@movement.command(short_help="Make a movement.")
@click.option("--players", type=int, help="How many; with --teams or --event as many as those name.")
@click.option("--rounds", type=int, required=True, help="A player stays at a table for a round.")
@click.option("--tables", type=int, help="Default: as many as the players fill; with fewer some sit out.")
@click.option("--deals-per-round", type=int, help="Deals of a table in a round. Default 1; 16 players, 5 rounds: 4.")
@click.option("--copies", type=int, help="Carriers of each deal. Default 1; 16 players, 5 rounds of 1 deal: 4.")
@click.option("--teams", type=FILE, help='Team event: a JSON file {"team": ["p01", ...]}, four players each.')
@click.option("--event", type=FILE, help="Folder of an event whose plays these are to be.")
@searching
def new(
    *,
    players: int | None,
    rounds: int,
    tables: int | None,
    deals_per_round: int | None,
    copies: int | None,
    teams: Path | None,
    event: Path | None,
    **search: Any,  # noqa: ANN401 - the options of `searching`
) -> None:
    """Make a movement that breaks no rule, as good as the time allows.

    CSV goes to standard output unless something else is asked for, the measures to standard error. Ctrl-C ends the
    search with the best so far.

    \b
    homologue movement new --players 16 --rounds 5 --output cup.csv
    homologue movement new --players 64 --rounds 8 --deals-per-round 4 --print
    """  # noqa: D301 - click reads the \b
    wanted = Wanted(**search)
    with refusals(as_json=wanted.as_json):
        members = read_teams(teams) if teams else None
        if event and members:
            raise RuleError(
                "teams_not_of_event", "an event's teams are those of its list of players: leave --teams out"
            )
        if event:
            members = fours(files.event_teams(event)) or None
        names = player_names(players, members, event)
        carriers = 1 if event and copies is None and deals_per_round is not None else copies
        order = usual_order(len(names), tables, rounds, deals_per_round, carriers)
        if event and order.copies > 1:
            raise RuleError(
                "one_carrier_a_deal", f"the scorer of an event takes one carrier of a deal, not {order.copies}"
            )
        if event:
            files.may_take(event, force=wanted.force)
        with going_on(wanted) as go_on:
            made = make(order, Random(wanted.seed), go_on, in_teams=members is not None)  # noqa: S311 - no secret
        plays = named(made, names)
        if event:
            click.echo(f"{files.write_event(event, plays, force=wanted.force)} plays in {event / EVENT}", err=True)
            wanted = replace(wanted, written=True)
        faults = [*check(plays, order.copies), *(check_teams(plays, members) if members else ())]
        write(plays, names, faults, wanted, {})


def usual_order(players: int, tables: int | None, rounds: int, deals: int | None, copies: int | None) -> Order:
    """Order what the perfect movement needs where nothing else is said: deals that go round, or carriers of one."""
    filled = players // TEAM if tables is None else tables
    order = Order(players, filled, rounds, 1 if deals is None else deals, 1 if copies is None else copies)
    at_once = replace(order, copies=-(-filled // order.deals_per_round))
    if copies is not None or not is_perfect(at_once):
        return order
    return replace(order, deals_per_round=filled) if deals is None else at_once


@movement.command(short_help="Put a movement from a file into an event.")
@click.argument("file", type=FILE)
@click.option("--event", type=FILE, required=True, help="Folder of the event.")
@click.option("--force", is_flag=True, help="In place of the movement that is there.")
def take(*, file: Path, event: Path, force: bool) -> None:
    """Put a movement into an event's folder: one that you wrote, or that `repair` planned.

    It is checked first, as the scorer does: one carrier of each deal. Nothing is written if anything is wrong.

    \b
    homologue movement take cup.csv --event my-cup
    """  # noqa: D301 - click reads the \b
    with refusals(as_json=False):
        read = files.read(file)
        problems = [*read.problems, *(_at_line(fault, read.lines) for fault in check(read.plays, 1))]
        for problem in sorted(problems, key=lambda p: p.line):
            click.echo(f"line {problem.line}: {problem.code}: {problem.text}")
        if problems:
            click.get_current_context().exit(1)
        click.echo(f"{files.write_event(event, read.plays, force=force)} plays in {event / EVENT}")


@movement.command("check", short_help="Name everything that is wrong with a movement.")
@click.argument("file", type=FILE)
@click.option("--copies", type=click.IntRange(min=1), help="Carriers of each deal. Default: what most deals need.")
@click.option("--teams", type=FILE, help='Team event: a JSON file {"team": ["p01", ...]}, four players each.')
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output; the exit code is 0.")
def check_file(*, file: Path, copies: int | None, teams: Path | None, as_json: bool) -> None:
    """Name everything that is wrong with a movement, by code and line, and measure it.

    FILE is CSV (columns round, table, deal, east, south, west, north), an event.toml, or an event's folder. The exit
    code is 1 where something is wrong.

    \b
    homologue movement check cup.csv
    """  # noqa: D301 - click reads the \b
    with refusals(as_json=as_json):
        read = files.read(file)
        faults = check(read.plays, copies or usual_copies(read.plays))
        faults += check_teams(read.plays, read_teams(teams)) if teams else []
        problems = sorted([*read.problems, *(_at_line(fault, read.lines) for fault in faults)], key=lambda p: p.line)
        measured = quality(read.by_stays) if read.plays and is_measurable(read.by_stays) else None
        if as_json:
            told = [{"line": p.line, "code": p.code, "message": p.text} for p in problems]
            answer = {"faults": told, "quality": text.as_json(measured) if measured else None}
            click.echo(msgspec.json.encode(answer).decode())
            return
        for problem in problems:
            click.echo(f"line {problem.line}: {problem.code}: {problem.text}")
        if measured:
            click.echo(text.as_measures(measured))
        click.get_current_context().exit(1 if problems else 0)


def _at_line(fault: Fault, lines: Sequence[int]) -> files.Problem:
    return files.Problem(fault.code, fault.text, lines[fault.at[-1]])


@movement.command("repair", short_help="Plan anew what is left of an event.")
@click.argument("file", type=FILE)
@click.option("--played", type=FILE, help="CSV of what was really played; without it nothing was.")
@click.option("--absent", multiple=True, help="A player who is not there any more; may be given again.")
@click.option("--substitute", nargs=2, multiple=True, metavar="GONE NEW", help="Who comes instead of whom.")
@searching
def repair_file(
    *,
    file: Path,
    played: Path | None,
    absent: Sequence[str],
    substitute: Sequence[tuple[str, str]],
    **search: Any,  # noqa: ANN401 - the options of `searching`
) -> None:
    """Plan the rounds that are left anew: the fewest rules broken, and the fewest players moved.

    What was played stays as it was; what was planned for those rounds and not played is dropped. The whole movement is
    written, and what changes is told on standard error.

    \b
    homologue movement repair cup.csv --played played.csv --absent p07 --substitute p03 p99 --output rest.csv
    """  # noqa: D301 - click reads the \b
    wanted = Wanted(**search)
    with refusals(as_json=wanted.as_json):
        plan, done = files.read_whole(file), files.read_whole(played) if played else ()
        gone: dict[int | str, int | str | None] = dict.fromkeys(absent)
        gone |= {old: files.player(instead) for old, instead in substitute}
        with going_on(wanted) as go_on:
            plays = repair(plan, done, gone, Random(wanted.seed), go_on)  # noqa: S311 - no secret
        changes = text.changes(plan, plays, after=max((play.round for play in done), default=0))
        for change in changes or ["nothing changes"]:
            click.echo(change, err=True)
        names = sorted({str(who) for play in (*plan, *plays) for who in play.players.values()})
        write(plays, names, check(plays, usual_copies(plan)), wanted, {"changes": changes})
