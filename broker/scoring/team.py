"""Standings of a team event: two teams or more, the total over all deals (MIL)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from broker.rules.errors import RuleError
from broker.rules.profile import Comparison
from broker.scoring.compare import Exact
from broker.scoring.entries import Entries
from broker.scoring.imp import Whole, imp
from broker.scoring.lineups import Lineup, Teams, lineups, missing
from broker.scoring.plays import Adjustment, ScoredPlay, table_of
from broker.scoring.ranking import Ranking, TieBreaker, rank
from broker.scoring.team_imp import differences, team_imp, total
from broker.scoring.ties import Places, simple_breaker
from broker.scoring.totals import Totals


def standings(
    plays: Iterable[ScoredPlay],
    teams: Teams,
    profile: Comparison,
    *,
    provisional: bool = False,
    previous: Places | None = None,
    adjustments: Iterable[Adjustment] = (),
    without_standing: Collection[str] = (),
) -> Ranking:
    """Rank the teams. Provisional standings leave out deals that not all teams have played yet.

    Where plays are out of place (`APART`), a deal of theirs that teams do not fit is left out, and so is one that was
    not played for it: the scorer does the same until an arbiter has ruled who sat where.

    Raises RuleError `player_without_team`, `player_in_two_teams`, `team_incomplete`.
    """
    entries, listed = Entries().with_names(teams), list(plays)
    out_of_place = {play.deal for play in listed if table_of(play) != play.table}
    played = []
    for deal, found in _by_deal(listed, teams, out_of_place):
        if not (gaps := missing(found)):
            played.append(of_deal(found, entries, profile))
        elif not provisional and not out_of_place:
            raise RuleError("team_incomplete", f"deal {deal}: nobody of {gaps[0][0]} sits at {gaps[0][1]}")
    return ranked(
        played, entries, profile, previous=previous, adjustments=adjustments, without_standing=without_standing
    )


class PlayedDeal(NamedTuple):
    """One deal that all teams have played: who sat where, and what each team has of it."""

    lineups: Mapping[str, Lineup]
    totals: Totals


def of_deal(found: Mapping[str, Lineup], entries: Entries, profile: Comparison) -> PlayedDeal:
    """Compare the teams in one deal, in which none is missing."""
    totals = _nothing(entries, profile)
    _add(totals, entries, found, profile)
    return PlayedDeal(found, totals)


def ranked(
    played: Iterable[PlayedDeal],
    entries: Entries,
    profile: Comparison,
    *,
    previous: Places | None = None,
    adjustments: Iterable[Adjustment] = (),
    without_standing: Collection[str] = (),
) -> Ranking:
    """Rank the teams (`entries`) by deals that were compared before."""
    listed, totals = list(played), _nothing(entries, profile)
    for one in listed:
        for whole, part in zip(totals.columns, one.totals.columns, strict=True):
            np.add(whole, part, out=whole)
    totals.adjust(adjustments, entries)
    direct: TieBreaker = partial(_direct_comparison, [one.lineups for one in listed], entries, profile)
    chain = [
        direct if name == "direct_comparison" else simple_breaker(name, entries, totals, previous or {})
        for name in profile.ties.chain.value
    ]
    return rank(entries, totals, chain, without_standing)


def _nothing(entries: Entries, profile: Comparison) -> Totals:
    return Totals.nothing(len(entries.number), fractions=profile.imp.method.value == "cross")


def _by_deal(
    plays: Iterable[ScoredPlay], teams: Teams, out_of_place: Collection[int]
) -> Iterator[tuple[int, dict[str, Lineup]]]:
    by_deal: dict[int, list[ScoredPlay]] = defaultdict(list)
    for play in plays:
        by_deal[play.deal].append(play)
    for deal in sorted(by_deal):
        try:
            yield deal, lineups(deal, by_deal[deal], teams)
        except RuleError as problem:
            if problem.code != "team_incomplete" or deal not in out_of_place:
                raise


def _add(totals: Totals, entries: Entries, found: Mapping[str, Lineup], profile: Comparison) -> None:
    """Add what each team won in one deal; awards and fines are the team's, and in no reference."""
    for team, lineup in found.items():
        number = entries.number[team]
        imp, fines = won(team, found, profile)
        totals.imp[number] += imp
        totals.points[number] += total(lineup)
        totals.plays[number] += 1
        totals.fines[number] += fines


def won(team: str, found: Mapping[str, Lineup], profile: Comparison) -> tuple[Exact, int]:
    """Give what a team has of one deal, in which none is missing: IMPs after awards and fines, and the fines."""
    sat = found[team].items()
    fines = sum(play.fines.get(seat, 0) for seat, play in sat)
    awards = sum(play.awards.get(seat, 0) for seat, play in sat)
    return team_imp(team, found, profile) + awards - fines, fines


def _direct_comparison(played: list[Mapping[str, Lineup]], entries: Entries, profile: Comparison, tied: Whole) -> Whole:
    """Give the IMPs won against the other tied teams, deal by deal."""
    names = [entries.names[number] for number in tied.tolist()]
    return np.array(
        [
            sum(
                imp(sum(differences(found[name], found[other]), Fraction(0)), profile.imp)
                for found in played
                for other in names
            )
            for name in names
        ]
    )
