"""A team's sheet: who plays for it, and each deal that counts: the four plays added, and what they gave."""

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from broker.contract.messages import TeamStanding
from broker.contract.words import SEATS, Imp, Seat
from broker.scorer.moment import Moment
from broker.scorer.sheets.ladder import Ladder, Rung
from broker.scoring.lineups import Lineup
from broker.scoring.team import won
from broker.scoring.team_imp import total
from broker.scoring.written import written


class Member(Struct, frozen=True):
    """A player of a team; the line is that of the individual standings, None for who is not ranked."""

    player: str
    name: str
    rung: Rung | None


class SeatOfTeam(Struct, frozen=True):
    """Who sat for the team at one wind of a deal."""

    player: str
    name: str
    table: int
    points: int | None
    sat: str | None = None
    """The substitute who really sat there."""


class DealOfTeam(Struct, frozen=True):
    """One deal, compared with the other teams; awards are in the IMP, and fines are off it."""

    deal: int
    points: int
    imp: Imp
    fines: int
    seats: dict[Seat, SeatOfTeam]


class TeamSheet(Struct, frozen=True):
    """All of a team that may be told: deals that some table has yet to play are not in it."""

    number: int
    """Of the team in the event's list, from 1."""
    team: str
    standing: TeamStanding | None
    """None until the first deal counts."""
    final: bool
    deals_expected: int
    deals: tuple[DealOfTeam, ...]
    left_out: tuple[int, ...]
    """Deals that count for no team until an arbiter has ruled who sat where."""
    members: tuple[Member, ...]
    beside: Imp
    """IMPs of the standing that belong to no deal: an arbiter gave or took them."""


def team_sheet(moment: Moment, standings: Ladder, number: int) -> TeamSheet:
    """Give a team's sheet. Raises KeyError where the event has no such team."""
    listed = list(moment.event.plan.teams.items())
    if not 1 <= number <= len(listed):
        raise KeyError(number)
    team, players = listed[number - 1]
    deals = tuple(_deals(moment, team))
    standing = next((row for row in moment.teams if row.team == team and row.deals), None)
    rungs = {rung.player: rung for rung in standings.rungs}
    return TeamSheet(
        number=number,
        team=team,
        standing=standing,
        final=standings.final,
        deals_expected=len(moment.event.expected),
        deals=deals,
        left_out=moment.left_out,
        members=tuple(Member(one, moment.event.name_of(one), rungs.get(one)) for one in players),
        beside=written(Fraction(standing.imp if standing else 0) - sum(Fraction(one.imp) for one in deals)),
    )


def _deals(moment: Moment, team: str) -> Iterator[DealOfTeam]:
    for deal, found in moment.lineups.items():
        imp, fines = won(team, found, moment.event.profile)
        seats = {seat: _seat(moment, found[team], seat) for seat in SEATS}
        yield DealOfTeam(deal, total(found[team]), written(Fraction(imp)), fines, seats)


def _seat(moment: Moment, lineup: Lineup, seat: Seat) -> SeatOfTeam:
    play = lineup[seat]
    points = play.points[seat] if play.points is not None else None
    player, (table, round_) = play.players[seat], moment.place(play)
    return SeatOfTeam(player, moment.event.name_of(player), table, points, moment.sat(player, round_))
