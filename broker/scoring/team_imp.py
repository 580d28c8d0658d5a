"""What a team wins in one deal: its points against the profile's reference, added and then converted (MIL).

A void play counts nowhere. Where a deal was fouled, points are compared with those of the same form, seat by seat;
where all lay alike this is the same as adding first, since a mean of sums is the sum of the means. A team's reference
is never rounded.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from broker.contract.words import SEATS
from broker.rules.profile import Comparison
from broker.scoring.compare import Exact
from broker.scoring.imp import imp
from broker.scoring.lineups import Lineup

MATCH: Final = 2
"""Teams of a match."""


def team_imp(team: str, lineups: Mapping[str, Lineup], profile: Comparison) -> Exact:
    """Give a team's IMPs in one deal; the small group's where it can be compared with nobody."""
    own = lineups[team]
    others = [lineup for name, lineup in lineups.items() if name != team]
    alone = profile.small_group.imp.value
    if profile.imp.method.value == "cross":
        against = [found for other in others if (found := differences(own, other))]
        won = sum(imp(sum(found, Fraction(0)), profile.imp) for found in against)
        return Fraction(won, len(against)) if against else alone
    match = len(lineups) == MATCH
    reference = profile.team.reference_of_two.value if match else profile.team.reference.value
    if reference == "zero":
        return imp(Fraction(total(own)), profile.imp)
    found = differences(own, others[0]) if reference == "opponent" else list(_from_mean(own, others, profile))
    return imp(sum(found, Fraction(0)), profile.imp) if found else alone


def total(lineup: Lineup) -> int:
    """Give the points of a team's members together."""
    return sum(play.points[seat] for seat, play in lineup.items() if play.points is not None)


def differences(own: Lineup, other: Lineup) -> list[Fraction]:
    """Give the differences from another team, for the winds at which both played, and the same form."""
    return [
        Fraction(mine[seat] - theirs[seat])
        for seat in SEATS
        if (mine := own[seat].points) is not None
        and (theirs := other[seat].points) is not None
        and own[seat].group == other[seat].group
    ]


def _from_mean(own: Lineup, others: list[Lineup], profile: Comparison) -> Iterator[Fraction]:
    """Give the differences from the mean of each wind, for the winds at which there is one."""
    for seat in SEATS:
        mine = own[seat].points
        if mine is None:
            continue
        played = [(other[seat].group, other[seat].points) for other in others]
        theirs = [points[seat] for group, points in played if group == own[seat].group and points is not None]
        if len(theirs) + 1 >= profile.small_group.smallest.value:
            counted = len(theirs) + (profile.datum.own_score.value == "included")
            yield Fraction(len(theirs) * mine[seat] - sum(theirs), counted)
