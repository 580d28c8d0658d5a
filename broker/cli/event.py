"""`homologue event`: create an event, compare formats, import a document, and check whether an event may start."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

import click
import msgspec
from click.core import ParameterSource
from msgspec.structs import replace

from broker.cli import options
from broker.cli.deals import deal_new
from broker.cli.movement import movement_new
from broker.cli.previous import FIRST, begin_from
from broker.console import ANY, EXISTING_FILE, PromptedOption, amount, json_lines, json_option, say, wants_json
from broker.errors import RuleError, ScorerError, StoreError, reason
from broker.event import (
    EVENT,
    HALLS,
    HALLS_BY,
    PLAYERS,
    Keying,
    ListedPlayer,
    Plan,
    hall_of_each,
    players_csv,
    read_plan,
    read_players,
    read_saved_players,
    teams_of,
    write_halls,
    write_plan,
)
from broker.event.deals import DEFAULT_WINDS, make
from broker.event.movement import summary
from broker.event.readiness import Finding, deal_notes, start_notes, start_problems
from broker.event.setup import MOST_ROUNDS, SEARCH_S, plan_of, read_public
from broker.event.structure import (
    Resources,
    Structure,
    for_seconds,
    forecast,
    formats,
    plan_in_halls,
    seeded,
    structured_plan,
)
from broker.export.document import read_document, restore_event
from broker.export.pdf import spelling_notes
from broker.files import MOVEMENT, new_folder, write_private
from broker.mqtt import Certificates
from broker.protocol import SEATS, EventName, open_event_key
from broker.rules import DEFAULT_MCR, counts_red_fives, load_rules
from broker.scorer import open_stored_event
from broker.store import has_started


def plan_corrections(folder: Path) -> list[Finding]:
    """Return what a started event's scorer has corrected since, so that it differs from the files in the folder.

    A store that cannot be read is returned as a note. Problems of the event itself are left to `start_problems`.
    """
    if not has_started(folder):
        return []
    try:
        stored = open_stored_event(folder)
    except ScorerError:
        return []
    except StoreError as problem:
        return [(problem.code, str(problem))]
    was, now = stored.state.planned.plan, stored.event.plan
    found = [f"the title: {now.title}, but {was.title} in {folder / EVENT}"] if now.title != was.title else []
    for player in stored.event.corrections:
        name, planned = stored.event.name_of(player), stored.state.planned.name_of(player)
        other = f"{player}: {name}, but {planned} in {folder / EVENT}"
        found.append(other if name != planned else f"{player} ({name}): country, club, numbers or parts of the name")
    found += [f"who plays: not as in {folder / MOVEMENT}"] if stored.event.version else []
    found += [f"the sessions: not as in {folder / EVENT}"] if now.sessions != was.sessions else []
    return [(one.code, one.text) for one in (RuleError("plan_corrected", text) for text in found)]


@click.group(short_help="Set up an event in one folder, and check whether it may start.")
def event_group() -> None:
    """Set up an event. Everything is in FOLDER, which can be copied to another machine and used there.

    \b
    homologue event new my-cup
    homologue event check my-cup
    """


def _folder_name() -> str | None:
    """Return the name of the new event's folder if it is a valid name for an event, else None."""
    folder: Path = click.get_current_context().params["folder"]
    try:
        return msgspec.convert(folder.name, EventName)
    except msgspec.ValidationError:
        return None


