"""Team events: a team's four members, one at each wind, whose points are added and converted once."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from msgspec.structs import replace

from broker.protocol import SEATS, Seat
from broker.rules import Profile, RuleError, Setting, load_mcr
from broker.rules.profile import TeamRules
from broker.scoring import TABLE_OFFSET, Exact, Ranked, ScoredPlay
from tests.broker.scoring import oracle
from tests.broker.scoring.events import comparison_profile, four_teams, scored, team_events, team_standings

MEAN = load_mcr("oedmc-2020")
ZERO = replace(MEAN, team=TeamRules(Setting("zero", "MIL stated"), Setting("zero", "MIL stated")))

Event = tuple[list[oracle.Play], dict[str, str]]


def members(team_of: Mapping[str, str]) -> dict[str, list[str]]:
    teams: dict[str, list[str]] = {}
    for player, name in team_of.items():
        teams.setdefault(name, []).append(player)
    return teams


@given(team_events())
def test_totals_and_places_agree_with_the_oracle(event: Event) -> None:
    plays, team_of = event
    for profile, zero in ((MEAN, False), (ZERO, True)):
        sums = oracle.teams(plays, team_of, zero=zero)
        placed = oracle.places(sums)
        ranked = team_standings(map(scored, plays), members(team_of), profile)
        assert {one.name: one for one in ranked} == {
            name: Ranked(placed[name], name, own.imp, own.fines, own.plays) for name, own in sums.items()
        }


def with_points(plays: list[ScoredPlay], scores: Mapping[tuple[int, Seat], int]) -> list[ScoredPlay]:
    """Return plays with points by table and seat, and 0 elsewhere."""
    return [replace(play, points={seat: scores.get((play.table, seat), 0) for seat in SEATS}) for play in plays]


def imps(plays: list[ScoredPlay], teams: Mapping[str, list[str]], profile: Profile = MEAN) -> dict[str, Exact]:
    return {one.name: one.imp for one in team_standings(plays, teams, profile)}


def test_the_reference_in_a_match_of_two_is_the_other_team() -> None:
    plays, teams = four_teams(tables=2)
    # Team 1 is East at table 1. The difference is 9 and not 4.5 from a mean.
    assert imps(with_points(plays, {(1, "east"): 9}), teams) == {"team 1": 3, "team 2": -3}


def test_the_reference_among_more_teams_is_the_mean() -> None:
    plays, teams = four_teams(tables=3)
    # Totals 9, 0, 0: the mean is 3.
    assert imps(with_points(plays, {(1, "east"): 9}), teams) == {"team 1": 2, "team 2": -1, "team 3": -1}


def test_with_reference_zero_the_total_itself_is_converted() -> None:
    plays, teams = four_teams(tables=3)
    assert imps(with_points(plays, {(1, "east"): 9}), teams, ZERO) == {"team 1": 3, "team 2": 0, "team 3": 0}


def test_the_sum_of_the_members_is_converted() -> None:
    plays, teams = four_teams(tables=4)
    # Each member of team 1 has 1 point, which alone is worth 0 IMP. Together they have 4, and the mean is 1.
    scores: dict[tuple[int, Seat], int] = {(1, "east"): 1, (4, "south"): 1, (3, "west"): 1, (2, "north"): 1}
    assert imps(with_points(plays, scores), teams)["team 1"] == 1


def test_a_fine_is_subtracted_from_the_team_and_in_no_reference() -> None:
    plays, teams = four_teams(tables=2)
    fined = [replace(plays[0], fines={"east": 4, "south": 8}), plays[1]]
    assert list(team_standings(fined, teams, MEAN)) == [
        Ranked(1, "team 1", imp=-4, fines=4, plays=1),
        Ranked(2, "team 2", imp=-8, fines=8, plays=1),
    ]


def test_teams_without_a_play_have_zero() -> None:
    assert imps([], {"a": ["p1"], "b": ["p2"]}) == {"a": 0, "b": 0}


def refusal(plays: list[ScoredPlay], teams: Mapping[str, list[str]]) -> tuple[str, str]:
    with pytest.raises(RuleError) as refused:
        team_standings(plays, teams, MEAN)
    return refused.value.code, refused.value.text


def test_a_player_of_no_team_is_refused() -> None:
    plays, teams = four_teams()
    gone = teams["team 1"].pop(0)
    assert refusal(plays, teams) == ("player_without_team", f"{gone} is not in a team")


def test_a_player_of_two_teams_is_refused() -> None:
    plays, teams = four_teams()
    twice = teams["team 1"][0]
    teams["team 2"].append(twice)
    assert refusal(plays, teams) == ("player_in_two_teams", f"{twice} plays for team 1 and team 2")


def test_a_team_twice_at_a_wind_is_refused() -> None:
    plays, teams = four_teams()
    players = plays[1].players
    plays[1] = replace(plays[1], players={**players, "east": players["north"], "north": players["east"]})
    assert refusal(plays, teams) == ("team_incomplete", "deal 1: team 1 sits twice at east")


def test_a_team_that_is_missing_at_a_wind_is_refused() -> None:
    plays, teams = four_teams()
    assert refusal(plays[1:], teams) == ("team_incomplete", "deal 1: nobody of team 1 sits at east")


def test_a_team_cut_before_the_final_keeps_its_total_and_finalists_play_a_match() -> None:
    plays, teams = four_teams(tables=3)
    one, other, _ = teams.values()
    seated = (one[0], other[0], one[1], other[1]), (other[2], one[2], other[3], one[3])
    final = [
        ScoredPlay(2, table, dict(zip(SEATS, four, strict=True)), dict.fromkeys(SEATS, 0))
        for table, four in enumerate(seated, 1)
    ]
    final = with_points(final, {(1, "east"): 9})
    assert imps([*with_points(plays, {}), *final], teams) == {"team 1": 3, "team 2": -3, "team 3": 0}
    ranked = team_standings([*plays, *final], teams, MEAN, provisional=True)
    assert {one.plays for one in ranked} == {1}


def test_a_play_out_of_place_explains_only_the_deal_that_lacks_it() -> None:
    plays, teams = four_teams(tables=3)
    second, third = ([replace(play, deal=deal) for play in plays] for deal in (2, 3))
    apart = replace(third[2], table=3 + TABLE_OFFSET)
    ranked = team_standings([*plays, *second[:2], *third, apart], teams, MEAN)
    assert {one.plays for one in ranked} == {1}  # the first deal alone
    missing = ("team_incomplete", "deal 2: nobody of team 1 sits at south")
    assert (
        refusal([*plays, *second[:2], *third[:2], apart], teams) == missing
    )  # deal 3 was played at its planned table too
    assert (
        refusal([*plays, second[1], second[2], *third, apart], teams)[0] == "team_incomplete"
    )  # a play of another table is missing
    assert refusal([*plays, second[0], *third, apart], teams)[0] == "team_incomplete"  # two are missing


def form(plays: list[ScoredPlay], table: int, letter: str) -> list[ScoredPlay]:
    return [replace(play, form=letter * 64) if play.table == table else play for play in plays]


def test_in_a_fouled_deal_members_are_compared_within_their_form() -> None:
    plays, teams = four_teams(tables=4)
    # Team 1 is East at table 1. As tables 1 and 2 have the same form, the mean of their East is 10 and not 5.
    scores: dict[tuple[int, Seat], int] = {(1, "east"): 20}
    fouled = form(form(with_points(plays, scores), 3, "b"), 4, "b")
    assert imps(with_points(plays, scores), teams) == {"team 1": 4, "team 2": -2, "team 3": -2, "team 4": -2}
    assert imps(fouled, teams) == {"team 1": 3, "team 2": -3, "team 3": 0, "team 4": 0}


def test_a_member_alone_in_a_form_is_left_out_of_the_comparison() -> None:
    plays, teams = four_teams(tables=3)
    scores: dict[tuple[int, Seat], int] = {(1, "east"): 900, (3, "south"): 30}
    # Team 1 sits alone at table 1 as East, and with one other as South at table 3.
    assert imps(form(with_points(plays, scores), 1, "b"), teams) == {"team 1": 4, "team 2": 0, "team 3": -4}


def test_a_void_play_counts_nowhere_and_its_awards_go_to_the_teams() -> None:
    plays, teams = four_teams(tables=2)
    void = replace(plays[0], points=None, awards={"east": 3, "south": -3})
    assert imps([void, *with_points(plays[1:], {(2, "east"): 9})], teams) == {"team 1": 3, "team 2": -3}


def test_cross_imps_of_teams_are_the_mean_over_the_other_teams() -> None:
    plays, teams = four_teams(tables=3)
    cross = replace(MEAN, imp=replace(MEAN.imp, method=Setting("cross", "assumption: changed")))
    found = imps(with_points(plays, {(1, "east"): 20, (2, "east"): 9}), teams, cross)
    # Totals are 20, 9 and 0: 11 is worth 3 IMP, 20 is 5, 9 is 3.
    assert found == {"team 1": 4, "team 2": 0, "team 3": -4}


def test_provisional_standings_leave_out_incomplete_deals() -> None:
    plays, teams = four_teams(tables=2)
    second = [replace(play, deal=2) for play in plays]
    so_far = [*with_points(plays, {(1, "east"): 9}), second[0]]
    found = {one.name: (one.imp, one.plays) for one in team_standings(so_far, teams, MEAN, provisional=True)}
    assert found == {"team 1": (3, 1), "team 2": (-3, 1)}


def test_a_substitute_counts_for_the_team_of_the_replaced_player() -> None:
    plays, teams = four_teams(tables=2)
    regular = plays[0].players["east"]
    with_substitute = replace(plays[0], players={**plays[0].players, "east": "sub"}, stands_for={"east": regular})
    assert imps([with_substitute, plays[1]], teams) == imps(plays, teams)


def test_direct_comparison_compares_the_tied_teams_deal_by_deal() -> None:
    plays, teams = four_teams(tables=3)
    with_tie_break = replace(
        MEAN, ties=replace(MEAN.ties, chain=Setting(("direct_comparison",), "assumption: changed"))
    )
    # The mean is 20, so everybody has 0 IMP, but 21 is 2 above 19.
    scores: dict[tuple[int, Seat], int] = {(1, "east"): 21, (2, "east"): 20, (3, "east"): 19}
    ranked = team_standings(with_points(plays, scores), teams, with_tie_break)
    assert [one.place for one in ranked] == [1, 2, 3]
    assert {one.imp for one in ranked} == {0}


def test_without_the_own_score_a_member_is_compared_with_the_others() -> None:
    plays, teams = four_teams(tables=3)
    # 9 against a mean of 0, not of 3.
    found = imps(with_points(plays, {(1, "east"): 9}), teams, comparison_profile(own_score="excluded"))
    assert found == {"team 1": 3, "team 2": -2, "team 3": -2}


def test_a_wind_with_too_few_plays_of_the_form_is_not_compared() -> None:
    plays, teams = four_teams(tables=4)
    fouled = form(form(with_points(plays, {(1, "east"): 20}), 3, "b"), 4, "b")
    assert imps(fouled, teams, comparison_profile(smallest=3, alone=1)) == dict.fromkeys(teams, 1)


def test_points_break_ties_between_teams() -> None:
    plays, teams = four_teams(tables=3)
    with_tie_break = replace(MEAN, ties=replace(MEAN.ties, chain=Setting(("points",), "assumption: changed")))
    ranked = team_standings(with_points(plays, {(1, "east"): 1}), teams, with_tie_break)
    assert [(one.place, one.name) for one in ranked] == [(1, "team 1"), (2, "team 2"), (2, "team 3")]


def test_a_team_without_standing_is_compared_but_not_ranked() -> None:
    plays, teams = four_teams(tables=2)
    found = team_standings(with_points(plays, {(1, "east"): 9}), teams, MEAN, without_standing={"team 1"})
    assert [(one.place, one.name, one.imp) for one in found] == [(1, "team 2", -3)]
