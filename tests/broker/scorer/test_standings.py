"""The standings of teams in stages, with part of the previous stage; standings as CSV that spreadsheets open safely."""

import csv
import io
from collections.abc import Callable
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event import Event, Origin, Plan
from broker.event.structure import Structure, structured_plan
from broker.protocol import LogMessage, Player, Result, Standing
from broker.rulings.final import draft_stage
from broker.scorer import EventState, standing_rows, standings_csv
from broker.scoring import Ranked
from tests.broker.rulings.ruled import ruling
from tests.broker.scorer.small import registry
from tests.broker.scorer.staged import BOUNDS, PLAYERS, places, play_rounds, staged_deals, staged_event, whole

TEAMS = {f"Team {at}": tuple(one.id for one in PLAYERS[4 * at : 4 * at + 4]) for at in range(4)}


def at_once() -> Callable[[], bool]:
    """Return no search."""
    return lambda: False


def teams_in_sections() -> Event:
    """Return an event of four teams in two sections. The winners play a final of two deals, for half their IMPs."""
    plan = Plan("cup", "Cup", "oedmc-2020", PLAYERS, teams=TEAMS)
    return Event(structured_plan(plan, Structure(2, 2, 2, 2, "1/2"), Random(1), at_once), staged_deals(), registry())


def imps_of(results: list[Result], sections: dict[str, tuple[str, str]]) -> dict[str, int]:
    """Return the IMPs of teams that meet in pairs, computed from the difference of their points in each deal."""
    team_of = {player: team for team, members in TEAMS.items() for player in members}
    points: dict[tuple[int, str], int] = {}
    for result in results:
        for seat, player in result.players.items():
            key = result.deal, team_of[player]
            points[key] = points.get(key, 0) + result.points[seat]
    found: dict[str, int] = {}
    for (deal, team), own in points.items():
        if team in sections:
            one, other = sections[team]
            off = own - points[deal, other if team == one else one]
            size = sum(abs(off) >= Fraction(2 * bound - 1, 2) for bound in BOUNDS)
            found[team] = found.get(team, 0) + (size if off > 0 else -size)
    return found


def test_teams_are_ranked_in_their_section_and_in_the_final_with_half_of_the_qualification() -> None:
    event, said, chance = teams_in_sections(), dict[int, int](), Random(4)
    room = EventState(event)
    messages: list[LogMessage] = play_rounds(room.planned, event.plan.stages[0].rounds, chance, said)
    room.load(messages)
    pairs = {team: pair for pair in (("Team 0", "Team 2"), ("Team 1", "Team 3")) for team in pair}
    first = imps_of([one.fact for one in messages if isinstance(one.fact, Result)], pairs)
    rows = {row.team: (row.stage, row.section, row.place, row.imp) for row in room.team_rows()}
    assert rows == {
        team: ("Qualification", section, *of)
        for section, pair in (("A", ("Team 0", "Team 2")), ("B", ("Team 1", "Team 3")))
        for team, of in places(first, pair).items()
    }
    room.apply(ruling(room, draft_stage(room, event.plan.stages[1])))
    more = play_rounds(room.planned, event.plan.stages[1].rounds, chance, said)
    for one in more:
        room.apply(one)
    finalists = tuple(sorted(team for team, row in rows.items() if row[2] == 1))
    assert len(finalists) == 2
    final = imps_of([one.fact for one in more if isinstance(one.fact, Result)], dict.fromkeys(finalists, finalists))
    total = {team: final[team] + whole(Fraction(first[team], 2)) for team in finalists}
    now = {row.team: (row.stage, row.place, row.imp) for row in room.team_rows()}
    assert {team: now[team] for team in finalists} == {
        team: ("Final", *of) for team, of in places(total, finalists).items()
    }
    assert {team: row[:1] for team, row in now.items() if team not in finalists} == {
        team: ("Qualification",) for team in TEAMS if team not in finalists
    }
    assert (room.over, [line.name for line in room.team_standings()][:2]) == (
        True,
        sorted(finalists, key=lambda team: -total[team]),
    )


def test_only_an_event_in_stages_has_stage_and_section_in_its_standings_file() -> None:
    room = EventState(staged_event())
    lines = standings_csv(room.snapshot().standings).splitlines()
    assert (lines[0].endswith(",stage,section"), lines[1].endswith(",Qualification,A")) == (True, True)


def row(name: str, player: str = "p01") -> Standing:
    return Standing(place=1, player=player, name=name, imp=-3, fines=4, plays=2)


def name_in(text: str) -> str:
    """Return the name in the second line of a CSV file."""
    _, (_, _, name, *_) = csv.reader(io.StringIO(text, newline=""))
    return name


def test_the_standings_file_is_the_same_to_the_byte() -> None:
    assert standings_csv([row("Ana")]) == "place,player,name,imp,fines,plays,country,club\r\n1,p01,Ana,-3,4,2,,\r\n"


def test_country_and_club_are_the_last_columns_and_never_formulas() -> None:
    written = standings_csv([row("Ana")], {"p01": Origin("FR", "=Club")}.__getitem__)
    assert written.splitlines()[1] == "1,p01,Ana,-3,4,2,FR,'=Club"


def test_fractional_imps_are_written_as_decimals_and_not_like_dates() -> None:
    mean = Standing(place=1, player="p01", name="Ana", imp="-7/3", fines=0, plays=2)
    assert standings_csv([mean]).splitlines()[1].split(",")[3] == "-2.333"


def test_standings_without_players_are_only_the_header() -> None:
    assert standings_csv([]) == "place,player,name,imp,fines,plays,country,club\r\n"


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", " =", "\u3000＝"])
def test_a_name_like_a_formula_is_written_as_text(first: str) -> None:
    assert name_in(standings_csv([row(f"{first}1+1")])) == f"'{first}1+1"


def test_a_player_id_like_a_formula_is_written_as_text() -> None:
    assert standings_csv([row("Ana", player="-1")]).splitlines()[1] == "1,'-1,Ana,-3,4,2,,"


def test_numbers_stay_numbers() -> None:
    assert standings_csv([row("Ana")]).splitlines()[1].split(",")[3] == "-3"


@pytest.mark.parametrize(
    "name", ["Li, Wei", 'Ana "Tiger" Silva', "two\nlines", "李伟", "Zoë", "a'b", "x=1", "O’Neill - Tom"]
)
def test_every_other_name_is_written_unchanged(name: str) -> None:
    assert name_in(standings_csv([row(name)])) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_no_name_begins_a_formula_and_none_is_lost(name: str) -> None:
    cell = name_in(standings_csv([row(name)]))
    assert cell in {name, f"'{name}"}
    assert cell[0] not in "=+-@\t\r\n＝＋－＠"
    assert cell.lstrip()[:1] not in {*"=+-@＝＋－＠"}


def test_the_lines_have_the_names_of_the_players() -> None:
    ranked = [Ranked(1, "p01", 3, 4, 2), Ranked(2, "p02", 1, 0, 2), Ranked(3, "gone", 0, 0, 1)]
    named = standing_rows(ranked, {"p01": Player(id="p01", name="Ana"), "p02": Player(id="p02", name="Ben")})
    assert [(one.place, one.player, one.name, one.imp, one.fines, one.plays) for one in named] == [
        (1, "p01", "Ana", 3, 4, 2),
        (2, "p02", "Ben", 1, 0, 2),
        (3, "gone", "gone", 0, 0, 1),
    ]
