"""The standings of teams in stages: by sections, of the deals of the stage, with a part of the stage before."""

from collections.abc import Callable
from fractions import Fraction
from random import Random

from broker.event import Event, Plan
from broker.event.structure import Structure, structured_plan
from broker.protocol import LogMessage, Result
from broker.rulings.final import draft_stage
from broker.scorer import EventState, standings_csv
from tests.broker.rulings.ruled import ruling
from tests.broker.scorer.small import registry
from tests.broker.scorer.staged import BOUNDS, PLAYERS, places, play_rounds, staged_deals, staged_event, whole

TEAMS = {f"Team {at}": tuple(one.id for one in PLAYERS[4 * at : 4 * at + 4]) for at in range(4)}


def at_once() -> Callable[[], bool]:
    """Search for nothing."""
    return lambda: False


def teams_in_sections() -> Event:
    """Return an event of four teams in two sections, whose winners play a final of two deals for half their IMPs."""
    plan = Plan("cup", "Cup", "oedmc-2020", PLAYERS, teams=TEAMS)
    return Event(structured_plan(plan, Structure(2, 2, 2, 2, "1/2"), Random(1), at_once), staged_deals(), registry())


def imps_of(results: list[Result], sections: dict[str, tuple[str, str]]) -> dict[str, int]:
    """Return the IMPs of teams that meet in pairs, recomputed: the difference of their points in each deal."""
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


def test_the_file_of_standings_names_stage_and_section_of_an_event_in_stages_alone() -> None:
    room = EventState(staged_event())
    lines = standings_csv(room.snapshot().standings).splitlines()
    assert (lines[0].endswith(",stage,section"), lines[1].endswith(",Qualification,A")) == (True, True)