@event_group.command("new", short_help="Create an event, asking for what is missing.")
@options.new_folder_argument
@click.option(
    "--name",
    cls=PromptedOption,
    prompt="Name (lower-case letters, digits, hyphens)",
    default=_folder_name,
    help="Short name for internal use; cannot be changed later [default: the folder's name].",
)
@click.option("--title", cls=PromptedOption, prompt="Title", help="Title that people see.")
@click.option(
    "--profile",
    cls=PromptedOption,
    prompt="Rule profile",
    default=DEFAULT_MCR,
    show_default=True,
    help="Rule profile; see `homologue rules profile list`.",
)
@click.option(
    "--players",
    "listed",
    type=EXISTING_FILE,
    cls=PromptedOption,
    prompt="CSV file of the players",
    help="CSV file with the columns name, team, ...; see docs/organiser.md.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, MOST_ROUNDS),
    cls=PromptedOption,
    prompt="Rounds",
    help="Number of rounds. Each has one deal, or four if 16 players play 5 rounds.",
)
@click.option("--deals-per-round", type=click.IntRange(1, 99), help="Deals that each table plays in a round.")
@click.option("--copies", type=click.IntRange(1, 250), help="Carriers of each deal, in each section [default: 1].")
@click.option("--tables", type=click.IntRange(1), help="Tables, in each section [default: as many as players fill].")
@click.option(
    "--halls-by",
    type=click.Choice(HALLS_BY),
    help="Play in several halls: everybody stays in the hall of their club, or of their country (docs/halls.md).",
)
@click.option("--sections", type=click.IntRange(1, 10), default=1, show_default=True, help="Sections side by side.")
@click.option(
    "--final", type=click.IntRange(min=0), default=0, help="Number of players, or teams, that qualify for a final."
)
@click.option("--final-rounds", type=click.IntRange(min=0), default=0, help="Rounds of the final.")
@click.option("--carry-over", default="", metavar="2/3", help="Part of the IMPs that counts in the final.")
@click.option("--previous", type=ANY, metavar="SOURCE", help="Begin from these standings: see `event previous`.")
@click.option("--previous-part", default="", metavar="2/3", help="Part of their IMPs that counts.")
@click.option("--first", type=FIRST, help="Only this many of them, from the first place down, play here.")
@click.option("--prize", "prizes", multiple=True, help="Prize for first place; repeat for second place, and so on.")
@click.option("--uncompared", is_flag=True, help="Accept that each deal is played at one table only.")
@click.option(
    "--keying",
    type=click.Choice(get_args(get_args(Keying)[0])),
    default="single",
    show_default=True,
    help="Key in each paper sheet once, or twice by two people.",
)
@click.option("--keep-plays", is_flag=True, help="Let tables offer to read the rivers after each play, for replays.")
@click.option(
    "--public-address",
    metavar="https://...",
    default="",
    help="Public address of the desk, for the QR codes on receipts.",
)
@click.pass_context
def event_new(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    *,
    folder: Path,
    name: str,
    title: str,
    profile: str,
    listed: Path,
    rounds: int,
    deals_per_round: int | None,
    copies: int | None,
    tables: int | None,
    halls_by: Literal["club", "country"] | None,
    sections: int,
    final: int,
    final_rounds: int,
    carry_over: str,
    previous: Path | None,
    previous_part: str,
    first: int | None,
    prizes: tuple[str, ...],
    uncompared: bool,
    keying: Keying,
    keep_plays: bool,
    public_address: str,
) -> None:
    """Create players, movement, deals, commitment, tile sets and certificates, and check the result.

    Before anything is saved, this shows what the number of rounds means: plays, deals, tables that compare each deal,
    hours. If you were asked for the rounds, you are asked to confirm. Nothing is saved if no deal is played at two
    tables.

    Nothing is overwritten: FOLDER must be new or empty. If a step fails, nothing is left behind.

    \b
    homologue event new my-cup --name cup-2026 --title "Club cup" --profile oedmc-2020 --players list.csv --rounds 5
    homologue event new open --players list.csv --rounds 8 --sections 2 --final 16 --final-rounds 4 --carry-over 2/3
    """
    os.umask(0o077)
    if folder.exists() and any(folder.iterdir()):
        raise RuleError("folder_taken", f"{folder} is not empty; a new event needs a new or empty folder")
    rules = load_rules(profile)
    players = read_players(listed)
    plan, players = begin_from(previous, _plan(name, title, profile, players), players, previous_part, first)
    plan = replace(
        plan,
        keying=keying,
        keep_plays=keep_plays,
        public_address=read_public(public_address),
        uncompared=uncompared,
        prizes=prizes,
    )
    if deals_per_round is not None and copies is None:
        copies = 1
    structure = Structure(rounds, sections, final, final_rounds, carry_over)._replace(
        deals_per_round=deals_per_round,
        copies=copies,
        tables=tables,
        hall_of=hall_of_each(players, halls_by) if halls_by else None,
    )
    structure, nobody_compared = _confirm_rounds(ctx, plan, structure)
    plan = replace(plan, uncompared=nobody_compared)
    with new_folder(folder):
        if halls_by:
            plan, halls = plan_in_halls(plan, structure, seeded(), lambda: for_seconds(SEARCH_S / 4))
            write_plan(folder, plan)
            write_halls(folder, halls)
        elif structure.plain:
            write_plan(folder, plan)
            ctx.invoke(
                movement_new,
                rounds=structure.rounds,
                event=folder,
                tables=tables,
                deals_per_round=deals_per_round,
                copies=copies,
            )
        else:
            write_plan(folder, structured_plan(plan, structure, seeded(), lambda: for_seconds(SEARCH_S)))
        write_private(folder / PLAYERS, players_csv(players).encode())
        saved = read_plan(folder)
        last = max(play.deal for play in saved.plays)
        ctx.invoke(
            deal_new,
            folder=folder,
            event=None,
            count=last,
            prevalent_winds=DEFAULT_WINDS,
            dealers=SEATS,
            set_numbers=tuple(make.allot_sets(saved.plays)),
            red=counts_red_fives(rules),
        )
        open_event_key(folder)
        Certificates.ensure(folder)
    _report_findings(ctx, folder)


