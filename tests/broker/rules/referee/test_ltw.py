"""The last tile of the wall: when it is reached, and what it allows (OEDMC rules 3-5, MIL)."""

from typing import Final

import pytest

from broker.contract.words import SEATS, Seat
from broker.rules.referee.actions import Action, Do
from broker.rules.referee.turns import Phase, StartPhase, asked, begin
from tests.broker.rules.referee.turning import FULL, did, refusal, rounds
from tests.broker.rules.variants import seats


@pytest.mark.parametrize("dealer", SEATS)
def test_without_claims_ltw_comes_with_the_21st_tile_of_the_last_player_before_the_dealer(dealer: Seat) -> None:
    states = rounds(begin(FULL, dealer))
    first = next(state for state in states if state.ltw)
    last_player = SEATS[SEATS.index(dealer) - 1]
    assert (first.turn, first.phase) == (last_player, "draw")
    assert dict(zip(SEATS, first.walls, strict=True)) == {**seats(0, 0, 0, 0), last_player: 1}
    assert [state.ltw for state in states] == [False] * states.index(first) + [True] * 4


@pytest.mark.parametrize("dealer", SEATS)
def test_without_claims_all_84_tiles_of_the_walls_are_drawn_and_the_play_is_drawn(dealer: Seat) -> None:
    end = rounds(begin(FULL, dealer))[-1]
    assert (end.walls, end.over, end.situation_fans) == ((0, 0, 0, 0), "exhausted draw", ())


# OEDMC: South has no tile left in the wall, so LTW is reached when East's turn comes, however it comes.
SOUTH_EMPTY: Final = seats(2, 0, 2, 2)


def test_oedmc_ltw_is_reached_when_east_s_turn_comes_after_north_s_discard() -> None:
    state = did(begin(SOUTH_EMPTY, "north", "claim"), Action("no_claim"))
    assert (state.turn, state.phase, state.ltw) == ("east", "draw", True)


@pytest.mark.parametrize(
    ("claim", "discarder", "phase"),
    [("chow", "north", "hold"), ("pung", "west", "hold"), ("melded_kong", "west", "draw"), ("pung", "north", "hold")],
)
def test_oedmc_ltw_is_reached_when_east_s_turn_comes_by_a_claim(claim: Do, discarder: Seat, phase: Phase) -> None:
    before = begin(SOUTH_EMPTY, discarder, "claim")
    state = did(before, Action(claim, "east"))
    assert (before.ltw, state.turn, state.phase, state.ltw) == (False, "east", phase, True)


def test_a_melded_kong_that_brings_ltw_still_has_its_replacement() -> None:
    state = did(begin(SOUTH_EMPTY, "west", "claim"), Action("melded_kong", "east"), Action("draw", "east"))
    assert (state.walls, state.phase) == ((1, 0, 2, 2), "hold")
    assert refusal(state, Action("added_kong", "east")) == "only_hu_in_ltw"


@pytest.mark.parametrize("kong", ["concealed_kong", "added_kong"])
def test_oedmc_rule_4_no_kong_in_ltw_even_with_tiles_left_in_the_own_wall(kong: Do) -> None:
    state = did(begin(SOUTH_EMPTY, "east"), Action("draw", "east"))
    assert (state.walls[0], refusal(state, Action(kong, "east"))) == (1, "only_hu_in_ltw")


@pytest.mark.parametrize(("claim", "seat"), [("chow", "south"), ("pung", "north"), ("melded_kong", "west")])
def test_oedmc_rule_4_the_discard_in_ltw_can_be_claimed_for_hu_only(claim: Do, seat: Seat) -> None:
    state = did(begin(SOUTH_EMPTY, "east"), Action("draw", "east"), Action("discard", "east"))
    assert refusal(state, Action(claim, seat)) == "only_hu_in_ltw"
    assert did(state, Action("hu_on_discard", seats=(seat,))).over == "win"


def test_mil_nobody_wins_on_the_tile_discarded_in_ltw_and_the_play_is_drawn() -> None:
    end = did(begin(SOUTH_EMPTY, "east"), Action("draw", "east"), Action("discard", "east"), Action("no_claim"))
    assert (end.over, end.turn, asked(end)) == ("exhausted draw", "east", ())


@pytest.mark.parametrize("kong", ["concealed_kong", "added_kong"])
def test_oedmc_rule_3b_an_empty_own_wall_allows_no_own_kong(kong: Do) -> None:
    assert refusal(begin(seats(0, 5, 5, 5), "east", "hold"), Action(kong, "east")) == "kong_without_wall"


def test_oedmc_rule_3b_an_empty_own_wall_allows_no_melded_kong_but_a_pung() -> None:
    state = begin(seats(5, 5, 0, 5), "east", "claim")
    assert refusal(state, Action("melded_kong", "west")) == "kong_without_wall"
    assert did(state, Action("pung", "west")).turn == "west"


@pytest.mark.parametrize("phase", ["draw", "hold", "claim"])
def test_a_start_beside_an_empty_wall_is_in_ltw_whatever_it_says(phase: StartPhase) -> None:
    assert begin(SOUTH_EMPTY, "east", phase, ltw=False).ltw


def test_a_start_that_says_ltw_is_in_ltw_whatever_the_walls() -> None:
    state = begin(FULL, "east", "claim", ltw=True)
    assert refusal(state, Action("chow", "south")) == "only_hu_in_ltw"
    assert did(state, Action("no_claim")).over == "exhausted draw"
