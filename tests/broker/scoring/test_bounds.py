"""Bounds of IMPs and places, which no result of the missing plays can exceed, and likely places."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from broker.protocol import SEATS
from broker.rules import Profile, Setting, load_mcr
from broker.scorer.standings import TeamState
from broker.scoring import (
    Bounds,
    Ledger,
    Ranked,
    ScoredPlay,
    entry_bounds,
    player_standings,
    team_bounds,
    with_likely_places,
)
from tests.broker.rules.variants import FOR_TEST, seats
from tests.broker.scoring.events import (
    comparison_profile,
    individual_events,
    made,
    profiles,
    scored,
    team_events,
    team_standings,
)
from tests.broker.scoring.oracle import Play

OEDMC = load_mcr("oedmc-2020")

ENDINGS = st.one_of(st.integers(-60, 120), st.integers(-3021, 3021), st.sampled_from([-3021, -1007, 1023, 3021]))


@given(individual_events(), profiles(), st.booleans(), st.data())
def test_no_result_of_the_missing_plays_leaves_the_bounds(
    oracle_plays: list[Play],
    profile: Profile,
    with_tie_break: bool,  # noqa: FBT001 - drawn by hypothesis
    data: st.DataObject,
) -> None:
    if with_tie_break:
        profile = structs.replace(profile, ties=structs.replace(profile.ties, chain=Setting(("points",), FOR_TEST)))
    plays = [scored(play) for play in oracle_plays]
    cut = data.draw(st.integers(0, len(plays)))
    ended = [
        structs.replace(
            play,
            points={seat: data.draw(ENDINGS) for seat in SEATS},
            form=data.draw(st.sampled_from([play.form, "a" * 64, "c" * 64])),
            fines={},
        )
        for play in plays[cut:]
    ]
    bounds = entry_bounds(Ledger.of(plays[:cut], profile), plays[cut:])
    for one in player_standings(Ledger.of([*plays[:cut], *ended], profile)):
        reach = bounds[one.name]
        assert reach.least <= one.imp <= reach.most
        assert reach.best <= one.place <= reach.worst


@given(individual_events(), profiles())
def test_without_missing_plays_the_bounds_are_the_standings(oracle_plays: list[Play], profile: Profile) -> None:
    ledger = Ledger.of(map(scored, oracle_plays), profile)
    expected = {one.name: Bounds(one.imp, one.imp, one.place, one.place) for one in player_standings(ledger)}
    assert entry_bounds(ledger, ()) == expected


def test_complete_deals_are_fixed_and_an_own_missing_play_spans_the_whole_scale() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    to_come = made([seats(0, 0, 0, 0)], deal=2)
    found = entry_bounds(Ledger.of(plays, OEDMC), to_come)
    assert found["p2e"] == Bounds(-2, -2, best=4, worst=8)
    assert found["p1e"] == Bounds(2 - 24, 2 + 24, best=1, worst=8)


def test_a_missing_play_in_a_large_field_moves_the_others_little() -> None:
    plays = made([seats(0, 0, 0, 0)] * 1000)
    to_come = [structs.replace(plays[0], table=1001, players={seat: f"new {seat}" for seat in SEATS})]
    found = entry_bounds(Ledger.of(plays, OEDMC), to_come)
    # One score of 3 x (999 + 8) among a thousand scores of 0 makes a mean of 3.02, which is worth 1 IMP.
    assert (found["p1e"].least, found["p1e"].most) == (-1, 1)


def test_a_missing_play_of_another_section_moves_nobody() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0)])
    to_come = [structs.replace(plays[0], section="B", players={seat: f"new {seat}" for seat in SEATS})]
    found = entry_bounds(Ledger.of(plays, OEDMC), to_come)
    assert (found["p1e"].least, found["p1e"].most) == (2, 2)


def test_the_bounds_include_the_imps_of_a_group_that_stays_too_small() -> None:
    plays = made([seats(0, 0, 0, 0)])
    to_come = [structs.replace(plays[0], table=2, players={seat: f"new {seat}" for seat in SEATS})]
    found = entry_bounds(Ledger.of(plays, comparison_profile(alone=30)), to_come)
    assert (found["p1e"].least, found["p1e"].most) == (-24, 30)


@given(team_events(), profiles(), st.data())
def test_no_result_of_the_remaining_deals_leaves_the_bounds_of_teams(
    event: tuple[list[Play], dict[str, str]], profile: Profile, data: st.DataObject
) -> None:
    plays, team_of = event
    teams: dict[str, list[str]] = {}
    for player, name in team_of.items():
        teams.setdefault(name, []).append(player)
    deals = sorted({play.deal for play in plays})
    played_deals = data.draw(st.sets(st.sampled_from(deals)))
    ended = [
        structs.replace(scored(play), points={seat: data.draw(ENDINGS) for seat in SEATS}, fines={}, awards={})
        for play in plays
    ]
    now = team_standings([play for play in ended if play.deal in played_deals], teams, profile, provisional=True)
    reach = team_bounds(now, len(deals) - len(played_deals), profile)
    for line in team_standings(ended, teams, profile):
        least, most, best, worst, _ = reach[line.name]
        assert least <= line.imp <= most
        assert best <= line.place <= worst


def test_a_lead_that_cannot_be_caught_fixes_the_place_of_a_team() -> None:
    lead = [Ranked(1, "a", 60, 0, 4), Ranked(2, "b", 11, 0, 4), Ranked(3, "c", -71, 0, 4)]
    reach = team_bounds(lead, 1, OEDMC)
    assert {name: (one.best, one.worst) for name, one in reach.items()} == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}
    reach = team_bounds(lead, 2, OEDMC)
    assert {name: (one.best, one.worst) for name, one in reach.items()} == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}
    assert {one.least for one in team_bounds(lead, 0, OEDMC).values()} == {60, 11, -71}


def league(seed: int, players: int, deals: int) -> list[ScoredPlay]:
    """Return plays by players of equal strength. Each deal is played at all tables with newly drawn seats."""
    rng, plays = Random(seed), list[ScoredPlay]()
    for deal in range(1, deals + 1):
        drawn = rng.sample(range(players), players)
        for table in range(players // 4):
            four = dict(zip(SEATS, (f"p{one:03}" for one in drawn[4 * table : 4 * table + 4]), strict=True))
            plays.append(ScoredPlay(deal, table + 1, four, {seat: round(rng.gauss(0, 21)) for seat in SEATS}))
    return plays


def likely_bounds(plays: list[ScoredPlay], played: int) -> dict[str, Bounds]:
    """Return the bounds after the first `played` plays."""
    ledger = Ledger.of(plays[:played], OEDMC, (name for play in plays for name in play.entries))
    to_come = plays[played:]
    joining = Counter((play.deal, "") for play in to_come)
    waiting = np.array([ledger.entries.number[name] for play in to_come for name in play.entries], dtype=np.int64)
    return with_likely_places(entry_bounds(ledger, to_come), ledger, ledger.entries, joining, waiting)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.97])
def test_eight_of_ten_players_end_within_their_likely_places(share: float) -> None:
    """Check 20 reproducible random leagues, stopped at any play, also within a deal."""
    within = list[bool]()
    for seed in range(20):
        plays = league(seed, 24, 10)
        likely = likely_bounds(plays, int(share * len(plays)))
        for one in player_standings(Ledger.of(plays, OEDMC)):
            low, high = likely[one.name].likely or (0, 0)
            within.append(low <= one.place <= high)
    assert 0.72 < sum(within) / len(within) < 0.93


def test_likely_places_are_narrower_than_the_bounds_and_reproducible() -> None:
    plays = league(1, 12, 6)
    found = likely_bounds(plays, len(plays) - 1)
    assert likely_bounds(plays, len(plays) - 1) == found
    assert {(one.best, one.worst) for one in found.values()} != {(one.best, one.best) for one in found.values()}
    spans = [(one.likely[1] - one.likely[0], one.worst - one.best) for one in found.values() if one.likely]
    assert len(spans) == 12
    assert all(likely <= reach for likely, reach in spans)
    assert sum(likely for likely, _ in spans) < sum(reach for _, reach in spans) / 3
    assert all(one.best <= one.likely[0] <= one.likely[1] <= one.worst for one in found.values() if one.likely)


def test_likely_places_are_not_given_after_few_plays() -> None:
    assert {one.likely for one in likely_bounds(league(1, 12, 6), 7).values()} == {None}


def team_league(seed: int, teams: int, deals: int) -> tuple[list[ScoredPlay], dict[str, list[str]]]:
    """Return plays by teams of equal strength. In each deal, the teams are drawn at each wind."""
    rng, plays, names = Random(seed), list[ScoredPlay](), [f"t{one}" for one in range(teams)]
    for deal in range(1, deals + 1):
        sat = {seat: rng.sample(names, teams) for seat in SEATS}
        for table in range(teams):
            four = {seat: f"{sat[seat][table]} {seat}" for seat in SEATS}
            plays.append(ScoredPlay(deal, table + 1, four, {seat: round(rng.gauss(0, 21)) for seat in SEATS}))
    return plays, {name: [f"{name} {seat}" for seat in SEATS] for name in names}


@pytest.mark.parametrize("played", [3, 8, 14])
def test_eight_of_ten_teams_end_within_their_likely_places(played: int) -> None:
    """Check 10 reproducible random leagues of 16 teams. With few teams, whole places would cover more than 80 %."""
    within = list[bool]()
    for seed in range(10):
        plays, teams = team_league(seed, 16, 16)
        state = TeamState({name: tuple(players) for name, players in teams.items()}, OEDMC)
        ledger = Ledger.of([play for play in plays if play.deal <= played], OEDMC)
        state.update(ledger, range(1, played + 1), lambda _: True)
        reach = team_bounds(state.ranked(), 16 - played, OEDMC, state.won)
        for line in team_standings(plays, teams, OEDMC):
            low, high = reach[line.name].likely or (0, 0)
            assert reach[line.name].best <= low <= high <= reach[line.name].worst
            within.append(low <= line.place <= high)
    assert 0.72 < sum(within) / len(within) < 0.93


def test_likely_places_of_teams_are_not_given_after_few_or_all_deals() -> None:
    lead = [Ranked(1, "a", 60, 0, 4), Ranked(2, "b", 11, 0, 4), Ranked(3, "c", -71, 0, 4)]
    assert {one.likely for one in team_bounds(lead, 2, OEDMC, [5] * 7).values()} == {None}
    assert {one.likely for one in team_bounds(lead, 0, OEDMC, [5] * 9).values()} == {None}
