"""`homologue score`: computes travellers and standings from all plays of an event."""

import codecs
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import click
import msgspec
from msgspec import Meta, Struct, field

from broker.cli.rules_input import error_answer, input_lines, load_either_profile, read_line, write_answer
from broker.console import ANY, json_option
from broker.errors import RuleError
from broker.event import Brought, Carried, Entrant, Place, brought, read_standings
from broker.event.movement.files import bad_teams
from broker.i18n import N_
from broker.protocol import SEATS, DealNo, Fault, Points, Refused, Seat, TableNo, refuse_duplicate_names
from broker.rules import DEFAULT_MCR, ComparisonRules
from broker.scoring import (
    APART,
    Adjustment,
    Bounds,
    ComparisonGroup,
    Ledger,
    PlayWithImps,
    Ranked,
    ScoredPlay,
    Teams,
    awards_for_unplayed,
    comparable_deals,
    compare_plays,
    entry_bounds,
    json_imp,
    real_table,
    standings,
    team,
    team_of_players,
)

Event = Literal["individual", "team"]
Fine = Annotated[int, Meta(ge=0, le=9999, description="IMP; a play may say that there was none")]
Award = Annotated[int, Meta(ge=-9999, le=9999)]
Label = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)", description="a hash, or the arbiter's word")]


class PlayQuestion(Struct, forbid_unknown_fields=True):
    """One play. Without `points` and `unplayed` it has not taken place yet."""

    deal: DealNo
    table: TableNo
    players: dict[Seat, Entrant]
    points: dict[Seat, Points] | None = None
    fines: dict[Seat, Fine] = field(default_factory=dict)
    form: Label | None = None
    section: Label | None = None
    awards: dict[Seat, Award] = field(default_factory=dict)
    unplayed: dict[Seat, Fault] | Fault | None = None
    stands_for: dict[Seat, Entrant] = field(default_factory=dict)
    out_of_place: bool = False
    """Whether the deal, players or seats were not as planned, so that players may have played the deal before."""


class EntryLine(Struct, forbid_unknown_fields=True):
    """What counts for a player or team outside plays. With nothing else, it has them ranked even without a play."""

    player: Entrant | None = None
    team: Entrant | None = None
    award: Award = 0
    fine: Fine = 0
    carried: Carried = 0
    """IMPs from an earlier event."""
    place_before: Place | None = None
    """Place in the standings of an earlier event, which may break ties."""
    without_standing: bool = False


class Plays(NamedTuple):
    """All plays of an event: those with a result or a ruling, those still to come, and the errors of refused lines."""

    done: tuple[ScoredPlay, ...]
    to_come: tuple[ScoredPlay, ...]
    """Plays without points. They may already have fines and awards."""
    refusals: tuple[RuleError, ...]
    entry_lines: tuple[EntryLine, ...] = ()

    @property
    def adjustments(self) -> tuple[Adjustment, ...]:
        """An adjustment for each line of a player; it is zero if the line has neither award nor fine."""
        return tuple(Adjustment(one.player, one.award, one.fine) for one in self.entry_lines if one.player)

    def brought(self, event: Event) -> Brought:
        """Return what players, or teams, bring from an earlier event."""
        listed = self._entries(event)
        carried = tuple(
            Adjustment(name, Fraction(one.carried) if isinstance(one.carried, str) else one.carried)
            for name, one in listed
            if one.carried
        )
        return Brought(carried, {name: one.place_before for name, one in listed if one.place_before})

    def without_standing(self, event: Event) -> tuple[str, ...]:
        """Return the players, or teams, who are not ranked."""
        return tuple(name for name, one in self._entries(event) if one.without_standing)

    def _entries(self, event: Event) -> list[tuple[str, EntryLine]]:
        named = ((one.player if event == "individual" else one.team, one) for one in self.entry_lines)
        return [(name, one) for name, one in named if name]

    @property
    def players(self) -> frozenset[str]:
        """Everybody who has a play, done or to come, or a line of their own."""
        played = (name for play in (*self.done, *self.to_come) for name in play.entries)
        return frozenset(chain(played, (one.player for one in self.entry_lines if one.player)))

    @property
    def counted(self) -> tuple[ScoredPlay, ...]:
        """Plays of which something counts already: a result, a ruling, a fine or an award."""
        return (*self.done, *(play for play in self.to_come if play.fines or play.awards))

    @property
    def waiting(self) -> tuple[str, ...]:
        """Players of plays to come, once for each play: they are ranked before their first play."""
        return tuple(name for play in self.to_come for name in play.entries)


