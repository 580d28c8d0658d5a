"""Whose turn it is, and what is refused."""

import pytest

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import DOES, Action, Do
from broker.rules.referee.turns import apply, asked, begin
from tests.broker.rules.referee.turning import FULL, did, refusal, rounds
from tests.broker.rules.variants import seats


def test_the_dealer_draws_first_and_the_turn_goes_round_by_seats() -> None:
    turns = [state.turn for state in rounds(begin(FULL, "west")) if state.phase == "draw"]
    assert turns[:6] == ["west", "north", "east", "south", "west", "north"]


@pytest.mark.parametrize(
    "walls", [seats(22, 0, 0, 0), seats(0, -1, 0, 0), {}, {"east": 21}, dict.fromkeys([*SEATS, "middle"], 21)], ids=str
)
def test_a_start_needs_four_walls_of_0_to_21(walls: dict[Seat, int]) -> None:
    with pytest.raises(RuleError) as refused:
        begin(walls, "east")
    assert refused.value.code == "bad_walls"


def test_an_added_kong_that_nobody_robs_is_replaced_with_or_without_a_word() -> None:
    opened = did(begin(FULL, "east", "hold"), Action("added_kong", "east"))
    assert asked(opened) == ("south", "west", "north")
    draw = Action("draw", "east")
    assert did(opened, draw) == did(opened, Action("no_claim"), draw)
    assert refusal(did(opened, Action("no_claim")), Action("hu_on_discard", "south")) == "wrong_phase"


def test_a_concealed_kong_cannot_be_robbed() -> None:
    state = did(begin(FULL, "east", "hold"), Action("concealed_kong", "east"))
    assert refusal(state, Action("hu_on_discard", "south")) == "wrong_phase"
    assert asked(state) == ("east",)


@pytest.mark.parametrize("claim", ["chow", "pung"])
def test_who_claimed_a_tile_can_only_discard(claim: Do) -> None:
    state = did(begin(FULL, "east", "claim"), Action(claim, "south"))
    assert refusal(state, Action("self_hu", "south")) == "hu_on_claimed_tile"
    assert refusal(state, Action("concealed_kong", "south")) == "kong_after_claim"
    assert refusal(state, Action("added_kong", "south")) == "kong_after_claim"
    assert did(state, Action("discard", "south")).phase == "claim"


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (Action("hu_on_discard"), "winner_missing"),
        (Action("hu_on_discard", seats=("south", "south")), "winner_twice"),
        (Action("hu_on_discard", seats=("south", "east")), "discarder_wins"),
        (Action("hu_on_discard", "east"), "discarder_wins"),
        (Action("chow", "west"), "chow_not_next"),
        (Action("chow", "north"), "chow_not_next"),
        (Action("chow", "east"), "own_discard"),
        (Action("pung", "east"), "own_discard"),
        (Action("pung"), "seat_missing"),
        (Action("draw", "south"), "wrong_phase"),
    ],
)
def test_a_claim_that_cannot_be_is_refused(action: Action, code: str) -> None:
    assert refusal(begin(FULL, "east", "claim"), action) == code


@pytest.mark.parametrize(("winners", "code"), [(("south", "west"), "several_winners"), (("west",), None)])
def test_under_a_profile_of_the_nearest_only_one_wins(winners: tuple[Seat, ...], code: str | None) -> None:
    state, action = begin(FULL, "east", "claim", one_winner=True), Action("hu_on_discard", seats=winners)
    assert (refusal(state, action) if code else apply(state, action).over) == (code or "win")


def test_three_may_win_on_one_discard() -> None:
    assert did(begin(FULL, "east", "claim"), Action("hu_on_discard", seats=("south", "west", "north"))).over == "win"


def test_nobody_draws_for_another_or_from_an_empty_wall() -> None:
    assert refusal(begin(FULL, "east"), Action("draw", "south")) == "not_your_turn"
    assert refusal(begin(FULL, "east"), Action("draw")) == "seat_missing"
    assert refusal(begin(seats(0, 1, 1, 1), "east"), Action("draw", "east")) == "wall_empty"


@pytest.mark.parametrize("do", DOES)
def test_after_the_end_nothing_is_legal(do: Do) -> None:
    end = did(begin(FULL, "east", "hold"), Action("self_hu", "east"))
    assert {refusal(end, Action(do, seat, seats=(seat,))) for seat in SEATS} == {"play_over"}
