"""Players without standing are compared with all but take no place; IMPs of an earlier event are carried over."""

from fractions import Fraction
from random import Random

import pytest
from msgspec.structs import replace

from broker.event import BookedPlay, Earlier, Event, Plan
from broker.event.earlier import EarlierPlace
from broker.protocol import SEATS, PlayerCorrected, Undo
from broker.rulings.final import draft_stage, qualified
from broker.rulings.plan_draft import PlanWishes, draft_change, plan_facts
from broker.scorer import (
    EventState,
    deal_sheet,
    open_part,
    player_sheet,
    standings_history,
    standings_table,
    team_sheet,
)
from tests.broker.rulings.ruled import ruling
from tests.broker.scorer.small import deals, registry
from tests.broker.scorer.staged import STAGES, places, play_rounds, staged_deals, staged_plan, whole
from tests.broker.scorer.team_event import TEAMS, said, team_event

PLAIN = replace(
    staged_plan(),
    stages=(),
    plays=tuple(
        BookedPlay(round_, table, 1 + (table + round_) % 4, {seat: f"p{4 * table - 3 + at:02}" for at, seat in _seats})
        for _seats in (tuple(enumerate(SEATS)),)
        for round_ in range(1, 5)
        for table in range(1, 5)
    ),
    copies=1,
)
"""The players of the event in stages, all of them at one table all day."""


def with_guests(plan: Plan, *guests: str) -> Plan:
    """Return a plan in which some players have no standing."""
    return replace(plan, players=tuple(replace(one, without_standing=one.id in guests) for one in plan.players))


def room_of(plan: Plan, rounds: int = 2, seed: int = 5) -> EventState:
    """Return the state after the first rounds of a plan."""
    room = EventState(Event(plan, staged_deals(), registry()))
    room.load(play_rounds(room.planned, range(1, rounds + 1), Random(seed), {}))
    return room


def ranked(room: EventState) -> dict[str, tuple[int, int]]:
    """Return place and IMPs of everybody who has a place."""
    return {row.player: (row.place, int(row.imp)) for row in room.snapshot().standings}


@pytest.mark.parametrize("seed", range(4))
def test_a_guests_plays_are_compared_but_take_no_place(seed: int) -> None:
    room, all_ranked = room_of(with_guests(PLAIN, "p01", "p09"), 4, seed), room_of(PLAIN, 4, seed)
    imps = {player: imp for player, (_, imp) in ranked(all_ranked).items()}
    assert ranked(room) == places(imps, imps.keys() - {"p01", "p09"})
    assert [group.datum for group in room.groups()] == [group.datum for group in all_ranked.groups()]
    table = standings_table(room.snapshot())
    assert table.without_standing == ("Player 1", "Player 9")


def test_a_guest_is_marked_on_the_sheet_and_the_traveller() -> None:
    snapshot = room_of(with_guests(PLAIN, "p01"), 4).snapshot()
    sheet = player_sheet(snapshot, standings_table(snapshot), "p01")
    assert (sheet.without_standing, sheet.rung, len(sheet.plays)) == (True, None, 4)
    lines = [
        (line.player, line.without_standing)
        for group in deal_sheet(snapshot, 1).groups
        for play in group.plays
        for line in play.seats.values()
    ]
    assert {player for player, guest in lines if guest} == {"p01"}


def test_bounds_and_likely_places_leave_guests_out() -> None:
    snapshot = open_part(room_of(with_guests(PLAIN, "p01", "p02", "p03", "p04"), 3).snapshot())
    rungs = standings_table(snapshot).rungs
    assert len(rungs) == 12
    assert max(rung.worst for rung in rungs) <= 12
    assert all(rung.likely is None or rung.likely[1] <= 12 for rung in rungs)


def test_a_player_without_standing_does_not_qualify() -> None:
    before = [one.name for one in qualified(room_of(staged_plan(), seed=7), STAGES[1])]
    best = before[0]
    room = room_of(with_guests(staged_plan(), best), seed=7)
    now = [one.name for one in qualified(room, STAGES[1])]
    assert (len(now), best in now, len(set(before) - set(now))) == (8, False, 1)
    room.apply(ruling(room, draft_stage(room, STAGES[1])))
    assert all(best not in play.players.values() for play in room.planned.plan.plays if play.round > 2)


def test_a_late_guest_enters_without_standing_and_may_be_given_one_later() -> None:
    room = room_of(PLAIN, 1)
    change = draft_change(
        plan_facts(room), PlanWishes(replaced={"p16": "Zoë"}, without_standing=True), Random(1), lambda _: lambda: False
    )
    room.apply(ruling(room, change))
    assert ([one.name for one in room.event.guests], "p17" in ranked(room)) == (["Zoë"], False)
    said_so = ruling(room, PlayerCorrected(player="p17", name="Zoë", without_standing=False))
    room.apply(said_so)
    assert ("p17" in ranked(room), room.event.guests) == (True, ())
    room.apply(ruling(room, Undo(ruling=said_so.id)))
    assert "p17" not in ranked(room)


