"""Which deals count for the teams: those in which each of them sits once at each wind."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.scoring.lineups import Lineup, Teams, lineups, missing
from broker.scoring.plays import ScoredPlay, table_of

Gap = tuple[str, Seat]
"""A team, and where nobody of it sits."""


class Comparable(NamedTuple):
    """The deals of an event for its teams."""

    lineups: Mapping[int, Mapping[str, Lineup]]
    """Who sat where in those that count, by deals."""
    left_out: tuple[int, ...]


def comparable(plays: Iterable[ScoredPlay], teams: Teams, *, provisional: bool = False) -> Comparable:
    """Say which deals count for the teams.

    Where plays are out of place (`APART`), a deal of theirs that teams do not fit is left out, and so is one that was
    not played for it: the scorer does the same until an arbiter has ruled who sat where. Each play in a deal that
    teams do not fit explains one that some deal lacks; any other is not over, and only provisional standings go
    without it.

    Raises RuleError `player_without_team`, `player_in_two_teams`, `team_incomplete`.
    """
    by_deal: dict[int, list[ScoredPlay]] = defaultdict(list)
    for play in plays:
        by_deal[play.deal].append(play)
    lined_up = {deal: _lineups(deal, of, teams) for deal, of in sorted(by_deal.items())}
    moved = (play for deal, sat in lined_up.items() if sat is None for play in by_deal[deal])
    explained = Counter(_where(play) for play in moved if _out_of_place(play))
    found, left_out = {}, []
    for deal, sat in lined_up.items():
        gaps = missing(sat or {})
        for _ in range(0 if provisional else len(gaps) // len(SEATS)):
            _explain(explained, deal, by_deal[deal], gaps[0])
        if sat is None or gaps:
            left_out.append(deal)
        else:
            found[deal] = sat
    return Comparable(found, tuple(left_out))


def _lineups(deal: int, plays: Iterable[ScoredPlay], teams: Teams) -> dict[str, Lineup] | None:
    """Say who sat where; None: not one of a team at each wind, by plays out of place."""
    listed = list(plays)
    try:
        return lineups(deal, listed, teams)
    except RuleError as problem:
        if problem.code != "team_incomplete" or not any(map(_out_of_place, listed)):
            raise
        return None


def _explain(
    explained: Counter[tuple[str, int]], deal: int, plays: Iterable[ScoredPlay], gap: tuple[str, Seat]
) -> None:
    """Take a play out of place for why its table has not played a deal; refuse the deal if there is none."""
    played = set(map(_where, plays))
    instead = next((where for where in sorted(+explained) if where not in played), None)
    if instead is None:
        raise RuleError("team_incomplete", f"deal {deal}: nobody of {gap[0]} sits at {gap[1]}")
    explained[instead] -= 1


def _where(play: ScoredPlay) -> tuple[str, int]:
    """Give section and table: sections number their tables each for itself."""
    return play.section or "", table_of(play)


def _out_of_place(play: ScoredPlay) -> bool:
    return table_of(play) != play.table
