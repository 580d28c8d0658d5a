"""Players from a CSV list: their teams, and what is kept beside the plan: country, club, national and EMA numbers."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from broker.contract.plans import Player
from broker.contract.rulings import PlayerCorrected
from broker.contract.words import COUNTRY, LONGEST_LINE
from broker.organiser.deals.files import every, refuse
from broker.organiser.deals.table import Row, read_table
from broker.rules.errors import RuleError
from broker.rules.movement.check import SEATED
from broker.scorer.cells import as_csv
from broker.scorer.event import LARGEST_TEAM, Event, Plan
from broker.scorer.origins import PLAYERS

FURTHER: Final = ("country", "club", "national", "ema")
PARTS: Final = ("first_name", "last_name")
TEAM: Final = "team"
COLUMNS: Final = ("id", "name", *FURTHER, *PARTS, TEAM)
MOST: Final = 4000


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the list; None: not said."""

    player: Player
    further: tuple[str, ...]
    """In the order of FURTHER."""
    team: str = ""
    first_name: str = ""
    """As federations list it; which part of a whole name is the family's is not guessed."""
    last_name: str = ""

    @property
    def country(self) -> str:
        """The code of a country; empty: not said."""
        return self.further[FURTHER.index("country")]


def read_kept(folder: Path, plan: Plan | None) -> Sequence[Listed]:
    """Give the players with what is kept beside the plan; where that cannot be read, as the plan has them."""
    try:
        return read_players(folder / PLAYERS)
    except (RuleError, ExceptionGroup, OSError):
        return [Listed(player, ("",) * len(FURTHER)) for player in plan.players] if plan else ()


def read_players(path: Path) -> tuple[Listed, ...]:
    """Read a list; ids are made where it has none. Nothing is taken unless all of it is right.

    Raises an ExceptionGroup of RuleErrors that name the line: `player_id_wrong`, `player_name_wrong`,
    `player_detail_wrong`, `country_wrong`, `player_listed_twice`, `line_incomplete`, `teams_do_not_fit`; RuleError as
    `read_table`, `no_players`, `too_large`; OSError.
    """
    rows, fields = read_table(path, (), COLUMNS)
    if rows and not {"name", *PARTS} & rows[0].cells.keys():
        raise RuleError("heading_wrong", f"{path.name}, line 1: there is no column name")
    if not rows:
        raise RuleError("no_players", f"{path.name} has a heading and no players")
    if len(rows) > MOST:
        raise RuleError("too_large", f"{path.name} has more than {MOST} players")
    width = max(2, len(str(len(rows))))

    def take(numbered: tuple[int, Row]) -> tuple[int, Listed]:
        number, row = numbered
        row.whole(fields)
        return row.line, _listed(row, f"p{number:0{width}}")

    found = every(take, enumerate(rows, 1))
    refuse((*_twice(found), *_in_no_team(found)))
    return tuple(one for _, one in found)


def _listed(row: Row, made: str) -> Listed:
    # The apostrophe is what `players_csv` puts before what a spreadsheet would take for a formula.
    of = {column: row.cells.get(column, "").removeprefix("'") for column in COLUMNS}
    parts = [" ".join(of[column].split()) for column in PARTS]
    name = of["name"] or " ".join(filter(None, parts))
    if not name.strip():
        raise RuleError("name_missing", f"line {row.line}: there is no name")
    try:
        said = {"id": of["id"] or made, "name": name}
        player = msgspec.convert(said, Player)
    except msgspec.ValidationError as error:
        if "`$.id`" in str(error):
            raise RuleError("player_id_wrong", f"line {row.line}: {error}") from None
        raise RuleError("player_name_wrong", f"line {row.line}: {error}") from None
    if not player.name.isprintable():
        raise RuleError("player_name_wrong", f"line {row.line}: the name has characters that no screen shows")
    further, team = tuple(of[column] for column in FURTHER), " ".join(of[TEAM].split())
    for column, text in zip((*FURTHER, *PARTS, TEAM), (*further, *parts, team), strict=True):
        if len(text) > LONGEST_LINE or not text.isprintable():
            raise RuleError(
                "player_detail_wrong", f"line {row.line}: {column} has at most {LONGEST_LINE} printable characters"
            )
    if further[0] and not re.fullmatch(COUNTRY, further[0]):
        raise RuleError("country_wrong", f"line {row.line}: {further[0]!r} is no country: two or three capital letters")
    return Listed(player, further, team, *parts)


def as_corrected(listed: Iterable[Listed], corrections: Mapping[str, PlayerCorrected]) -> tuple[Listed, ...]:
    """Give a list as corrections of the plan have it."""
    return tuple(_corrected(one, said) if (said := corrections.get(one.player.id)) else one for one in listed)


def as_counted(event: Event, kept: Iterable[Listed]) -> tuple[Listed, ...]:
    """Give an event's players as they count now, with what the list that is kept beside the plan says of each.

    Names and teams are the plan's: the list may have been written otherwise since. Of who is not in it, country and
    club are what the event has of them.
    """
    of = {one.player.id: one for one in kept}
    team = {player: name for name, players in event.plan.teams.items() for player in players}
    listed = []
    for player in event.plan.players:
        one = of.get(player.id) or Listed(player, (*event.origin_of(player.id), "", ""))
        listed.append(replace(one, player=player, team=team.get(player.id, "")))
    return as_corrected(listed, event.corrections)


def _corrected(one: Listed, said: PlayerCorrected) -> Listed:
    further = tuple(getattr(said, column) for column in FURTHER)
    return Listed(Player(id=one.player.id, name=said.name), further, one.team, said.first_name, said.last_name)


def _twice(found: Iterable[tuple[int, Listed]]) -> Iterable[RuleError]:
    """Name ids, national and EMA numbers that two players have; two people may well share a name."""
    first: dict[tuple[str, str], int] = {}
    for line, one in found:
        of = dict(zip(FURTHER, one.further, strict=True))
        for what, text in (("id", one.player.id), ("national", of["national"]), ("ema", of["ema"])):
            if text and first.setdefault((what, text), line) != line:
                yield RuleError(
                    "player_listed_twice", f"line {line}: {what} {text} is in line {first[what, text]} already"
                )


def _in_no_team(found: Iterable[tuple[int, Listed]]) -> Iterable[RuleError]:
    """Name the players without a team where others have one, and the teams that are too small or too large."""
    listed = list(found)
    sizes = Counter(one.team for _, one in listed)
    for line, one in listed if len(sizes) > 1 else ():
        if not one.team:
            yield RuleError("teams_do_not_fit", f"line {line}: {one.player.name} is in no team, others are")
    for team, size in sizes.items():
        if team and size < SEATED:
            yield RuleError("teams_do_not_fit", f"{team} has {size} players; a team has at least {SEATED}")
        elif team and size > LARGEST_TEAM:
            yield RuleError("teams_do_not_fit", f"{team} has {size} players; a team has at most {LARGEST_TEAM}")


def teams_of(players: Iterable[Listed]) -> dict[str, tuple[str, ...]]:
    """Give the teams of a list with their players, in its order; none where it names none."""
    teams: dict[str, tuple[str, ...]] = {}
    for one in players:
        if one.team:
            teams[one.team] = (*teams.get(one.team, ()), one.player.id)
    return teams


def players_csv(players: Iterable[Listed]) -> str:
    """Write the list as it is kept in the event's folder; it reads as it was."""
    return as_csv(COLUMNS, map(_cells, players))


def _cells(one: Listed) -> tuple[str, ...]:
    return (one.player.id, one.player.name, *one.further, one.first_name, one.last_name, one.team)
