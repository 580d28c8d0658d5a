"""Movement files: reading a movement from CSV or an event, saving it in an event, and naming its players."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from broker.errors import BadEvent, RuleError, reason
from broker.event.files import DEALS, read_deals
from broker.event.movement.plays import MOST_PLAYERS, SEATED, MovementPlay, NamedPlay, play_times
from broker.event.movement.plays_csv import MovementProblem, decode_movement
from broker.event.movement.quality import usual_copies
from broker.event.plan import BookedPlay, Plan, read_plan, write_plan
from broker.files import EVENT, MOVEMENT
from broker.i18n import N_
from broker.protocol import PlayerId, Seat
from broker.read_ahead import STORE, has_started

LARGEST: Final = 5_000_000
"""Largest file that is read, in bytes."""

MOST_ROWS: Final = 20_000

PLAYS_TABLE: Final = re.compile(r"^\s*\[\[\s*plays\s*\]\]")


@dataclass(frozen=True, slots=True)
class MovementFile:
    """The content of a movement file: plays in order, the line of each, and the lines that could not be read."""

    plays: tuple[NamedPlay, ...]
    lines: tuple[int, ...]
    problems: tuple[MovementProblem, ...] = ()
    of_event: bool = False
    """Whether the plays are an event's, in which a round is one play at each table."""

    @property
    def by_stays(self) -> tuple[NamedPlay, ...]:
        """The plays with rounds in which everybody stays seated, as `measure_movement` needs them."""
        return merge_rounds(self.plays) if self.of_event else self.plays


def read_movement(path: Path) -> MovementFile:
    """Read a movement: a CSV file, an event's folder, or an `event.toml`.

    Faulty lines are reported in `problems`, and the other lines are read. Raises RuleError `file_unreadable`,
    `too_large`, and for an `event.toml` `malformed`.
    """
    folder = path if path.is_dir() else path.parent
    if path.is_dir() or path.name == EVENT:
        path = folder / (MOVEMENT if (folder / MOVEMENT).exists() else EVENT)
    content = _content(path)
    if path.suffix == ".toml":
        return _from_plan(content)
    of_event = path.name == MOVEMENT and (folder / EVENT).exists()
    plays, lines, problems = decode_movement(content, NamedPlay, None if of_event else MOST_ROWS)
    return MovementFile(tuple(plays), tuple(lines), tuple(problems), of_event)


def read_faultless_movement(path: Path) -> tuple[NamedPlay, ...]:
    """Read a movement that must have no faulty lines. Raises RuleError with the code of its first problem."""
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


def _from_plan(content: bytes) -> MovementFile:
    try:
        plan = msgspec.toml.decode(content, type=Plan)
    except (ValueError, RecursionError) as error:  # ValueError covers msgspec and Unicode errors
        raise RuleError("malformed", N_("{where}: {problem}", where=EVENT, problem=reason(error))) from None
    listed = [at for at, line in enumerate(content.decode().splitlines(), 1) if PLAYS_TABLE.match(line)]
    lines = listed if len(listed) == len(plan.plays) else [1] * len(plan.plays)
    plays = tuple(NamedPlay(play.round, play.table, play.deal, dict(play.players)) for play in plan.plays)
    problems = () if plays else (MovementProblem("no_plays", N_("this file contains no plays"), 1),)
    return MovementFile(plays, tuple(lines), problems, of_event=True)


def merge_rounds(plays: Sequence[NamedPlay]) -> tuple[NamedPlay, ...]:
    """Merge an event's rounds in which everybody stays seated.

    In an event a round is one play at each table (`write_movement_to_event`), so consecutive rounds with the same
    people in the same seats become one round of several deals.
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


def event_plan(folder: Path) -> Plan:
    """Return an event's plan. Raises RuleError `file_unreadable`, `too_large`, `malformed`."""
    _content(folder / EVENT)
    try:
        return read_plan(folder)
    except BadEvent as error:
        raise RuleError("malformed", error.found[0].text) from None


def write_movement_to_event(folder: Path, plays: Sequence[MovementPlay], *, force: bool) -> int:
    """Save a movement in an event's folder; return the number of plays.

    In an event a round is one play at each table, so a round of several deals becomes as many rounds. Raises RuleError
    as `event_plan`; `event_started` once a scorer has been started, `plays_exist` if there is a movement and no
    `force`, `deal_unknown` if the folder has deals but not all that are needed, `unwritable`.
    """
    plan = replaceable_plan(folder, force=force)
    found = scheduled_plays(plays)
    refuse_missing_deals(folder, {play.deal for play in found})
    # `uncompared` was set for the previous movement, if there was one; for another it has to be confirmed again.
    uncompared, copies = plan.uncompared and not plan.plays, usual_copies(plays)
    new = msgspec.structs.replace(
        plan, plays=found, uncompared=uncompared, copies=max(copies, plan.copies if plan.stages else 1)
    )
    try:
        write_plan(folder, new)
    except OSError as error:
        raise RuleError("unwritable", N_("{where}: {problem}", where=folder, problem=error.strerror)) from None
    return len(found)


