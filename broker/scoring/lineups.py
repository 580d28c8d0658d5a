"""Who sat for a team at each wind of a deal (MIL: one member at each)."""

from collections.abc import Iterable, Mapping

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.scoring.plays import ScoredPlay

Teams = Mapping[str, Iterable[str]]
"""Team name to its players."""

Lineup = Mapping[Seat, ScoredPlay]
"""The plays in which a team sat at each wind of one deal."""


def team_of_players(teams: Teams) -> dict[str, str]:
    """Give each player's team. Raises RuleError `player_in_two_teams`."""
    team_of: dict[str, str] = {}
    for team, players in teams.items():
        for player in players:
            if team_of.setdefault(player, team) != team:
                raise RuleError("player_in_two_teams", f"{player} plays for {team_of[player]} and {team}")
    return team_of


def lineups(deal: int, plays: Iterable[ScoredPlay], teams: Teams) -> dict[str, Lineup]:
    """Give every team's plays of one deal, by seat; a seat is missing where its play has not come yet.

    Raises RuleError `player_in_two_teams`, `player_without_team`, `team_incomplete` (a team sits twice at a wind).
    """
    team_of = team_of_players(teams)
    found: dict[str, dict[Seat, ScoredPlay]] = {team: {} for team in teams}
    for play in plays:
        for seat in SEATS:
            player = play.entry(seat)
            if player not in team_of:
                raise RuleError("player_without_team", f"{player} is in no team")
            team = team_of[player]
            if seat in found[team]:
                raise RuleError("team_incomplete", f"deal {deal}: {team} sits twice at {seat}")
            found[team][seat] = play
    return dict(found)


def missing(found: Mapping[str, Lineup]) -> list[tuple[str, Seat]]:
    """Give the teams and seats whose play has not come yet."""
    return sorted((team, seat) for team, lineup in found.items() for seat in SEATS if seat not in lineup)