def _confirm_rounds(ctx: click.Context, plan: Plan, structure: Structure) -> tuple[Structure, bool]:
    """Show what the number of rounds means and, if it was prompted for, let the user change it.

    Return the structure, and whether nobody is compared. Raises RuleError `nobody_compared` if that was neither
    confirmed at the prompt nor accepted with --uncompared, and as `forecast`.
    """
    prompted, minutes = ctx.get_parameter_source("rounds") is ParameterSource.PROMPT, summary.minutes_a_play(plan)
    while True:
        outlook = forecast(plan, structure, minutes)
        click.echo(f"{amount(structure.rounds, 'round')}: {summary.forecast_sentence(outlook, minutes)}")
        if outlook.nobody_compared and not plan.uncompared:
            text = "each deal would be played at one table only: choose more rounds, or accept that with --uncompared"
            if not prompted:
                raise RuleError("nobody_compared", text)
            click.echo("Each deal would be played at one table only, so nobody would be compared.")
        if not prompted or click.confirm("Keep this?", default=not outlook.nobody_compared):
            return structure, outlook.nobody_compared
        structure = structure._replace(rounds=click.prompt("Rounds", type=click.IntRange(1, MOST_ROUNDS)))


def _plan(name: str, title: str, profile: str, players: Sequence[ListedPlayer]) -> Plan:
    listed = [msgspec.to_builtins(one.player) for one in players]
    fields = {"name": name, "title": title, "profile": profile, "players": listed, "teams": teams_of(players)}
    try:
        return msgspec.convert(fields, Plan)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", reason(error)) from None


