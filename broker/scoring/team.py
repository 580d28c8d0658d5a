"""Standings of a team event: two teams or more, one member at each wind of a deal, the total over all deals (MIL).

A deal counts if each team sits once at each wind. A team's result in it is the difference of its points from the
profile's reference, added up and then converted. A void play counts nowhere. Where a deal was fouled, points are
compared with those of the same form, seat by seat; where all plays had the same form this equals adding first, since a
mean of sums is the sum of the means. A team's reference is never rounded.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from broker.i18n import N_
from broker.protocol import SEATS, Seat
from broker.rules import ComparisonRules, RuleError, to_imp
from broker.scoring.compare import Adjustment, Entries, Exact, ScoredPlay, Whole, table_of
from broker.scoring.standings import PreviousPlaces, Ranking, TieBreaker, Totals, rank, tie_breaker

Teams = Mapping[str, Iterable[str]]
"""Team name to its players."""

Lineup = Mapping[Seat, ScoredPlay]
"""The plays in which a team sat at each wind of one deal."""


def team_of_players(teams: Teams) -> dict[str, str]:
    """Return each player's team. Raises RuleError `player_in_two_teams`."""
    team_of: dict[str, str] = {}
    for team, players in teams.items():
        for player in players:
            if team_of.setdefault(player, team) != team:
                raise RuleError(
                    "player_in_two_teams",
                    N_("{player} plays for {team} and {other}", player=player, team=team_of[player], other=team),
                )
    return team_of


def deal_lineups(deal: int, plays: Iterable[ScoredPlay], teams: Teams) -> dict[str, Lineup]:
    """Return every team's plays of one deal, by seat. Seats whose play has not arrived yet are missing.

    Raises RuleError `player_in_two_teams`, `player_without_team`, or `team_incomplete` if a team sits twice at a wind.
    """
    team_of = team_of_players(teams)
    found: dict[str, dict[Seat, ScoredPlay]] = {team: {} for team in teams}
    for play in plays:
        for seat in SEATS:
            player = play.entry(seat)
            if player not in team_of:
                raise RuleError("player_without_team", N_("{who} is not in a team", who=player))
            team = team_of[player]
            if seat in found[team]:
                raise RuleError(
                    "team_incomplete", N_("deal {deal}: {team} sits twice at {seat}", deal=deal, team=team, seat=seat)
                )
            found[team][seat] = play
    return dict(found)


def missing_seats(lineups: Mapping[str, Lineup]) -> list[tuple[str, Seat]]:
    """Return the teams and seats whose play has not arrived yet."""
    return sorted((team, seat) for team, lineup in lineups.items() for seat in SEATS if seat not in lineup)


TEAMS_OF_A_MATCH: Final = 2
"""The number of teams in a match."""


def team_imp(team: str, lineups: Mapping[str, Lineup], profile: ComparisonRules) -> Exact:
    """Return a team's IMPs in one deal; those of a small group if it can be compared with nobody."""
    own = lineups[team]
    others = [lineup for name, lineup in lineups.items() if name != team]
    imp_of_small_group = profile.small_group.imp.value
    if profile.imp.method.value == "cross":
        against = [found for other in others if (found := lineup_differences(own, other))]
        total = sum(to_imp(sum(found, Fraction(0)), profile.imp) for found in against)
        return Fraction(total, len(against)) if against else imp_of_small_group
    match = len(lineups) == TEAMS_OF_A_MATCH
    reference = profile.team.reference_of_two.value if match else profile.team.reference.value
    if reference == "zero":
        return to_imp(Fraction(lineup_points(own)), profile.imp)
    found = lineup_differences(own, others[0]) if reference == "opponent" else list(_from_mean(own, others, profile))
    return to_imp(sum(found, Fraction(0)), profile.imp) if found else imp_of_small_group


def lineup_points(lineup: Lineup) -> int:
    """Return the sum of the points of a team's members."""
    return sum(play.points[seat] for seat, play in lineup.items() if play.points is not None)


