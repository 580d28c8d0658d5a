"""Standings of a team event: two teams or more, the total over all deals (MIL)."""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from broker.rules.profile import Comparison
from broker.scoring.compare import Exact
from broker.scoring.entries import Entries
from broker.scoring.imp import Whole, imp
from broker.scoring.lineups import Lineup, Teams
from broker.scoring.plays import Adjustment, ScoredPlay
from broker.scoring.ranking import Ranking, TieBreaker, rank
from broker.scoring.team_deals import comparable
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

    What plays out of place explain is left out as well (`team_deals.py`).

    Raises RuleError `player_without_team`, `player_in_two_teams`, `team_incomplete`.
    """
    return of_deals(
        comparable(plays, teams, provisional=provisional).lineups,
        teams,
        profile,
        previous=previous,
        adjustments=adjustments,
        without_standing=without_standing,
    )


def of_deals(
    deals: Mapping[int, Mapping[str, Lineup]],
    teams: Teams,
    profile: Comparison,
    *,
    previous: Places | None = None,
    adjustments: Iterable[Adjustment] = (),
    without_standing: Collection[str] = (),
) -> Ranking:
    """Rank the teams by deals in which none of them is missing."""
    entries = Entries().with_names(teams)
    return ranked(
        (of_deal(found, entries, profile) for found in deals.values()),
        entries,
        profile,
        previous=previous,
        adjustments=adjustments,
        without_standing=without_standing,
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
