"""A movement as a file: CSV that any spreadsheet opens, and the plays of an event's `event.toml`; who plays in it."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import tomli_w

from broker.event.files import DEALS, read_deals
from broker.event.movement.plays import MOST_PLAYERS, MovementPlay, NamedPlay, play_times
from broker.event.plan import BookedPlay, Plan, decode_plan
from broker.i18n import N_
from broker.output import EVENT, replace_text
from broker.output import csv_text as cells_as_csv
from broker.protocol import SEATS, DealNo, PlayerId, RoundNo, Seat, TableNo
from broker.rules import RuleError
from broker.store import STORE, has_started

MOVEMENT_COLUMNS: Final = ("round", "table", "deal", *SEATS)

LARGEST: Final = 5_000_000
"""Bytes of a file."""

MOST_ROWS: Final = 20_000

NUMBER: Final = re.compile(r"[0-9]{1,4}", re.ASCII)

PLAYS_TABLE: Final = re.compile(r"^\s*\[\[\s*plays\s*\]\]")


@dataclass(frozen=True, slots=True)
class MovementProblem:
    """What is wrong on a line of a file."""

    code: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class MovementFile:
    """What a file holds: plays in order, the line of each, and what could not be read."""

    plays: tuple[NamedPlay, ...]
    lines: tuple[int, ...]
    problems: tuple[MovementProblem, ...] = ()
    of_event: bool = False
    """A round is then one play at each table."""

    @property
    def by_stays(self) -> tuple[NamedPlay, ...]:
        """Return the plays by rounds in which everybody stays where they are: what a movement is measured by."""
        return merge_rounds(self.plays) if self.of_event else self.plays


def read_movement(path: Path) -> MovementFile:
    """Read a movement: a CSV file, an `event.toml`, or an event's folder.

    What is wrong on a line is in `problems`; the other lines are read. Raises RuleError `file_unreadable`, `too_large`,
    and of an `event.toml` `malformed`.
    """
    path = path / EVENT if path.is_dir() else path
    content = _content(path)
    if path.suffix == ".toml":
        return _from_plan(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return MovementFile((), (), (MovementProblem("malformed", N_("this is no UTF-8 text"), line),))
    return _from_csv(text)


def read_faultless_movement(path: Path) -> tuple[NamedPlay, ...]:
    """Read a file that has to be right to be worked with. Raises RuleError with the code of its first problem."""
    found = read_movement(path)
    for problem in found.problems:
        raise RuleError(
            problem.code, N_("{file}, line {line}: {problem}", file=path.name, line=problem.line, problem=problem.text)
        )
    return found.plays


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise RuleError("file_unreadable", N_("{where}: {problem}", where=path, problem=error.strerror)) from None
    if len(content) > LARGEST:
        raise RuleError("too_large", f"{path}: more than {LARGEST} bytes")
    return content


def _from_csv(text: str) -> MovementFile:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    plays: list[NamedPlay] = []
    lines: list[int] = []
    problems: list[MovementProblem] = []
    columns: Sequence[str] = ()
    for line, cells in _rows(reader, problems):
        try:
            if not columns:
                columns = _columns(cells)
                continue
            plays.append(_play(columns, cells, len(plays)))
            lines.append(line)
        except RuleError as problem:
            problems.append(MovementProblem(problem.code, problem.text, line))
            if not columns or problem.code == "too_large":
                break
    if not plays and not problems:
        problems.append(MovementProblem("no_plays", N_("there is no play in this file"), 1))
    return MovementFile(tuple(plays), tuple(lines), tuple(problems))


def _delimiter(text: str) -> str:
    """Return what parts the columns: spreadsheets of many countries write semicolons."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t", key=header.count)


def _rows(reader: "Iterator[list[str]]", problems: list[MovementProblem]) -> Iterator[tuple[int, list[str]]]:
    """Return each row that is not blank with the line on which it begins; quoting that ends nowhere ends the file."""
    while True:
        line = reader.line_num + 1  # type: ignore[attr-defined] # csv.reader has it, its stub does not
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(MovementProblem("malformed", str(error), line))
            continue
        if any(cell.strip() for cell in cells):
            yield line, [cell.strip() for cell in cells]


