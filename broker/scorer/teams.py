"""The teams of an event: what each has of the deals that all of them have played. Pure."""

from collections.abc import Callable, Iterable, Mapping

from broker.rules import ComparisonRules, RuleError
from broker.scoring import (
    Adjustment,
    Entries,
    Ledger,
    Lineup,
    Ranking,
    TeamDeal,
    compare_teams,
    deal_lineups,
    missing_seats,
    rank_teams,
    team_of_players,
)

Teams = Mapping[str, tuple[str, ...]]


class TeamState:
    """What the teams have of each deal that all of them have played."""

    def __init__(self, teams: Teams, profile: ComparisonRules) -> None:
        self._teams, self._profile = teams, profile
        self._entries = Entries().with_names(teams)
        self._team_of = team_of_players(teams)
        self._played: dict[int, TeamDeal] = {}
        self.left_out: frozenset[int] = frozenset()
        """Deals in which a team sat twice at a wind: they are compared when an arbiter has ruled who sat where."""

    def copy(self) -> "TeamState":
        """Return an independent copy."""
        new = TeamState(self._teams, self._profile)
        new._played, new.left_out = dict(self._played), self.left_out
        return new

    def update(self, ledger: Ledger, deals: Iterable[int], complete: Callable[[int], bool]) -> None:
        """Compare some deals anew. `complete` says of a deal whether all its plays are settled: others count not yet.

        A fine or an award may be known of a play that is still to come; what the room sees of the teams is no secret.
        """
        for deal in deals if self._teams else ():
            self._played.pop(deal, None)
            self.left_out -= {deal}
            if not complete(deal):
                continue
            try:
                found = deal_lineups(deal, ledger.plays_of(deal), self._teams)
            except RuleError:
                self.left_out |= {deal}
                continue
            if not missing_seats(found):
                self._played[deal] = compare_teams(found, self._entries, self._profile)

    @property
    def lineups(self) -> dict[int, Mapping[str, Lineup]]:
        """Who sat where for the teams in each deal that counts for them, by deals."""
        return {deal: self._played[deal].lineups for deal in sorted(self._played)}

    def standings(self, beside: Iterable[Adjustment]) -> Ranking:
        """Rank the teams. `beside`: players' IMPs that belong to no play; they are their teams'."""
        of_teams = (one._replace(name=self._team_of[one.name]) for one in beside if one.name in self._team_of)
        played = (one for _, one in sorted(self._played.items()))
        return rank_teams(played, self._entries, self._profile, adjustments=of_teams)