def read_plays(questions: Iterable[tuple[int, str]], profile: ComparisonRules) -> Plays:
    """Read all plays. The text of each error names its line."""
    done: list[ScoredPlay] = []
    to_come: list[ScoredPlay] = []
    refusals: list[RuleError] = []
    entry_lines: list[EntryLine] = []
    seen: set[tuple[object, ...]] = set()
    out_of_place: Counter[tuple[object, ...]] = Counter()
    for number, line in questions:
        try:
            if _is_entry_line(line):
                entry_lines.append(_checked_entry(read_line(line, EntryLine), profile))
                continue
            question = read_line(line, PlayQuestion)
            _check(question, set() if question.out_of_place else seen)
            play = _play(_numbered(question, out_of_place), profile)
        except RuleError as problem:
            refusals.append(RuleError(problem.code, N_("line {line}: {problem}", line=number, problem=problem.text)))
        else:
            (to_come if question.points is None and question.unplayed is None else done).append(play)
    return Plays(tuple(done), tuple(to_come), tuple(refusals), tuple(entry_lines))


def _is_entry_line(line: str) -> bool:
    """Return whether a line is about a player or a team. A line that cannot be read is refused as a play."""
    try:
        names = msgspec.json.decode(line, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return "player" in names or "team" in names


def _checked_entry(line: EntryLine, profile: ComparisonRules) -> EntryLine:
    if (line.player is None) == (line.team is None) or (line.team and (line.award or line.fine)):
        raise RuleError("malformed", "such a line names a player or a team; only a player has an award or a fine")
    if isinstance(line.carried, str) and profile.imp.method.value != "cross":
        raise RuleError("malformed", "under this profile IMPs are whole numbers, including those carried over")
    return line


def _numbered(question: PlayQuestion, out_of_place: Counter[tuple[object, ...]]) -> PlayQuestion:
    """Give a play out of place a table number of its own: its table may also have played the deal as planned."""
    if not question.out_of_place:
        return question
    key = question.deal, question.section, question.table
    out_of_place[key] += 1
    return msgspec.structs.replace(question, table=question.table + APART * out_of_place[key])


def _play(question: PlayQuestion, profile: ComparisonRules) -> ScoredPlay:
    """Return a play. An arbiter's award to a seat replaces what the profile gives for the fault."""
    faults = dict.fromkeys(SEATS, question.unplayed) if isinstance(question.unplayed, str) else question.unplayed
    awards = awards_for_unplayed(faults, profile.awards) if faults is not None else {}
    return ScoredPlay(
        deal=question.deal,
        table=question.table,
        players=question.players,
        points=question.points,
        fines=question.fines,
        form=question.form,
        section=question.section,
        awards={**awards, **question.awards},
        stands_for=question.stands_for,
    )


def _check(question: PlayQuestion, seen: set[tuple[object, ...]]) -> None:
    if set(question.players) != set(SEATS) or set(question.points or SEATS) != set(SEATS):
        raise RuleError("malformed", "players and points are needed for all four seats")
    if question.points is not None and question.unplayed is not None:
        raise RuleError("played_and_unplayed", "a play has points or is unplayed, not both")
    play = question.deal, question.section, question.table
    if play in seen:
        raise RuleError("duplicate_play", f"table {question.table} has played deal {question.deal} before")
    seen.add(play)
    for player in (*question.players.values(), *question.stands_for.values()):
        if (question.deal, player) in seen:
            raise RuleError("player_twice", f"{player} has played deal {question.deal} before")
        seen.add((question.deal, player))


LARGEST: Final = 50_000_000
"""Maximum size of a file, in bytes."""


def read_previous(path: Path | None, profile: ComparisonRules, event: Event, part: str = "") -> Brought:
    """Read what counts of the previous session; `part`: such as 2/3. Raises RuleError `bad_previous`, `part_wrong`."""
    if path is None:
        return Brought()
    lines = read_standings(path)
    try:
        ranked = [line.ranked(event) for line in lines]
    except ValueError as error:
        raise RuleError("bad_previous", N_("{where}: {problem}", where=path.name, problem=str(error))) from None
    return brought(ranked, profile, part)


def read_teams(path: Path | None, event: Event) -> Teams:
    """Read the teams of a team event. Raises RuleError `teams_missing`, `teams_not_asked`, `bad_teams`."""
    if event == "individual":
        if path is not None:
            raise RuleError("teams_not_asked", "--teams is for team events: add --event team")
        return {}
    if path is None:
        raise RuleError("teams_missing", "a team event needs --teams FILE")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1).removeprefix(codecs.BOM_UTF8)
        if len(content) > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes")
        teams = msgspec.json.decode(content, type=dict[Entrant, tuple[Entrant, ...]])
        refuse_duplicate_names(content)
    except (OSError, Refused, RecursionError, ValueError) as error:
        raise bad_teams(path, error) from None
    return teams