def test_a_correction_of_a_name_leaves_a_guest_a_guest() -> None:
    room = room_of(with_guests(PLAIN, "p01"), 1)
    room.apply(ruling(room, PlayerCorrected(player="p01", name="Zoë")))
    assert [one.name for one in room.event.guests] == ["Zoë"]


def team_room(plan: Plan) -> EventState:
    """Return the state of the team event after all plays."""
    room = EventState(Event(plan, deals(), registry()))
    for table in range(1, 5):
        for round_ in range(1, 5):
            for message in said(table, round_, 8 + 3 * table * round_):
                room.apply(message)
    return room


def test_a_team_of_guests_is_compared_and_not_ranked() -> None:
    usual, plan = team_room(team_event().plan), with_guests(team_event().plan, *TEAMS["Team A"])
    room = team_room(plan)
    imps = {row.team: int(row.imp) for row in usual.team_rows()}
    assert {row.team: (row.place, row.imp) for row in room.team_rows()} == places(imps, imps.keys() - {"Team A"})
    assert room.event.unranked_names == ("Team A",)
    assert team_sheet(room.snapshot(), standings_table(room.snapshot()), 1).beside == 0


def test_a_team_has_standing_if_any_of_its_players_has() -> None:
    room = team_room(with_guests(team_event().plan, *TEAMS["Team A"][1:]))
    assert {row.team for row in room.team_rows()} == TEAMS.keys()


# ---- an event that begins from the standings of another --------------------------------------------------------------

BEFORE = Earlier("Saturday", "2/3", tuple(EarlierPlace(f"p{at:02}", at, 50 - 7 * at) for at in range(1, 9)))


@pytest.mark.parametrize("seed", range(4))
def test_two_thirds_of_an_earlier_event_are_added_to_the_plays(seed: int) -> None:
    room, alone = room_of(replace(PLAIN, earlier=BEFORE), 4, seed), room_of(PLAIN, 4, seed)
    carried = {one.name: whole(int(one.imp) * Fraction(2, 3)) for one in BEFORE.players}
    imps = {player: imp + carried.get(player, 0) for player, (_, imp) in ranked(alone).items()}
    assert ranked(room) == places(imps, imps)
    table = standings_table(room.snapshot())
    assert {rung.player: rung.carried for rung in table.rungs if rung.carried} == carried
    assert table.earlier == "Saturday"


def test_the_history_begins_with_the_carried_over_imps() -> None:
    snapshot = room_of(replace(PLAIN, earlier=BEFORE), 4).snapshot()
    (line,) = standings_history(snapshot, ["p01"]).lines
    assert line.imps[-1] == ranked(room_of(replace(PLAIN, earlier=BEFORE), 4))["p01"][1]


def test_carried_over_imps_are_public_before_the_first_play() -> None:
    snapshot = open_part(EventState(Event(replace(PLAIN, earlier=BEFORE), staged_deals(), registry())).snapshot())
    assert [row.imp for row in snapshot.standings[:2]] == [29, 24]


def test_in_stages_the_carry_over_of_an_earlier_event_counts_in_the_first() -> None:
    room = room_of(replace(staged_plan(), earlier=BEFORE))
    alone = room_of(staged_plan())
    carried = {one.name: whole(int(one.imp) * Fraction(2, 3)) for one in BEFORE.players}
    had = {line.player: int(line.imp) for line in alone.snapshot().standings}
    assert {line.player: int(line.imp) for line in room.snapshot().standings} == {
        player: imp + carried.get(player, 0) for player, imp in had.items()
    }
    assert {rung.player: rung.carried for rung in standings_table(room.snapshot()).rungs if rung.carried} == carried


def test_adjustments_and_carry_over_count_once_and_survive_a_change_of_the_plan() -> None:
    plan = replace(PLAIN, earlier=BEFORE)
    room, again = room_of(plan, 1), room_of(plan, 1)
    change = draft_change(plan_facts(room), PlanWishes(replaced={"p16": "Zoë"}), Random(1), lambda _: lambda: False)
    room.apply(ruling(room, change))
    imps = {name: imp for name, (_, imp) in ranked(again).items()}
    assert {name: imp for name, (_, imp) in ranked(room).items()} == {**imps, "p17": 0}


def test_teams_carry_over_their_own_imps() -> None:
    usual = team_room(team_event().plan)
    before = Earlier("Saturday", "50%", teams=(EarlierPlace("Team B", 1, 21), EarlierPlace("Team A", 2, -9)))
    room = team_room(replace(team_event().plan, earlier=before))
    carried = {"Team A": -5, "Team B": 11}
    imps = {row.team: int(row.imp) + carried.get(row.team, 0) for row in usual.team_rows()}
    assert {row.team: (row.place, row.imp) for row in room.team_rows()} == places(imps, imps)
    sheet = team_sheet(room.snapshot(), standings_table(room.snapshot()), 2)
    assert (sheet.carried, sheet.beside) == (11, 0)
