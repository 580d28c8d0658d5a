"""The teams of an event: what each has of the deals that all of them have played. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from broker.rules import ComparisonRules, RuleError
from broker.scorer.stages import RankSection
from broker.scoring import (
    Adjustment,
    Entries,
    Exact,
    Ledger,
    Lineup,
    PreviousPlaces,
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

    def __init__(
        self, teams: Teams, profile: ComparisonRules, of_deal: Callable[[int], Mapping[str, Teams]] | None = None
    ) -> None:
        """`of_deal`: of a deal the sections, each with its teams; one section of all teams where it is not given."""
        self._teams, self._profile = teams, profile
        self._of_deal = of_deal or (lambda _deal: {"": teams})
        self._entries = Entries().with_names(teams)
        self._team_of = team_of_players(teams)
        self._played: dict[tuple[int, str], TeamDeal] = {}
        self.left_out: frozenset[int] = frozenset()
        """Deals in which a team sat twice at a wind: they are compared when an arbiter has ruled who sat where."""

    def copy(self) -> "TeamState":
        """Return an independent copy."""
        new = TeamState(self._teams, self._profile, self._of_deal)
        new._played, new.left_out = dict(self._played), self.left_out
        return new

    def update(self, ledger: Ledger, deals: Iterable[int], complete: Callable[[int], bool]) -> None:
        """Compare some deals anew. `complete` says of a deal whether all its plays are settled: others count not yet.

        A fine or an award may be known of a play that is still to come; what the room sees of the teams is no secret.
        """
        for deal in deals if self._teams else ():
            for key in [key for key in self._played if key[0] == deal]:
                del self._played[key]
            self.left_out -= {deal}
            if complete(deal):
                for section, teams in self._of_deal(deal).items():
                    self._compare(deal, section, teams, ledger)

    def _compare(self, deal: int, section: str, teams: Teams, ledger: Ledger) -> None:
        plays = [play for play in ledger.plays_of(deal) if (play.section or "") == section]
        try:
            found = deal_lineups(deal, plays, teams)
        except RuleError:
            self.left_out |= {deal}
            return
        if not missing_seats(found):
            self._played[deal, section] = compare_teams(found, self._entries, self._profile)

    @property
    def lineups(self) -> list[tuple[int, Mapping[str, Lineup]]]:
        """Who sat where for the teams in each deal that counts for them, by deals and sections."""
        return [(deal, self._played[deal, section].lineups) for deal, section in sorted(self._played)]

    @property
    def won(self) -> list[Exact]:
        """What teams have won in the single deals that count for them."""
        number = self._entries.number
        return [one.totals.imp[number[team]] for one in self._played.values() for team in one.lineups]

    def standings(self, beside: Iterable[Adjustment]) -> Ranking:
        """Rank the teams. `beside`: players' IMPs that belong to no play; they are their teams'."""
        return self._ranked(self._played, self.of_teams(beside))

    def of_teams(self, beside: Iterable[Adjustment]) -> list[Adjustment]:
        """Return to teams what belongs to their players."""
        return [one._replace(name=self._team_of[one.name]) for one in beside if one.name in self._team_of]

    def rank_of(self, stage_of_deal: Mapping[int, int]) -> RankSection:
        """Return what ranks the teams of a section by the deals of a stage."""

        def rank(at: int, more: Sequence[Adjustment], places: PreviousPlaces, names: Collection[str]) -> Ranking:
            keys = [key for key in self._played if stage_of_deal.get(key[0]) == at]
            return self._ranked(keys, more, places, self._teams.keys() - set(names))

        return rank

    def _ranked(
        self,
        keys: Iterable[tuple[int, str]],
        more: Sequence[Adjustment],
        places: PreviousPlaces | None = None,
        without: Collection[str] = (),
    ) -> Ranking:
        played = (self._played[key] for key in sorted(keys))
        return rank_teams(
            played, self._entries, self._profile, previous=places, adjustments=more, without_standing=without
        )