def _columns(cells: Sequence[str]) -> Sequence[str]:
    names = [cell.lower() for cell in cells]
    unknown = [name for name in names if name not in MOVEMENT_COLUMNS]
    if unknown:
        raise RuleError(
            "unknown_column",
            N_(
                "{column} is no column; there are {known}",
                column=repr(unknown[0][:40]),
                known=", ".join(MOVEMENT_COLUMNS),
            ),
        )
    missing = [name for name in MOVEMENT_COLUMNS if name not in names]
    if missing:
        raise RuleError("missing_column", N_("the first line has no column {columns}", columns=", ".join(missing)))
    if len(names) > len(MOVEMENT_COLUMNS):
        raise RuleError("malformed", N_("a column comes twice"))
    return names


def _play(columns: Sequence[str], cells: Sequence[str], before: int) -> NamedPlay:
    if before >= MOST_ROWS:
        raise RuleError("too_large", N_("more than {most} plays", most=MOST_ROWS))
    if len(cells) != len(columns):
        raise RuleError(
            "malformed", N_("{cells} cells where {columns} are needed", cells=len(cells), columns=len(columns))
        )
    row = dict(zip(columns, cells, strict=True))
    players: dict[Seat, int | str] = {seat: read_player_id(row[seat]) for seat in SEATS}
    return NamedPlay(
        _number("round", row["round"], RoundNo),
        _number("table", row["table"], TableNo),
        _number("deal", row["deal"], DealNo),
        players,
    )


def _number(column: str, text: str, kind: object) -> int:
    try:
        return int(msgspec.convert(int(text) if NUMBER.fullmatch(text) else text, kind))
    except msgspec.ValidationError:
        raise RuleError(
            "malformed", N_("{text} is no number of a {column}", text=repr(text[:40]), column=column)
        ) from None


def read_player_id(text: str) -> str:
    """Read a player's id, with or without an apostrophe for spreadsheets. Raises RuleError `malformed`."""
    try:
        return msgspec.convert(text.removeprefix("'"), PlayerId)
    except msgspec.ValidationError:
        raise RuleError(
            "malformed", N_("{text} is no player's id (1 to 32 letters, digits, - and _)", text=repr(text[:40]))
        ) from None


def _from_plan(content: bytes) -> MovementFile:
    plan = _plan(content)
    listed = [at for at, line in enumerate(content.decode().splitlines(), 1) if PLAYS_TABLE.match(line)]
    lines = listed if len(listed) == len(plan.plays) else [1] * len(plan.plays)
    plays = tuple(NamedPlay(play.round, play.table, play.deal, dict(play.players)) for play in plan.plays)
    problems = () if plays else (MovementProblem("no_plays", N_("there is no play in this file"), 1),)
    return MovementFile(plays, tuple(lines), problems, of_event=True)


def merge_rounds(plays: Sequence[NamedPlay]) -> tuple[NamedPlay, ...]:
    """Return an event's plays by rounds in which everybody stays where they are.

    A scorer's round is one play at each table (`write_event`), so those that follow each other with the same people in
    the same seats are one round of several deals.
    """
    seated: dict[int, dict[int, dict[Seat, int | str]]] = {}
    for play in plays:
        seated.setdefault(play.round, {})[play.table] = dict(play.players)
    number: dict[int, int] = {}
    before: object = None
    for round_ in sorted(seated):
        number[round_] = max(number.values(), default=0) + (seated[round_] != before)
        before = seated[round_]
    return tuple(replace(play, round=number[play.round]) for play in sorted(plays, key=lambda play: play.round))


def _plan(content: bytes) -> Plan:
    try:
        return decode_plan(content)
    except (ValueError, RecursionError) as error:  # ValueError: also of msgspec and of Unicode
        raise RuleError("malformed", N_("{where}: {problem}", where=EVENT, problem=str(error))) from None


def movement_csv(plays: Iterable[MovementPlay]) -> str:
    """Write CSV (RFC 4180).

    An id that a spreadsheet would take for a formula gets an apostrophe before it, which `read_movement` removes.
    """
    return cells_as_csv(
        MOVEMENT_COLUMNS, ((p.round, p.table, p.deal, *(str(p.players[seat]) for seat in SEATS)) for p in plays)
    )


def event_players(folder: Path) -> list[str]:
    """Return the ids of an event's players. Raises RuleError `file_unreadable`, `malformed`."""
    return [player.id for player in _plan(_content(folder / EVENT)).players]


