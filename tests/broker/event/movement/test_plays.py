"""All faults of a movement are found, and no others are reported."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event.movement import MovementOrder, NumberedPlay, check_movement, check_teams, sixteen_players
from broker.protocol import SEATS
from tests.broker.event.movement.making import made
from tests.broker.event.movement.oracle import is_sound

ORDERS = (
    MovementOrder(16, 4, 5, copies=4),
    MovementOrder(16, 4, 5, deals_per_round=4),
    MovementOrder(20, 5, 5),
    MovementOrder(18, 4, 4),
    MovementOrder(8, 2, 4),
)


def with_play(plays: Sequence[NumberedPlay], at: int, **new: object) -> list[NumberedPlay]:
    return [replace(play, **new) if place == at else play for place, play in enumerate(plays)]  # type: ignore[arg-type] # fields of any type, by their names


def codes(plays: Sequence[NumberedPlay], copies: int = 1) -> set[str]:
    return {fault.code for fault in check_movement(plays, copies)}


@st.composite
def corrupted(draw: st.DrawFn) -> tuple[list[NumberedPlay], int]:
    """Return a movement in which one play has another player, deal, table or round."""
    order = draw(st.sampled_from(ORDERS))
    plays = made(order, 2)
    at = draw(st.integers(0, len(plays) - 1))
    kind = draw(st.sampled_from(["player", "deal", "table", "round", "two players"]))
    if kind == "player":
        seat, player = draw(st.sampled_from(SEATS)), draw(st.integers(1, order.players))
        return with_play(plays, at, players={**plays[at].players, seat: player}), order.copies
    if kind == "two players":
        other = draw(st.integers(0, len(plays) - 1))
        one, two = draw(st.sampled_from(SEATS)), draw(st.sampled_from(SEATS))
        first = with_play(plays, at, players={**plays[at].players, one: plays[other].players[two]})
        return with_play(first, other, players={**plays[other].players, two: plays[at].players[one]}), order.copies
    return with_play(plays, at, **{kind: draw(st.integers(1, 21))}), order.copies


@given(corrupted())
def test_faults_are_found_exactly_when_a_simple_check_finds_one(case: tuple[list[NumberedPlay], int]) -> None:
    plays, copies = case
    assert (check_movement(plays, copies) == []) == is_sound(plays, copies)


def test_the_movement_of_sixteen_is_sound() -> None:
    assert check_movement(sixteen_players()) == []


PLAYS = sixteen_players()


def test_a_seat_without_a_player_is_reported() -> None:
    three = {seat: PLAYS[5].players[seat] for seat in SEATS[:3]}
    assert [(f.code, f.at) for f in check_movement(with_play(PLAYS, 5, players=three))] == [("not_four_players", (5,))]


def test_a_player_at_two_seats_of_a_table_is_reported() -> None:
    twice = {**PLAYS[5].players, "north": PLAYS[5].players["east"]}
    assert [(f.code, f.at) for f in check_movement(with_play(PLAYS, 5, players=twice))] == [("not_four_players", (5,))]


def test_a_player_at_two_tables_of_a_round_is_reported_with_both() -> None:
    elsewhere = {**PLAYS[1].players, "north": PLAYS[0].players["east"]}
    found = [f.at for f in check_movement(with_play(PLAYS, 1, players=elsewhere)) if f.code == "player_at_two_tables"]
    assert found == [(0, 1)]


def test_a_carrier_at_two_tables_at_once_is_reported_unless_there_are_two() -> None:
    both = with_play(PLAYS, 1, deal=PLAYS[0].deal)
    assert "deal_at_two_tables" in codes(both)
    assert "deal_at_two_tables" not in codes(both, copies=2)


def test_a_table_that_plays_a_deal_twice_is_reported() -> None:
    later = next(at for at, play in enumerate(PLAYS) if play.table == 1 and play.round == 3)
    assert "table_repeats_deal" in codes(with_play(PLAYS, later, deal=PLAYS[0].deal))


def test_a_player_who_plays_a_deal_twice_is_reported() -> None:
    again = next(at for at, play in enumerate(PLAYS) if play.deal == PLAYS[0].deal and at)
    player = PLAYS[0].players["east"]
    assert "player_repeats_deal" in codes(with_play(PLAYS, again, players={**PLAYS[again].players, "east": player}))


def test_players_who_change_seats_within_a_round_are_reported() -> None:
    plays = made(ORDERS[1], 2)
    swapped = {**plays[1].players, "east": plays[1].players["west"], "west": plays[1].players["east"]}
    assert [(f.code, f.at) for f in check_movement(with_play(plays, 1, players=swapped))] == [
        ("players_change", (0, 1))
    ]


TEAMS = {f"team {y}": tuple(range(4 * y + 1, 4 * y + 5)) for y in range(4)}
TEAM_PLAYS = made(MovementOrder(16, 4, 4), 2, in_teams=True)


def exchanged(plays: Sequence[NumberedPlay], one: int, other: int) -> list[NumberedPlay]:
    """Return the plays with two players exchanged throughout the first round."""
    new = {one: other, other: one}
    return [
        replace(play, players={seat: new.get(who, who) for seat, who in play.players.items()})
        if play.round == 1
        else play
        for play in plays
    ]


def test_teammates_at_one_table_are_reported() -> None:
    at = next(play for play in TEAM_PLAYS if play.round == 1 and 1 in play.players.values())
    guest = next(who for who in at.players.values() if who != 1)
    faults = check_teams(exchanged(TEAM_PLAYS, guest, 2), TEAMS)
    assert "teammates_meet" in {fault.code for fault in faults}


def test_a_team_that_has_a_seat_twice_is_reported() -> None:
    at = next(play for play in TEAM_PLAYS if play.round == 1)
    faults = check_teams(exchanged(TEAM_PLAYS, at.players["east"], at.players["south"]), TEAMS)
    assert {fault.code for fault in faults} == {"team_incomplete"}


def test_a_player_without_a_team_is_reported() -> None:
    three = {team: TEAMS[team] for team in list(TEAMS)[:3]}
    faults = check_teams(TEAM_PLAYS, three)
    assert {fault.text for fault in faults if fault.code == "player_without_team"} == {
        f"{player} is not in a team" for player in (13, 14, 15, 16)
    }


@pytest.mark.parametrize(("count", "most"), [(2, 2), (3, 2), (4, 1), (9, 1)])
def test_teammates_may_share_a_table_only_if_they_have_to(count: int, most: int) -> None:
    plays = made(MovementOrder(4 * count, count, count * 2), 0, in_teams=True)
    teams = {f"team {y}": tuple(range(4 * y + 1, 4 * y + 5)) for y in range(count)}
    together = max(
        sum(player in members for player in play.players.values()) for play in plays for members in teams.values()
    )
    assert (together, check_teams(plays, teams)) == (most, [])