@event_group.command("formats", short_help="Show formats that fit players, tables, hours, carriers and sets.")
@click.option("--players", type=click.IntRange(4, 1000), required=True, help="Number of players.")
@click.option("--tables", type=click.IntRange(1), help="Tables in the hall [default: as many as players fill].")
@click.option("--hours", type=click.FloatRange(0.1, 100), required=True, help="Time for play, breaks not counted.")
@click.option("--carriers", type=click.IntRange(1), help="Carriers available [default: enough].")
@click.option("--sets", type=click.IntRange(1), help="Tile sets available [default: enough].")
@click.option(
    "--minutes", type=click.IntRange(1, 240), default=summary.USUAL_MINUTES, show_default=True, help="Minutes per play."
)
@json_option("Print one JSON object: formats, the best first.")
def event_formats(
    *,
    players: int,
    tables: int | None,
    hours: float,
    carriers: int | None,
    sets: int | None,
    minutes: int,
    as_json: bool,
) -> None:
    """Show formats side by side, the best first; `*` marks those with standings in the first half.

    carriers: in use at once, each with a whole tile set. first: when the first deals are done, and standings begin.
    half: plays whose deals are done at half time. strength: the share of the final standings that is strength rather
    than luck, and the plays needed for 50 and 80 % (see docs/organiser.md).

    \b
    homologue event formats --players 64 --hours 8 --carriers 20
    """
    resources = Resources(players, tables, round(hours * summary.HOUR), carriers, sets, minutes)
    rows = [one.row() for one in formats(resources)]
    if as_json:
        click.echo(json.dumps({"formats": rows}))
        return
    headings = (
        "rounds",
        "deals",
        "copies",
        "tables per deal",
        "plays",
        "time",
        "staff",
        "carriers",
        "met",
        "first",
        "half",
    )
    click.echo("  ".join(headings) + "  strength  50 %  80 %")
    for row in rows:
        cells = (
            row["rounds"],
            row["deals_per_round"],
            row["copies"],
            f"{row['tables_a_deal']} of {row['tables']}",
            summary.few(row["plays_each"]),
            summary.hours_minutes(row["minutes"]),
            row["staff"],
            row["carriers"],
            f"{row['others_met']}/{players - 1}",
            summary.hours_minutes(row["first_minutes"]),
            f"{row['at_half']} %",
        )
        columns = "  ".join(str(cell).rjust(len(head)) for cell, head in zip(cells, headings, strict=True))
        goals = "".join(f"{plays:6}" for plays in row["plays_for"].values())
        click.echo(f"{columns}  {row['strength']:6} %{goals}{' *' if row['early'] else ''}")


@event_group.command("check", short_help="Check whether an event is ready to start.")
@options.folder_argument
@json_option("Print one JSON object; the exit code is 0.", expose_value=False)
@click.pass_context
def event_check(ctx: click.Context, folder: Path) -> None:
    """Check players, movement, deals, commitment, sets and profile of an event, and list all problems.

    \b
    homologue event check my-cup
    """
    _report_findings(ctx, folder)


def _report_findings(ctx: click.Context, folder: Path) -> None:
    found = start_problems(folder)
    plan = None if found else plan_of(folder)
    listed = read_saved_players(folder, plan)
    notes = [*start_notes(plan, listed), *spelling_notes(listed)] if plan else []
    notes += [*deal_notes(folder), *plan_corrections(folder)]
    if wants_json():
        answer = {"ready": not found, "problems": _rows(found), "notes": _rows(notes)}
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    for code, text in (*found, *notes):
        click.echo(f"{code}: {text}")
    if found:
        ctx.exit(1)
    first = f"hall split {folder} --to HALLS --address HOST" if (folder / HALLS).exists() else f"scorer {folder}"
    click.echo(f"{folder} may start: homologue {first}")


def _rows(found: Iterable[Finding]) -> list[dict[str, str]]:
    return [{"code": code, "message": str(text)} for code, text in found]


@event_group.command("import", short_help="Create an event's folder from its JSON document.")
@click.argument("file", metavar="DOCUMENT", type=EXISTING_FILE)
@options.new_folder_argument
@json_lines
def event_import(file: Path, folder: Path) -> None:
    """Recreate an event from its complete JSON document. FOLDER must be new or empty.

    This restores plan, players, deals, sets and journal. The document has no passwords, certificates or accounts: new
    ones are created.

    \b
    homologue export json my-cup --whole --output my-cup.json
    homologue event import my-cup.json again
    """
    os.umask(0o077)
    messages = restore_event(read_document(file), folder)
    Certificates.ensure(folder)
    journal = f"{amount(messages, 'message')} in the journal"  # `facts` in JSON counts rulings and devices as well
    say(f"{folder}: {journal}. Start it with homologue scorer {folder}", folder=folder, facts=messages)


@event_group.command("key", short_help="Print the event's public key, creating it if there is none.")
@options.event_folder_argument
@json_lines
def event_key(folder: Path) -> None:
    """Print the public key with which tables verify this event's receipts (the setting `event_key` of a table).

    The private key is FOLDER/event.key. If you copy the folder to a second machine, copy it too.

    \b
    homologue event key my-cup
    """
    os.umask(0o077)
    public = open_event_key(folder).public
    say(public, key=public)
