"""`homologue score`: all plays of an event in, travellers and standings out."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import msgspec
from msgspec import Meta, Struct, field

from broker.calculators.stream import error_of, lines, read_line, write
from broker.contract.words import SEATS, DealNo, Hash, PlayerId, Points, Seat, TableNo
from broker.rules.errors import RuleError
from broker.rules.profile import DEFAULT, Profile, load
from broker.scoring import individual, team
from broker.scoring.compare import Group, groups
from broker.scoring.plays import ScoredPlay

Fine = Annotated[int, Meta(ge=0, le=9999, description="IMP; a play may say that there was none")]


class Question(Struct, forbid_unknown_fields=True):
    """One play."""

    deal: DealNo
    table: TableNo
    players: dict[Seat, PlayerId]
    points: dict[Seat, Points]
    fines: dict[Seat, Fine] = field(default_factory=dict)
    form: Hash | None = None


def read_plays(questions: Iterable[str]) -> list[ScoredPlay]:
    """Read all plays. Raises RuleError, the number of the line in its text: a bad play is never left out silently."""
    plays: list[ScoredPlay] = []
    seen: set[tuple[int, object]] = set()
    for number, line in enumerate(questions, 1):
        try:
            question = read_line(line, Question)
            _check(question, seen)
        except RuleError as problem:
            raise RuleError(problem.code, f"play {number}: {problem.text}") from None
        plays.append(ScoredPlay(**msgspec.structs.asdict(question)))
    return plays


def _check(question: Question, seen: set[tuple[int, object]]) -> None:
    if set(question.players) != set(SEATS) or set(question.points) != set(SEATS):
        raise RuleError("malformed", "players and points are needed for all four seats")
    if (question.deal, question.table) in seen:
        raise RuleError("duplicate_play", f"table {question.table} has played deal {question.deal} before")
    seen.add((question.deal, question.table))
    for player in question.players.values():
        if (question.deal, player) in seen:
            raise RuleError("player_twice", f"{player} has played deal {question.deal} before")
        seen.add((question.deal, player))


def travellers(compared: Iterable[Group]) -> list[dict[str, Any]]:
    """Write groups as the contract has them: exact fractions, plays by table."""
    by_deal: dict[int, list[dict[str, Any]]] = {}
    for group in compared:
        plays = [{"table": c.play.table, "points": dict(c.play.points), "imp": dict(c.imp)} for c in group.plays]
        row = {"datum": {seat: str(value) for seat, value in group.datum.items()}, "plays": plays}
        by_deal.setdefault(group.deal, []).append(row)
    return [{"deal": deal, "groups": rows} for deal, rows in sorted(by_deal.items())]


def _score(plays: list[ScoredPlay], teams: team.Teams | None, profile: Profile) -> dict[str, Any]:
    compared = groups(plays, profile)
    ranked = individual.standings(compared) if teams is None else team.standings(plays, teams, profile)
    who = "player" if teams is None else "team"
    rows = [{"place": r.place, who: r.name, "imp": r.total.imp, "fines": r.total.fines} for r in ranked]
    return {"travellers": travellers(compared), "standings": rows}


def _read_teams(path: Path) -> team.Teams:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[PlayerId, ...]])
    except (OSError, msgspec.DecodeError) as error:
        raise RuleError("bad_teams", f"{path.name}: {error}") from None


@click.command(short_help="Travellers and standings from all plays.")
@click.option("--profile", "profile_id", default=DEFAULT, show_default=True, help="Rule profile.")
@click.option("--event", type=click.Choice(["individual", "team"]), default="individual", show_default=True)
@click.option("--teams", type=click.Path(path_type=Path), help='Team events: a JSON file {"team": ["p01", ...]}.')
@click.option("--json", "as_json", is_flag=True, help="One JSON line a play on standard input (the only form).")
def score(profile_id: str, event: Literal["individual", "team"], teams: Path | None, as_json: bool) -> None:  # noqa: ARG001, FBT001 - the flag names the contract; there is no other form yet
    """Travellers and standings from all plays of an event.

    A line a play; IMPs are given after fines. Of fines only those that there are; `form` only where a deal was fouled.

    \b
    {"deal": 1, "table": 3, "players": {"east": "p01", "south": "p02", "west": "p03", "north": "p04"},
     "points": {"east": 42, "south": -8, "west": -8, "north": -26}, "fines": {"south": 4}}
    """  # noqa: D301 - click reads the \b
    try:
        if event == "team" and teams is None:
            raise RuleError("teams_missing", "a team event needs --teams FILE")
        members = _read_teams(teams) if teams and event == "team" else None
        write(_score(read_plays(lines()), members, load(profile_id)))
    except RuleError as problem:
        write(error_of(problem))
