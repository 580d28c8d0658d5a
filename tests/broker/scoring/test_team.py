"""Team events: four members, one at each wind, their points added and converted once."""

from collections.abc import Mapping
from dataclasses import replace as changed

import pytest
from hypothesis import given
from msgspec.structs import replace

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.profile import Profile, Stated, load
from broker.scoring import team
from broker.scoring.plays import ScoredPlay
from broker.scoring.ranking import Total
from tests.broker.contract.laws import LAW
from tests.broker.scoring import oracle
from tests.broker.scoring.events import four_teams, scored, team_events

MEAN = load("oedmc-2020")
ZERO = replace(MEAN, team=replace(MEAN.team, reference=Stated("zero", "MIL")))

Event = tuple[list[oracle.Play], dict[str, str]]


def members(team_of: Mapping[str, str]) -> dict[str, list[str]]:
    teams: dict[str, list[str]] = {}
    for player, name in team_of.items():
        teams.setdefault(name, []).append(player)
    return teams


@given(team_events())
@LAW
def test_totals_and_places_are_what_the_oracle_says(event: Event) -> None:
    plays, team_of = event
    for profile, zero in ((MEAN, False), (ZERO, True)):
        sums = oracle.teams(plays, team_of, zero=zero)
        placed = oracle.places(sums)
        ranked = team.standings(map(scored, plays), members(team_of), profile)
        assert {r.name: (r.place, r.total) for r in ranked} == {
            name: (placed[name], Total(own.imp, own.fines, own.plays)) for name, own in sums.items()
        }


def with_points(plays: list[ScoredPlay], scores: Mapping[tuple[int, Seat], int]) -> list[ScoredPlay]:
    """Give plays with the points of some chairs, told by table and seat."""
    return [
        changed(play, points={seat: scores.get((play.table, seat), play.points[seat]) for seat in SEATS})
        for play in plays
    ]


def imps(plays: list[ScoredPlay], teams: Mapping[str, list[str]], profile: Profile = MEAN) -> dict[str, int]:
    return {one.name: one.total.imp for one in team.standings(plays, teams, profile)}


def test_in_a_match_of_two_the_other_team_is_the_reference() -> None:
    plays, teams = four_teams(tables=2)
    # Team 1 is East at table 1: the totals are 9 and 0, and not 4.5 above and below a mean.
    assert imps(with_points(plays, {(1, "east"): 9}), teams) == {"team 1": 3, "team 2": -3}


def test_among_more_teams_the_mean_is_the_reference() -> None:
    plays, teams = four_teams(tables=3)
    # Totals 9, 0, 0: the mean is 3.
    assert imps(with_points(plays, {(1, "east"): 9}), teams) == {"team 1": 2, "team 2": -1, "team 3": -1}


def test_with_zero_a_total_stands_for_itself() -> None:
    plays, teams = four_teams(tables=3)
    assert imps(with_points(plays, {(1, "east"): 9}), teams, ZERO) == {"team 1": 3, "team 2": 0, "team 3": 0}


def test_the_sum_is_converted_and_not_each_member() -> None:
    plays, teams = four_teams(tables=4)
    # Each member of team 1 has 1 point, which alone is worth nothing; together they have 4, the mean is 1.
    scores: dict[tuple[int, Seat], int] = {(1, "east"): 1, (4, "south"): 1, (3, "west"): 1, (2, "north"): 1}
    assert imps(with_points(plays, scores), teams)["team 1"] == 1


def test_a_fine_is_the_team_s_and_in_no_reference() -> None:
    plays, teams = four_teams(tables=2)
    fined = [changed(plays[0], fines={"east": 4, "south": 8}), plays[1]]
    assert {one.name: one.total for one in team.standings(fined, teams, MEAN)} == {
        "team 1": Total(imp=-4, fines=4, plays=1),
        "team 2": Total(imp=-8, fines=8, plays=1),
    }


def test_teams_without_a_play_have_nothing() -> None:
    assert imps([], {"a": ["p1"], "b": ["p2"]}) == {"a": 0, "b": 0}


def refusal(plays: list[ScoredPlay], teams: Mapping[str, list[str]]) -> tuple[str, str]:
    with pytest.raises(RuleError) as refused:
        team.standings(plays, teams, MEAN)
    return refused.value.code, refused.value.text


def test_a_player_of_no_team_is_refused() -> None:
    plays, teams = four_teams()
    gone = teams["team 1"].pop(0)
    assert refusal(plays, teams) == ("player_without_team", f"{gone} is in no team")


def test_a_player_of_two_teams_is_refused() -> None:
    plays, teams = four_teams()
    twice = teams["team 1"][0]
    teams["team 2"].append(twice)
    assert refusal(plays, teams) == ("player_in_two_teams", f"{twice} plays for team 1 and team 2")


def test_a_team_twice_at_a_wind_is_refused() -> None:
    plays, teams = four_teams()
    players = plays[1].players
    plays[1] = changed(plays[1], players={**players, "east": players["north"], "north": players["east"]})
    assert refusal(plays, teams) == ("team_incomplete", "deal 1: team 1 sits twice at east")


def test_a_team_that_is_missing_at_a_wind_is_refused() -> None:
    plays, teams = four_teams()
    assert refusal(plays[1:], teams) == ("team_incomplete", "deal 1: nobody of team 1 sits at east")
