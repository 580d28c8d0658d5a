"""`homologue event`: a new event's folder, from questions or from options, and whether it may start."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

import click
import msgspec
import tomli_w
from click.core import ParameterSource
from msgspec.structs import replace

from broker.contract.words import SEATS
from broker.credentials import write_private
from broker.organiser.deals import options
from broker.organiser.deals.command import new as new_deals
from broker.organiser.deals.made import BY_ROUNDS
from broker.organiser.events.listed import Listed, players_csv, read_kept, read_players, teams_of
from broker.organiser.events.ready import Problem, corrections, notes, problems
from broker.organiser.events.setting_up import MOST_ROUNDS, plan_of, read_public
from broker.organiser.movements import coming
from broker.organiser.movements.command import new as new_movement
from broker.organiser.movements.command import usual_order
from broker.organiser.movements.players import fours, team_by_team
from broker.organiser.paper.command import sheets
from broker.rules.errors import RuleError
from broker.rules.profile_files import DEFAULT
from broker.rules.rule_books import counts_red, load
from broker.scorer.event import EVENT, Keying, Plan, read_plan
from broker.scorer.origins import PLAYERS


@click.group(cls=options.Refusing, short_help="Set an event up in one folder; check whether it may start.")
def event() -> None:
    """Set an event up. Everything of it lies in FOLDER, which can be copied to another machine and goes on there.

    \b
    homologue event new my-cup
    homologue event check my-cup
    """  # noqa: D301 - click reads the \b


@event.command(short_help="Make an event's folder; asks for what is not said.")
@options.folder
@click.option("--name", prompt="Name (lower-case letters, digits, hyphens)", help="It is part of every topic.")
@click.option("--title", prompt="Title, as people read it", help="As the desk and the exports show it.")
@click.option("--profile", prompt="Rule profile", default=DEFAULT, show_default=True, help="`homologue profile list`.")
@click.option(
    "--players",
    "listed",
    type=options.FILE,
    prompt="CSV file of the players",
    help="Columns name, team ...; docs/organiser.md.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, MOST_ROUNDS),
    prompt="Rounds",
    help="A player stays at a table for a round, which is of one deal; of four with 16 players and 5 rounds.",
)
@click.option("--uncompared", is_flag=True, help="It is meant that each deal is played at one table only.")
@click.option(
    "--keying",
    type=click.Choice(get_args(get_args(Keying)[0])),
    default="single",
    show_default=True,
    help="How many people key each paper sheet at the desk.",
)
@click.option(
    "--public-address",
    metavar="https://...",
    default="",
    help="Where players reach the desk from home: it is in the QR code of each receipt.",
)
@click.pass_context
def new(  # noqa: PLR0913 - one parameter an option
    ctx: click.Context,
    *,
    folder: Path,
    name: str,
    title: str,
    profile: str,
    listed: Path,
    rounds: int,
    uncompared: bool,
    keying: Keying,
    public_address: str,
) -> None:
    """Make players, movement, deals, commitment and tile sets, and check them as a whole.

    What comes of the rounds is said before anything is kept: plays, deals, tables that compare each deal, hours. Who
    was asked for the rounds is asked whether to keep that. Where no deal is played at two tables nothing is kept.

    Nothing is written over: FOLDER is new or empty. Where a step is refused, what was made before it stays, and the
    commands `movement` and `deal` go on from there.

    \b
    homologue event new my-cup --name cup-2026 --title "Club cup" --profile oedmc-2020 --players list.csv --rounds 5
    """  # noqa: D301 - click reads the \b
    os.umask(0o077)
    if folder.exists() and any(folder.iterdir()):
        raise RuleError("folder_taken", f"{folder} is not empty; a new event lies in a new folder")
    rules = load(profile)
    players = read_players(listed)
    plan = replace(
        _plan(name, title, profile, players),
        keying=keying,
        public_address=read_public(public_address),
        uncompared=uncompared,
    )
    rounds, alone = _agreed(ctx, plan, rounds)
    plan = replace(plan, uncompared=alone)
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / EVENT, tomli_w.dumps(msgspec.to_builtins(plan)).encode())
    write_private(folder / PLAYERS, players_csv(players).encode())
    ctx.invoke(new_movement, rounds=rounds, event=folder)
    made = read_plan(folder)
    last = max(play.deal for play in made.plays)
    ctx.invoke(
        new_deals,
        folder=folder,
        event=None,
        count=last,
        prevalent_winds=BY_ROUNDS,
        dealers=SEATS,
        wished=(),
        red=counts_red(rules),
    )
    _tell(ctx, folder, as_json=False)


def _agreed(ctx: click.Context, plan: Plan, rounds: int) -> tuple[int, bool]:
    """Say what comes of so many rounds; who was asked for them may name others. Give them, and if nobody is compared.

    Raises RuleError `nobody_compared` where that was neither asked about nor said.
    """
    asked, minutes = ctx.get_parameter_source("rounds") is ParameterSource.PROMPT, coming.minutes_a_play(plan)
    while True:
        count = len(team_by_team(fours(plan.teams))) or len(plan.players)
        found = coming.of_order(usual_order(count, None, rounds, None, None), minutes)
        click.echo(f"{rounds} rounds: {coming.told(found, minutes)}")
        if found.nobody_compared and not plan.uncompared:
            text = "each deal would be played at one table only, and nobody compared: take more rounds, or --uncompared"
            if not asked:
                raise RuleError("nobody_compared", text)
            click.echo("Each deal would be played at one table only: nobody is compared.")
        if not asked or click.confirm("Keep this?", default=not found.nobody_compared):
            return rounds, found.nobody_compared
        rounds = click.prompt("Rounds", type=click.IntRange(1, MOST_ROUNDS))


def _plan(name: str, title: str, profile: str, players: Sequence[Listed]) -> Plan:
    listed = [msgspec.to_builtins(one.player) for one in players]
    said = {"name": name, "title": title, "profile": profile, "players": listed, "teams": teams_of(players)}
    try:
        return msgspec.convert(said, Plan)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", str(error)) from None


@event.command(short_help="Name everything that keeps an event from starting.")
@options.folder
@click.option("--json", "as_json", is_flag=True, help="One JSON object; the exit code is 0.")
@click.pass_context
def check(ctx: click.Context, folder: Path, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """Check an event as a whole: players, movement, deals, commitment, sets, profile. All problems at once.

    \b
    homologue event check my-cup
    """  # noqa: D301 - click reads the \b
    _tell(ctx, folder, as_json=as_json)


event.add_command(sheets)


def _tell(ctx: click.Context, folder: Path, *, as_json: bool) -> None:
    found = problems(folder)
    plan = None if found else plan_of(folder)
    noted = [*(notes(plan, read_kept(folder, plan)) if plan else ()), *corrections(folder)]
    if as_json:
        said = {"ready": not found, "problems": _rows(found), "notes": _rows(noted)}
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    for code, text in (*found, *noted):
        click.echo(f"{code}: {text}")
    if found:
        ctx.exit(1)
    click.echo(f"{folder} may start: homologue scorer {folder}")


def _rows(found: Iterable[Problem]) -> list[dict[str, str]]:
    return [{"code": code, "message": text} for code, text in found]