def lineup_differences(own: Lineup, other: Lineup) -> list[Fraction]:
    """Return the differences from another team, for the winds at which both played the same form."""
    return [
        Fraction(mine[seat] - theirs[seat])
        for seat in SEATS
        if (mine := own[seat].points) is not None
        and (theirs := other[seat].points) is not None
        and own[seat].group == other[seat].group
    ]


def _from_mean(own: Lineup, others: list[Lineup], profile: ComparisonRules) -> Iterator[Fraction]:
    """Yield the differences from the mean of each wind, for the winds at which enough teams played the same form."""
    for seat in SEATS:
        mine = own[seat].points
        if mine is None:
            continue
        played = [(other[seat].group, other[seat].points) for other in others]
        theirs = [points[seat] for group, points in played if group == own[seat].group and points is not None]
        if len(theirs) + 1 >= profile.small_group.smallest.value:
            counted = len(theirs) + (profile.datum.own_score.value == "included")
            yield Fraction(len(theirs) * mine[seat] - sum(theirs), counted)


class ComparableDeals(NamedTuple):
    """The deals that count for the teams of an event, and those left out."""

    lineups: Mapping[int, Mapping[str, Lineup]]
    """By deal: who sat where in each deal that counts."""
    left_out: tuple[int, ...]


def comparable_deals(plays: Iterable[ScoredPlay], teams: Teams, *, provisional: bool = False) -> ComparableDeals:
    """Return which deals count for the teams.

    Where plays are out of place (`TABLE_OFFSET`), a deal in which they break up the teams is left out, and so is the
    deal that was not played because of it; the scorer does the same until an arbiter has ruled who sat where. Each play
    in a deal with broken-up teams explains one play that some deal lacks. An unexplained gap means that the deal is not
    finished, which is an error except in provisional standings, where the deal is left out.

    A team with no member in a deal does not play it, for instance after being cut before a final. In provisional
    standings it may still play, so such a deal is left out until it does.

    Raises RuleError `player_without_team`, `player_in_two_teams`, `team_incomplete`.
    """
    by_deal: dict[int, list[ScoredPlay]] = defaultdict(list)
    for play in plays:
        by_deal[play.deal].append(play)
    lined_up = {deal: _lineups_if_complete(deal, of_deal, teams) for deal, of_deal in sorted(by_deal.items())}
    if not provisional:
        lined_up = {
            deal: lineups and {name: own for name, own in lineups.items() if own} for deal, lineups in lined_up.items()
        }
    moved = (play for deal, lineups in lined_up.items() if lineups is None for play in by_deal[deal])
    explained = Counter(_section_and_table(play) for play in moved if _out_of_place(play))
    found, left_out = {}, []
    for deal, lineups in lined_up.items():
        gaps = missing_seats(lineups or {})
        for _ in range(0 if provisional else len(gaps) // len(SEATS)):
            _use_up_explanation(explained, deal, by_deal[deal], gaps[0])
        if lineups is None or gaps:
            left_out.append(deal)
        else:
            found[deal] = lineups
    return ComparableDeals(found, tuple(left_out))


def _lineups_if_complete(deal: int, plays: Iterable[ScoredPlay], teams: Teams) -> dict[str, Lineup] | None:
    """Return who sat where; None if plays out of place break up the teams."""
    listed = list(plays)
    try:
        return deal_lineups(deal, listed, teams)
    except RuleError as problem:
        if problem.code != "team_incomplete" or not any(map(_out_of_place, listed)):
            raise
        return None


def _use_up_explanation(
    explained: Counter[tuple[str, int]], deal: int, plays: Iterable[ScoredPlay], gap: tuple[str, Seat]
) -> None:
    """Use up one play out of place to explain why its table has not played a deal; refuse the deal if there is none."""
    played = set(map(_section_and_table, plays))
    elsewhere = next((place for place in sorted(+explained) if place not in played), None)
    if elsewhere is None:
        raise RuleError(
            "team_incomplete", N_("deal {deal}: nobody of {team} sits at {seat}", deal=deal, team=gap[0], seat=gap[1])
        )
    explained[elsewhere] -= 1


def _section_and_table(play: ScoredPlay) -> tuple[str, int]:
    """Return section and table, since each section numbers its own tables."""
    return play.section or "", table_of(play)


def _out_of_place(play: ScoredPlay) -> bool:
    return table_of(play) != play.table


def standings_of_deals(
    deals: Mapping[int, Mapping[str, Lineup]],
    teams: Teams,
    profile: ComparisonRules,
    *,
    previous: PreviousPlaces | None = None,
    adjustments: Iterable[Adjustment] = (),
    without_standing: Collection[str] = (),
) -> Ranking:
    """Rank the teams by deals in which none of them is missing."""
    entries = Entries().with_names(teams)
    return rank_teams(
        (compare_teams(lineups, entries, profile) for lineups in deals.values()),
        entries,
        profile,
        previous=previous,
        adjustments=adjustments,
        without_standing=without_standing,
    )


class TeamDeal(NamedTuple):
    """One deal that all teams have played: who sat where, and each team's totals for it."""

    lineups: Mapping[str, Lineup]
    totals: Totals


def compare_teams(lineups: Mapping[str, Lineup], entries: Entries, profile: ComparisonRules) -> TeamDeal:
    """Compare the teams in one deal, in which none is missing."""
    totals = _zero_totals(entries, profile)
    _add(totals, entries, lineups, profile)
    return TeamDeal(lineups, totals)


def rank_teams(
    played: Iterable[TeamDeal],
    entries: Entries,
    profile: ComparisonRules,
    *,
    previous: PreviousPlaces | None = None,
    adjustments: Iterable[Adjustment] = (),
    without_standing: Collection[str] = (),
) -> Ranking:
    """Rank the teams (`entries`) by deals that have already been compared."""
    listed, totals = list(played), _zero_totals(entries, profile)
    for one in listed:
        for whole, part in zip(totals.columns, one.totals.columns, strict=True):
            np.add(whole, part, out=whole)
    totals.adjust(adjustments, entries)
    direct: TieBreaker = partial(_direct_comparison, [one.lineups for one in listed], entries, profile)
    chain = [tie_breaker(name, entries, totals, previous or {}, direct) for name in profile.ties.chain.value]
    return rank(entries, totals, chain, without_standing)


def _zero_totals(entries: Entries, profile: ComparisonRules) -> Totals:
    return Totals.zero(len(entries.number), fractions=profile.imp.method.value == "cross")


def _add(totals: Totals, entries: Entries, lineups: Mapping[str, Lineup], profile: ComparisonRules) -> None:
    """Add what each team won in one deal. Awards and fines count for the team and enter no reference."""
    for team, lineup in lineups.items():
        number = entries.number[team]
        imp, fines = team_result(team, lineups, profile)
        totals.imp[number] += imp
        totals.points[number] += lineup_points(lineup)
        totals.plays[number] += 1
        totals.fines[number] += fines


def team_result(team: str, lineups: Mapping[str, Lineup], profile: ComparisonRules) -> tuple[Exact, int]:
    """Return a team's IMPs in one complete deal, after awards and fines, and the fines."""
    seats = lineups[team].items()
    fines = sum(play.fines.get(seat, 0) for seat, play in seats)
    awards = sum(play.awards.get(seat, 0) for seat, play in seats)
    return team_imp(team, lineups, profile) + awards - fines, fines


def _direct_comparison(
    played: list[Mapping[str, Lineup]], entries: Entries, profile: ComparisonRules, tied: Whole
) -> Whole:
    """Return the IMPs won against the other tied teams, deal by deal."""
    names = [entries.names[number] for number in tied.tolist()]
    return np.array(
        [
            sum(
                to_imp(sum(lineup_differences(lineups[name], lineups[other]), Fraction(0)), profile.imp)
                for lineups in played
                for other in names
            )
            for name in names
        ]
    )
