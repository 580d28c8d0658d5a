"""Who plays in a movement: from a number, a file of teams, or an event's folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from broker.contract.words import PlayerId
from broker.organiser.movements import file as files
from broker.rules.errors import RuleError
from broker.rules.movement.order import MOST_PLAYERS

TEAM: Final = 4

Teams = Mapping[str, Sequence[str]]


def player_names(players: int | None, teams: Teams | None, event: Path | None) -> list[str]:
    """Give the players' ids in the order of their numbers, team by team.

    Raises RuleError `players_differ` or `impossible_size`.
    """
    listed = team_by_team(teams or {})
    if event and not listed:
        listed = files.event_players(event)
    if listed and players not in (None, len(listed)):
        raise RuleError("players_differ", f"--players says {players}, and {len(listed)} are named")
    if listed:
        return listed
    if players is None:
        raise RuleError("players_differ", "how many players? --players, --teams or --event says so")
    if not TEAM <= players <= MOST_PLAYERS:
        raise RuleError("impossible_size", f"{players} players; there can be {TEAM} to {MOST_PLAYERS}")
    width = max(2, len(str(players)))
    return [f"p{number:0{width}}" for number in range(1, players + 1)]


def read_teams(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of teams of four. Raises RuleError `bad_teams`, `teams_do_not_fit`, `player_in_two_teams`."""
    try:
        teams = msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[PlayerId, ...]])
    except (OSError, ValueError, RecursionError) as error:
        raise RuleError("bad_teams", f"{path.name}: {error}") from None
    seen: set[str] = set()
    for members in fours(teams).values():
        for member in members:
            if member in seen:
                raise RuleError("player_in_two_teams", f"{member} is listed more than once")
            seen.add(member)
    return teams


def fours(teams: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Give teams for which a movement can be made: of four. Raises RuleError `teams_do_not_fit`."""
    for team, members in teams.items():
        if len(members) != TEAM:
            raise RuleError("teams_do_not_fit", f"{team} has {len(members)} players; a movement is made for {TEAM}")
    return teams


def team_by_team(teams: Teams) -> list[str]:
    """Give all players, those of a team one after the other."""
    return [member for members in teams.values() for member in members]