def replaceable_plan(folder: Path, *, force: bool) -> Plan:
    """Return the plan if its movement may be replaced. Callers check this before a search, too.

    Raises RuleError as `write_movement_to_event`.
    """
    plan = event_plan(folder)
    if has_started(folder):
        raise RuleError(
            "event_started",
            f"a scorer has been started here ({STORE}): its results belong to the present movement",
        )
    if plan.plays and not force:
        raise RuleError(
            "plays_exist",
            N_("plays in {file}: {count}; use --force to replace them", file=MOVEMENT, count=len(plan.plays)),
        )
    return plan


def refuse_missing_deals(folder: Path, wanted: set[int]) -> None:
    """Raise RuleError `deal_unknown` if the folder has deals, but not all those wanted."""
    if not (folder / DEALS).exists():
        return
    missing = sorted(wanted - {deal.number for deal in read_deals(folder)})
    if missing:
        text = N_(
            "{file} does not have every deal of this movement; missing: {deals}",
            file=DEALS,
            deals=", ".join(map(str, missing)),
        )
        raise RuleError("deal_unknown", text)


def scheduled_plays(plays: Sequence[MovementPlay]) -> tuple[BookedPlay, ...]:
    """Return a movement as plays of an event: a round of several deals becomes as many rounds."""
    when = play_times(plays)
    number = {moment: at for at, moment in enumerate(sorted(set(when)), 1)}
    made = (
        BookedPlay(number[at], p.table, p.deal, {s: str(player) for s, player in p.players.items()})
        for at, p in zip(when, plays, strict=True)
    )
    return tuple(sorted(made, key=lambda play: (play.round, play.table)))


Teams = Mapping[str, Sequence[str]]


def player_names(players: int | None, teams: Teams | None, event: Path | None) -> list[str]:
    """Return the players' ids in the order of their numbers, team by team; without any list they are p01, p02, ...

    Raises RuleError `players_differ` or `impossible_size`.
    """
    listed = [member for members in (teams or {}).values() for member in members]
    if event and not listed:
        listed = [player.id for player in event_plan(event).players]
    if listed and players not in (None, len(listed)):
        raise RuleError("players_differ", f"--players is {players}, but {len(listed)} players are listed")
    if listed:
        return listed
    if players is None:
        raise RuleError("players_differ", "the number of players is missing: use --players, --teams or --event")
    if not SEATED <= players <= MOST_PLAYERS:
        text = N_(
            "number of players: {players}; there can be {least} to {most}",
            players=players,
            least=SEATED,
            most=MOST_PLAYERS,
        )
        raise RuleError("impossible_size", text)
    width = max(2, len(str(players)))
    return [f"p{number:0{width}}" for number in range(1, players + 1)]


def read_teams_file(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of teams of four. Raises RuleError `bad_teams`, `teams_do_not_fit`, `player_in_two_teams`."""
    try:
        teams = msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[PlayerId, ...]])
    except (OSError, ValueError, RecursionError) as error:
        raise bad_teams(path, error) from None
    seen: set[str] = set()
    for members in check_teams_of_four(teams).values():
        for member in members:
            if member in seen:
                raise RuleError("player_in_two_teams", N_("{who} is listed more than once", who=member))
            seen.add(member)
    return teams


def bad_teams(path: Path, error: BaseException) -> RuleError:
    """Return the error for an unreadable file of teams, with an example of the format."""
    example = '{"Reds": ["p01", "p02", "p03", "p04"]}'
    problem = N_("{problem}; teams are written as in {example}", problem=reason(error), example=example)
    return RuleError("bad_teams", N_("{where}: {problem}", where=path.name, problem=problem))


def check_teams_of_four(teams: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the teams if each has four members, as a movement needs. Raises RuleError `teams_do_not_fit`."""
    for team, members in teams.items():
        if len(members) != SEATED:
            text = N_(
                "players in {team}: {count}; a movement is made for {wanted}",
                team=team,
                count=len(members),
                wanted=SEATED,
            )
            raise RuleError("teams_do_not_fit", text)
    return teams
