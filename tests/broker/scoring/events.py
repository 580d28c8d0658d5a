"""Events for tests, as plays of the oracle and of broker.scoring."""

from collections.abc import Collection, Iterable, Mapping
from itertools import count
from typing import Final, Literal

from hypothesis import strategies as st
from msgspec import structs

from broker.protocol import SEATS, Seat
from broker.rules import DatumRules, Profile, Setting, load_mcr
from broker.rules.profile import SmallGroupRules
from broker.scoring import Ranking, ScoredPlay, team
from tests.broker.rules.variants import FOR_TEST
from tests.broker.scoring.oracle import Line, Play

OEDMC: Final = load_mcr("oedmc-2020")


def scored(play: Play) -> ScoredPlay:
    """Return a play of the oracle as a `ScoredPlay`."""
    return ScoredPlay(
        deal=play.deal,
        table=play.table,
        players={seat: play.lines[seat].player for seat in SEATS},
        points={seat: play.lines[seat].points for seat in SEATS},
        fines={seat: play.lines[seat].fine for seat in SEATS if play.lines[seat].fine},
        form=play.form or None,
    )


def made(points: Iterable[Mapping[Seat, int]], deal: int = 1, form: str | None = None) -> list[ScoredPlay]:
    """Return the plays of one deal at tables 1, 2, 3, ... with these points."""
    return [
        ScoredPlay(deal, table, {seat: f"p{table}{seat[0]}" for seat in SEATS}, dict(of_seat), form=form)
        for table, of_seat in enumerate(points, 1)
    ]


POINTS = st.one_of(st.integers(-60, 120), st.integers(-999, 999), st.sampled_from([-8, 0, 32, 42]))
FINES = st.sampled_from([0, 0, 0, 0, 4, 8])


@st.composite
def individual_events(draw: st.DrawFn) -> list[Play]:
    """Draw an event of several deals, tables and forms in which everybody plays a deal once."""
    tables = draw(st.integers(1, 5))
    everybody = [f"p{number:02}" for number in range(1, 4 * tables + 1)]
    plays = []
    for deal in range(1, draw(st.integers(1, 4)) + 1):
        sitting = iter(draw(st.permutations(everybody)))
        for table in draw(st.lists(st.integers(1, tables), unique=True)):
            lines = {seat: Line(next(sitting), draw(POINTS), draw(FINES)) for seat in SEATS}
            plays.append(Play(deal, table, lines, draw(st.sampled_from(["", "a" * 64, "b" * 64]))))
    return plays


@st.composite
def team_events(draw: st.DrawFn) -> tuple[list[Play], dict[str, str]]:
    """Draw an event of two to five teams of four. In each deal, a team sits once at each wind."""
    names = [f"team {letter}" for letter in "abcde"[: draw(st.integers(2, 5))]]
    members = {name: [f"{name[-1]}{number}" for number in range(1, 5)] for name in names}
    plays = []
    for deal in range(1, draw(st.integers(1, 3)) + 1):
        at_seat = {seat: draw(st.permutations(names)) for seat in SEATS}
        member = {(n, seat): m for n in names for seat, m in zip(SEATS, draw(st.permutations(members[n])), strict=True)}
        for table in range(1, len(names) + 1):
            who = {seat: member[at_seat[seat][table - 1], seat] for seat in SEATS}
            lines = {seat: Line(who[seat], draw(POINTS), draw(FINES)) for seat in SEATS}
            plays.append(Play(deal, table, lines))
    return plays, {player: name for name, players in members.items() for player in players}


def four_teams(tables: int = 4) -> tuple[list[ScoredPlay], dict[str, list[str]]]:
    """Return one deal in which teams 1, 2, 3, ... sit once at each wind, everybody with 0 points."""
    teams: dict[str, list[str]] = {f"team {number}": [] for number in range(1, tables + 1)}
    number = count(1)
    plays = []
    for table in range(tables):
        players: dict[Seat, str] = {}
        for at, seat in enumerate(SEATS):
            players[seat] = f"p{next(number):02}"
            teams[f"team {(table + at) % tables + 1}"].append(players[seat])
        plays.append(ScoredPlay(1, table + 1, players, dict.fromkeys(SEATS, 0)))
    return plays, teams


def comparison_profile(
    *,
    own_score: Literal["included", "excluded"] = "included",
    rounding: Literal["none", "tenth", "whole"] = "none",
    method: Literal["datum", "cross"] = "datum",
    gap: Literal["midpoint", "floor"] = "midpoint",
    smallest: int = 2,
    alone: int = 0,
) -> Profile:
    """Return the default profile with other settings of the comparison."""
    imp = structs.replace(OEDMC.imp, method=Setting(method, FOR_TEST), gap=Setting(gap, FOR_TEST))
    small = SmallGroupRules(Setting(smallest, FOR_TEST), Setting(alone, FOR_TEST))
    datum = DatumRules(Setting(own_score, FOR_TEST), Setting(rounding, FOR_TEST))
    return structs.replace(OEDMC, imp=imp, datum=datum, small_group=small)


def profiles() -> st.SearchStrategy[Profile]:
    """Return a strategy for all settings of the comparison."""
    return st.builds(
        comparison_profile,
        own_score=st.sampled_from(["included", "excluded"]),
        rounding=st.sampled_from(["none", "tenth", "whole"]),
        method=st.sampled_from(["datum", "cross"]),
        gap=st.sampled_from(["midpoint", "floor"]),
        smallest=st.integers(2, 4),
        alone=st.sampled_from([0, 0, -3, 2]),
    )


def team_standings(
    plays: Iterable[ScoredPlay],
    teams: team.Teams,
    profile: Profile,
    *,
    provisional: bool = False,
    without_standing: Collection[str] = (),
) -> Ranking:
    """Return the teams' ranking. Provisional standings leave out deals that not all teams have played yet."""
    deals = team.comparable_deals(plays, teams, provisional=provisional).lineups
    return team.standings_of_deals(deals, teams, profile, without_standing=without_standing)