def event_teams(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return an event's teams; none where it has none. Raises as `event_players`."""
    return _plan(_content(folder / EVENT)).teams


def write_movement_to_event(folder: Path, plays: Sequence[MovementPlay], *, force: bool) -> int:
    """Put a movement into an event's folder; return the number of plays.

    A scorer's round is one play at each table, so that a round of several deals becomes as many rounds. Raises
    RuleError as `read_movement`; `event_started` once a scorer was started, `plays_exist` where there is a movement and
    no `force`, `deal_unknown` where the folder has deals and not all of these, `unwritable`.
    """
    plan = replaceable_plan(folder, force=force)
    found = scheduled_plays(plays)
    _refuse_missing_deals(folder, {play.deal for play in found})
    # That nobody is compared was meant of the movement before, if there was one: of another it has to be said again.
    new = msgspec.structs.replace(plan, plays=found, uncompared=plan.uncompared and not plan.plays)
    replace_text(folder / EVENT, tomli_w.dumps(msgspec.to_builtins(new)))
    return len(found)


def replaceable_plan(folder: Path, *, force: bool) -> Plan:
    """Return the plan that a movement may be put into; said before a search too. Raises RuleError as `write_event`."""
    plan = _plan(_content(folder / EVENT))
    if has_started(folder):
        raise RuleError(
            "event_started",
            f"a scorer has been started here ({STORE}): what it stores belongs to the movement that is there",
        )
    if plan.plays and not force:
        raise RuleError(
            "plays_exist",
            N_("{file} has {count} plays; --force puts others in their place", file=EVENT, count=len(plan.plays)),
        )
    return plan


def _refuse_missing_deals(folder: Path, wanted: set[int]) -> None:
    if not (folder / DEALS).exists():
        return
    missing = sorted(wanted - {deal.number for deal in read_deals(folder)})
    if missing:
        raise RuleError(
            "deal_unknown",
            N_("{file} has not all deals of this movement: {deals}", file=DEALS, deals=", ".join(map(str, missing))),
        )


def scheduled_plays(plays: Sequence[MovementPlay]) -> tuple[BookedPlay, ...]:
    """Return a movement as a plan has it: a round of several deals becomes as many rounds."""
    when = play_times(plays)
    number = {moment: at for at, moment in enumerate(sorted(set(when)), 1)}
    made = (
        BookedPlay(number[at], p.table, p.deal, {s: str(who) for s, who in p.players.items()})
        for at, p in zip(when, plays, strict=True)
    )
    return tuple(sorted(made, key=lambda play: (play.round, play.table)))


TEAM: Final = 4

Teams = Mapping[str, Sequence[str]]


def player_names(players: int | None, teams: Teams | None, event: Path | None) -> list[str]:
    """Return the players' ids in the order of their numbers, team by team.

    Raises RuleError `players_differ` or `impossible_size`.
    """
    listed = team_by_team(teams or {})
    if event and not listed:
        listed = event_players(event)
    if listed and players not in (None, len(listed)):
        raise RuleError("players_differ", f"--players says {players}, and {len(listed)} are named")
    if listed:
        return listed
    if players is None:
        raise RuleError("players_differ", "how many players? --players, --teams or --event says so")
    if not TEAM <= players <= MOST_PLAYERS:
        raise RuleError(
            "impossible_size",
            N_("{players} players; there can be {least} to {most}", players=players, least=TEAM, most=MOST_PLAYERS),
        )
    width = max(2, len(str(players)))
    return [f"p{number:0{width}}" for number in range(1, players + 1)]


def read_teams_file(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of teams of four. Raises RuleError `bad_teams`, `teams_do_not_fit`, `player_in_two_teams`."""
    try:
        teams = msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[PlayerId, ...]])
    except (OSError, ValueError, RecursionError) as error:
        raise RuleError("bad_teams", N_("{where}: {problem}", where=path.name, problem=str(error))) from None
    seen: set[str] = set()
    for members in check_teams_of_four(teams).values():
        for member in members:
            if member in seen:
                raise RuleError("player_in_two_teams", N_("{who} is listed more than once", who=member))
            seen.add(member)
    return teams


def check_teams_of_four(teams: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return teams for which a movement can be made: of four. Raises RuleError `teams_do_not_fit`."""
    for team, members in teams.items():
        if len(members) != TEAM:
            raise RuleError(
                "teams_do_not_fit",
                N_(
                    "{team} has {count} players; a movement is made for {wanted}",
                    team=team,
                    count=len(members),
                    wanted=TEAM,
                ),
            )
    return teams


def team_by_team(teams: Teams) -> list[str]:
    """Return all players, those of a team one after the other."""
    return [member for members in teams.values() for member in members]
