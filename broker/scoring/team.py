"""Team event: one member at each wind of a deal, the four points added, the sum converted (MIL)."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.profile import Profile
from broker.scoring.imp import imp
from broker.scoring.plays import ScoredPlay
from broker.scoring.ranking import Ranked, Total, rank

Teams = Mapping[str, Iterable[str]]
"""Team name to its players."""


def standings(plays: Iterable[ScoredPlay], teams: Teams, profile: Profile) -> tuple[Ranked, ...]:
    """Give the standings of a team event.

    Raises RuleError `player_without_team`, `player_in_two_teams`, `team_incomplete`.
    """
    team_of = _team_of(teams)
    by_deal: dict[int, list[ScoredPlay]] = {}
    for play in plays:
        by_deal.setdefault(play.deal, []).append(play)
    sums = dict.fromkeys(teams, Total())
    for deal in sorted(by_deal):
        scored, fines = _add_up(deal, by_deal[deal], team_of, teams)
        for team, points in scored.items():
            sums[team] = sums[team].plus(imp(points - _reference(team, scored, profile), profile.imp), fines[team])
    return rank(sums)


def _team_of(teams: Teams) -> dict[str, str]:
    team_of: dict[str, str] = {}
    for team, players in teams.items():
        for player in players:
            if team_of.setdefault(player, team) != team:
                raise RuleError("player_in_two_teams", f"{player} plays for {team_of[player]} and {team}")
    return team_of


def _add_up(
    deal: int, plays: list[ScoredPlay], team_of: Mapping[str, str], teams: Teams
) -> tuple[dict[str, int], dict[str, int]]:
    """Add each team's points and fines in one deal; every team must sit once at each wind."""
    points, fines = dict.fromkeys(teams, 0), dict.fromkeys(teams, 0)
    missing = {(team, seat) for team in teams for seat in SEATS}
    for play in plays:
        for seat, player in play.players.items():
            if player not in team_of:
                raise RuleError("player_without_team", f"{player} is in no team")
            team = team_of[player]
            if (team, seat) not in missing:
                raise RuleError("team_incomplete", f"deal {deal}: {team} sits twice at {seat}")
            missing.remove((team, seat))
            points[team] += play.points[seat]
            fines[team] += play.fines.get(seat, 0)
    if missing:
        team, seat = min(missing)
        raise RuleError("team_incomplete", f"deal {deal}: nobody of {team} sits at {seat}")
    return points, fines


def _reference(team: str, scored: Mapping[str, int], profile: Profile) -> Fraction:
    """What a total is compared with: in a match of two the opponent's, else as the profile says."""
    if profile.team.reference.value == "zero":
        return Fraction(0)
    if len(scored) == 2:  # noqa: PLR2004 - a match of two teams
        return Fraction(sum(points for other, points in scored.items() if other != team))
    return Fraction(sum(scored.values()), len(scored))