def travellers(compared: Iterable[ComparisonGroup]) -> list[dict[str, Any]]:
    """Return groups as in the `--json` contract: exact fractions, and each play's own datum if plays have one."""
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
    """Return one line of the standings; while plays are missing, it includes what can still be reached."""
    row: dict[str, Any] = {"place": ranked.place, who: ranked.name, "imp": json_imp(ranked.imp), "fines": ranked.fines}
    if reach is not None:
        row["bounds"] = {"imp": [json_imp(reach.least), json_imp(reach.most)], "place": [reach.best, reach.worst]}
    return row


def _individual(
    plays: Plays, profile: ComparisonRules, previous: Brought, without_standing: tuple[str, ...]
) -> dict[str, Any]:
    previous, left_out = _carried_into(previous, plays.players)
    ledger = Ledger.of(plays.counted, profile, plays.waiting)
    ledger = ledger.with_adjustments((*previous.adjustments, *plays.adjustments))
    reach = entry_bounds(ledger, plays.to_come) if plays.to_come else {}
    _refuse_unknown(without_standing, ledger.entries.number)
    ranked = standings.player_standings(ledger, previous=previous.places, without_standing=without_standing)
    rows = [standing_line(one, "player", reach.get(one.name)) for one in ranked]
    return {"travellers": travellers(ledger.groups), "standings": rows, **left_out}


def _carried_into(previous: Brought, here: Container[str]) -> tuple[Brought, dict[str, list[str]]]:
    """Return what counts for those in this event, and for the answer the names of the others."""
    left_out = [one.name for one in previous.adjustments if one.name not in here]
    carried = tuple(one for one in previous.adjustments if one.name in here)
    return Brought(carried, previous.places), {"previous_left_out": left_out} if left_out else {}


def _refuse_unknown(without_standing: Iterable[str], names: Container[str]) -> None:
    for name in without_standing:
        if name not in names:
            raise RuleError("unknown_entry", f"--without-standing {name}: nobody with this name plays")


