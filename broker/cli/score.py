"""`homologue score`: all plays of an event in, travellers and standings out."""

from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from broker.cli.profile import load_either_profile
from broker.cli.score_input import Event, Plays, Previous, read_plays, read_previous, read_team_file
from broker.cli.stream import error_answer, input_lines, write_answer
from broker.console import ANY, json_option
from broker.i18n import N_
from broker.rules import DEFAULT_MCR, ComparisonRules, RuleError
from broker.scoring import (
    Adjustment,
    Bounds,
    ComparisonGroup,
    Ledger,
    PlayWithImps,
    Ranked,
    Teams,
    comparable_deals,
    compare_plays,
    entry_bounds,
    json_imp,
    real_table,
    standings,
    team,
    team_of_players,
)


def travellers(compared: Iterable[ComparisonGroup]) -> list[dict[str, Any]]:
    """Write groups as the contract has them: exact fractions, plays by table; with own data where there are."""
    by_deal: dict[int, list[dict[str, Any]]] = {}
    for group in compared:
        plays = [*map(_compared, group.plays)]
        if group.apart:
            for play, own in zip(plays, group.own_data(), strict=True):
                play["datum"] = {seat: str(value) for seat, value in own.items()}
        row: dict[str, Any] = {"datum": {seat: str(value) for seat, value in group.datum.items()}, "plays": plays}
        if group.section is not None:
            row["section"] = group.section
        by_deal.setdefault(group.deal, []).append(row)
    return [{"deal": deal, "groups": rows} for deal, rows in sorted(by_deal.items())]


def _compared(one: PlayWithImps) -> dict[str, Any]:
    table = real_table(one.play)
    row: dict[str, Any] = {
        "table": table,
        "points": dict(one.play.points or {}),
        "imp": {seat: json_imp(imp) for seat, imp in one.imp.items()},
    }
    return row | {"out_of_place": True} if table != one.play.table else row


def standing_line(ranked: Ranked, who: str, reach: Bounds | None) -> dict[str, Any]:
    """Write one line of the standings; while plays are missing, with what can still be reached."""
    row: dict[str, Any] = {"place": ranked.place, who: ranked.name, "imp": json_imp(ranked.imp), "fines": ranked.fines}
    if reach is not None:
        row["bounds"] = {
            "imp": [json_imp(reach.least), json_imp(reach.most)],
            "place": [reach.best, reach.worst],
        }
    return row


def _individual(
    plays: Plays, profile: ComparisonRules, previous: Previous, without_standing: tuple[str, ...]
) -> dict[str, Any]:
    ledger = Ledger.of(plays.counted, profile, plays.waiting)
    ledger = ledger.with_adjustments((*previous.adjustments, *plays.beside))
    reach = entry_bounds(ledger, plays.to_come) if plays.to_come else {}
    _known(without_standing, ledger.entries.number)
    ranked = standings.player_standings(ledger, previous=previous.places, without_standing=without_standing)
    rows = [standing_line(one, "player", reach.get(one.name)) for one in ranked]
    return {"travellers": travellers(ledger.groups), "standings": rows}


def _known(without_standing: Iterable[str], names: Container[str]) -> None:
    for name in without_standing:
        if name not in names:
            raise RuleError("unknown_entry", f"--without-standing {name}: nobody of that name plays")


def _teams(
    plays: Plays, profile: ComparisonRules, previous: Previous, teams: Teams, without_standing: tuple[str, ...]
) -> dict[str, Any]:
    _known(without_standing, teams)
    if unknown := sorted({one.name for one in previous.adjustments} - set(teams)):
        raise RuleError("bad_previous", f"there is no team {unknown[0]!r}")
    counted = comparable_deals(plays.done, teams, provisional=bool(plays.to_come))
    ranked = team.standings_of_deals(
        counted.lineups,
        teams,
        profile,
        previous=previous.places,
        adjustments=(*previous.adjustments, *_of_teams(plays.beside, teams)),
        without_standing=without_standing,
    )
    rows = [standing_line(one, "team", None) for one in ranked]
    left_out = {"deals_left_out": list(counted.left_out)} if counted.left_out else {}
    return {"travellers": travellers(compare_plays(plays.done, profile)), "standings": rows, **left_out}


def _of_teams(beside: Iterable[Adjustment], teams: Teams) -> Iterator[Adjustment]:
    """To teams what their players were given and fined of no play; who has no team and got nothing is nobody's."""
    team_of = team_of_players(teams)
    for one in beside:
        if one.name in team_of:
            yield one._replace(name=team_of[one.name])
        elif one.imp or one.fine:
            raise RuleError("player_without_team", N_("{who} is not in a team", who=one.name))


def _members(event: Event, teams: Path | None) -> Teams:
    if event == "team":
        return read_team_file(teams)
    if teams is not None:
        raise RuleError("teams_not_asked", "--teams is of a team event: say --event team too")
    return {}


@click.command(short_help="Compute travellers and standings from all plays.")
@click.option("--profile", default=DEFAULT_MCR, show_default=True, help="Rule profile, by id or as a .toml file.")
@click.option("--event", type=click.Choice(["individual", "team"]), default="individual", show_default=True)
@click.option("--teams", type=ANY, help='Team event: JSON file {"team": ["p01", ...]}.')
@click.option("--previous", type=ANY, help="Output of this command for the previous session.")
@click.option("--carry-over", default="", metavar="2/3", help="Part of it that counts [default: as the profile says].")
@click.option(
    "--without-standing",
    multiple=True,
    metavar="PLAYER",
    help="Compare this player's plays, but do not rank the player; may be repeated.",
)
@json_option("Read one JSON line per play from standard input (required).", given=False)
def score(
    profile: str,
    event: Event,
    teams: Path | None,
    previous: Path | None,
    carry_over: str,
    without_standing: tuple[str, ...],
) -> None:
    """Compute travellers and standings from all plays of an event.

    Input has one line per play. A refused play is answered with its error, and then there are no standings, because
    they would be wrong.

    IMPs are after fines. A play may also have `form` (fouled deals: plays of the same form are compared), `section`
    (its part of the field), `stands_for` (a substitute scores for {"east": "p07"}) and `awards` (IMPs by seat). Instead
    of `points` it may have `unplayed`, by whose fault: {"east": "own", "south": "others", ...}, or "nobody" for all. A
    play with neither has not taken place yet: then the standings show what each player can still reach. Points are not
    checked (`homologue points` does that). A line {"player": "p01", "award": 3, "fine": 4} has IMPs that belong to no
    play. See docs/records.md.

    \b
    {"deal": 1, "table": 3, "players": {"east": "p01", "south": "p02", "west": "p03", "north": "p04"},
     "points": {"east": 42, "south": -8, "west": -8, "north": -26}, "fines": {"south": 4}}
    """
    try:
        rules = load_either_profile(profile)
        before = read_previous(previous, rules, event, carry_over)
        members = _members(event, teams)
        plays = read_plays(input_lines(), rules)
        if plays.refusals:
            for refusal in plays.refusals:
                write_answer(error_answer(refusal))
        elif event == "individual":
            write_answer(_individual(plays, rules, before, without_standing))
        else:
            write_answer(_teams(plays, rules, before, members, without_standing))
    except RuleError as problem:
        write_answer(error_answer(problem))
