"""A team's sheet is the team's line of the standings, deal by deal, and shows who sat where for it."""

from fractions import Fraction

import pytest

from broker.contract.rulings import Award, SeatsPlayed
from broker.contract.words import SEATS
from broker.scorer.room import Room
from broker.scorer.sheets.ladder import ladder
from broker.scorer.sheets.team import TeamSheet, team_sheet
from tests.broker.scorer.rulings.ruled import AT, ruling
from tests.broker.scorer.team_event import TEAMS, said, seated, team_event

PLAYS = tuple(team_event().bookings)


def room_of(plays: int) -> Room:
    """Give the room after so many plays."""
    room = Room(team_event())
    room.load(said(*place) for place in PLAYS[:plays])
    return room


def sheets(room: Room) -> list[TeamSheet]:
    moment = room.moment()
    return [team_sheet(moment, ladder(moment, AT), number) for number in range(1, len(TEAMS) + 1)]


def test_the_deals_of_a_sheet_add_up_to_the_line_in_the_standings() -> None:
    room = room_of(len(PLAYS))
    room.apply(ruling(room, Award(gives={"p01": 3})))
    for sheet, (name, members) in zip(sheets(room), TEAMS.items(), strict=True):
        assert sheet.standing is not None
        assert (sheet.team, tuple(one.player for one in sheet.members), sheet.final) == (name, members, True)
        assert Fraction(sheet.standing.imp) == sum(Fraction(one.imp) for one in sheet.deals) + Fraction(sheet.beside)
        assert sheet.beside == (3 if "p01" in members else 0)


def test_the_four_seats_of_a_deal_are_those_who_sat_there_with_their_points() -> None:
    for sheet in sheets(room_of(len(PLAYS))):
        for deal in sheet.deals:
            points = 0
            for seat in SEATS:
                sat = deal.seats[seat]
                (round_,) = [key[1] for key in PLAYS if key[0] == sat.table and (sum(key) % 4) + 1 == deal.deal]
                assert seated(sat.table, round_)[seat] == sat.player
                points += sat.points or 0
            assert points == deal.points


def test_a_deal_that_a_table_has_yet_to_play_is_on_no_sheet_and_before_the_first_there_is_no_place() -> None:
    assert [(sheet.deals, sheet.standing) for sheet in sheets(room_of(3))] == [((), None)] * 4
    counts = room_of(len(PLAYS) - 1)
    last = team_event().bookings[PLAYS[-1]].deal
    assert [{one.deal for one in sheet.deals} for sheet in sheets(counts)] == [{1, 2, 3, 4} - {last}] * 4


def test_a_deal_in_which_a_team_sat_twice_at_a_wind_is_named_and_counts_for_none() -> None:
    room = room_of(len(PLAYS))
    here = team_event().bookings[PLAYS[0]]
    swapped = {**here.players, "east": here.players["west"], "west": here.players["east"]}
    room.apply(ruling(room, SeatsPlayed(players=swapped), PLAYS[0]))
    assert [(sheet.left_out, here.deal in {one.deal for one in sheet.deals}) for sheet in sheets(room)] == [
        ((here.deal,), False)
    ] * 4


@pytest.mark.parametrize("number", [-1, 0, 5])
def test_there_is_no_sheet_of_a_team_that_is_not_there(number: int) -> None:
    moment = room_of(0).moment()
    with pytest.raises(KeyError):
        team_sheet(moment, ladder(moment, AT), number)