def _teams(
    plays: Plays, profile: ComparisonRules, previous: Brought, teams: Teams, without_standing: tuple[str, ...]
) -> dict[str, Any]:
    _refuse_unknown(without_standing, teams)
    previous, absent = _carried_into(previous, teams)
    counted = comparable_deals(plays.done, teams, provisional=bool(plays.to_come))
    ranked = team.standings_of_deals(
        counted.lineups,
        teams,
        profile,
        previous=previous.places,
        adjustments=(*previous.adjustments, *_of_teams(plays.adjustments, teams)),
        without_standing=without_standing,
    )
    rows = [standing_line(one, "team", None) for one in ranked]
    left_out = {"deals_left_out": list(counted.left_out)} if counted.left_out else {}
    return {"travellers": travellers(compare_plays(plays.done, profile)), "standings": rows, **left_out, **absent}


def _of_teams(adjustments: Iterable[Adjustment], teams: Teams) -> Iterator[Adjustment]:
    """Return players' adjustments as their teams'. Raises RuleError if one that is not zero has no team."""
    team_of = team_of_players(teams)
    for one in adjustments:
        if one.name in team_of:
            yield one._replace(name=team_of[one.name])
        elif one.imp or one.fine:
            raise RuleError("player_without_team", N_("{who} is not in a team", who=one.name))


@click.command(short_help="Compute travellers and standings from all plays.")
@click.option("--profile", default=DEFAULT_MCR, show_default=True, help="Rule profile, by id or as a .toml file.")
@click.option(
    "--event", type=click.Choice(["individual", "team"]), default="individual", show_default=True, help="Whom to rank."
)
@click.option("--teams", type=ANY, help='Team event: JSON file {"team": ["p01", ...]}.')
@click.option(
    "--previous",
    type=ANY,
    help="Standings of the previous session: this command's output, or CSV. They count for those who play here.",
)
@click.option("--carry-over", default="", metavar="2/3", help="Part of the IMPs that counts [default: the profile's].")
@click.option(
    "--without-standing",
    multiple=True,
    metavar="PLAYER",
    help="Compare this player's plays, but do not rank the player; may be repeated.",
)
@json_option("Read one JSON line per play from standard input (required).", expose_value=False)
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
    they would be wrong. IMPs are after fines. Points are not checked (`homologue points` does that).

    A play may also have `form` (fouled deals: plays of the same form are compared), `section` (its part of the field),
    `stands_for` (a substitute scores for {"east": "p07"}) and `awards` (IMPs by seat). Instead of `points` it may have
    `unplayed`, by whose fault: {"east": "own", "south": "others", ...}, or "nobody" for all. A play with neither has
    not taken place yet: then the standings show what each player can still reach.

    A line {"player": "p01", "award": 3, "fine": 4} has IMPs that belong to no play. A line of a player, or of
    {"team": "Reds"}, may also have `without_standing` and, instead of --previous, `carried` and `place_before` from an
    earlier event. `homologue export plays` writes such lines. From --previous, only those with a play or a line here,
    or in --teams, count; `previous_left_out` names the others. See docs/records.md.

    \b
    {"deal": 1, "table": 3, "players": {"east": "p01", "south": "p02", "west": "p03", "north": "p04"},
     "points": {"east": 42, "south": -8, "west": -8, "north": -26}, "fines": {"south": 4}}
    """
    try:
        rules = load_either_profile(profile)
        before = read_previous(previous, rules, event, carry_over)
        members = read_teams(teams, event)
        plays = read_plays(input_lines(), rules)
        if (stated := plays.brought(event)) != Brought():
            if previous:
                raise RuleError("bad_previous", N_("the plays state what is carried over: leave --previous out"))
            before = stated
        unranked = (*without_standing, *plays.without_standing(event))
        if plays.refusals:
            for refusal in plays.refusals:
                write_answer(error_answer(refusal))
        elif event == "individual":
            write_answer(_individual(plays, rules, before, unranked))
        else:
            write_answer(_teams(plays, rules, before, members, unranked))
    except RuleError as problem:
        write_answer(error_answer(problem))
