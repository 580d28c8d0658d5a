"""Turns: legal actions by position, the last tile of the wall, situation fan, and properties."""

import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Seat
from broker.rules import RuleError
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import Action, ActionKind, Phase, StartPhase, TurnState, apply_turn, begin_turns
from broker.rules.mcr.turns import ACTION_KINDS
from tests.broker.rules.mcr.turning import FULL, apply_turns, awaited_seats, play_without_claims, refusal
from tests.broker.rules.variants import seats


def test_the_dealer_draws_first_and_turns_follow_the_seat_order() -> None:
    turns = [state.turn for state in play_without_claims(begin_turns(FULL, "west")) if state.phase == "draw"]
    assert turns[:6] == ["west", "north", "east", "south", "west", "north"]


@pytest.mark.parametrize(
    "walls", [seats(22, 0, 0, 0), seats(0, -1, 0, 0), {}, {"east": 21}, dict.fromkeys([*SEATS, "middle"], 21)], ids=str
)
def test_a_start_without_four_walls_of_0_to_21_tiles_is_refused(walls: dict[Seat, int]) -> None:
    with pytest.raises(RuleError) as refused:
        begin_turns(walls, "east")
    assert refused.value.code == "bad_walls"


def test_an_added_kong_is_replaced_with_or_without_an_explicit_no_claim() -> None:
    opened = apply_turns(begin_turns(FULL, "east", "hold"), Action("added_kong", "east"))
    assert awaited_seats(opened) == ("south", "west", "north")
    draw = Action("draw", "east")
    assert apply_turns(opened, draw) == apply_turns(opened, Action("no_claim"), draw)
    assert refusal(apply_turns(opened, Action("no_claim")), Action("hu_on_discard", "south")) == "wrong_phase"


def test_a_concealed_kong_cannot_be_robbed() -> None:
    state = apply_turns(begin_turns(FULL, "east", "hold"), Action("concealed_kong", "east"))
    assert refusal(state, Action("hu_on_discard", "south")) == "wrong_phase"
    assert awaited_seats(state) == ("east",)


@pytest.mark.parametrize("claim", ["chow", "pung"])
def test_a_player_who_claimed_a_tile_can_only_discard(claim: ActionKind) -> None:
    state = apply_turns(begin_turns(FULL, "east", "claim"), Action(claim, "south"))
    assert refusal(state, Action("self_hu", "south")) == "hu_on_claimed_tile"
    assert refusal(state, Action("concealed_kong", "south")) == "kong_after_claim"
    assert refusal(state, Action("added_kong", "south")) == "kong_after_claim"
    assert apply_turns(state, Action("discard", "south")).phase == "claim"


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
def test_an_impossible_claim_is_refused(action: Action, code: str) -> None:
    assert refusal(begin_turns(FULL, "east", "claim"), action) == code


@pytest.mark.parametrize(("winners", "code"), [(("south", "west"), "several_winners"), (("west",), None)])
def test_only_one_player_wins_where_only_the_nearest_wins(winners: tuple[Seat, ...], code: str | None) -> None:
    state, action = begin_turns(FULL, "east", "claim", nearest_only=True), Action("hu_on_discard", seats=winners)
    assert (refusal(state, action) if code else apply_turn(state, action).over) == (code or "win")


def test_three_players_may_win_on_one_discard() -> None:
    assert (
        apply_turns(begin_turns(FULL, "east", "claim"), Action("hu_on_discard", seats=("south", "west", "north"))).over
        == "win"
    )


def test_a_player_cannot_draw_for_another_or_from_an_empty_wall() -> None:
    assert refusal(begin_turns(FULL, "east"), Action("draw", "south")) == "not_your_turn"
    assert refusal(begin_turns(FULL, "east"), Action("draw")) == "seat_missing"
    assert refusal(begin_turns(seats(0, 1, 1, 1), "east"), Action("draw", "east")) == "wall_empty"


@pytest.mark.parametrize("do", ACTION_KINDS)
def test_after_the_end_nothing_is_legal(do: ActionKind) -> None:
    end = apply_turns(begin_turns(FULL, "east", "hold"), Action("self_hu", "east"))
    assert {refusal(end, Action(do, seat, seats=(seat,))) for seat in SEATS} == {"play_over"}


@pytest.mark.parametrize("dealer", SEATS)
def test_without_claims_ltw_is_the_last_tile_of_the_player_before_the_dealer(dealer: Seat) -> None:
    states = play_without_claims(begin_turns(FULL, dealer))
    first = next(state for state in states if state.ltw)
    last_player = SEATS[SEATS.index(dealer) - 1]
    assert (first.turn, first.phase) == (last_player, "draw")
    assert dict(zip(SEATS, first.walls, strict=True)) == {**seats(0, 0, 0, 0), last_player: 1}
    assert [state.ltw for state in states] == [False] * states.index(first) + [True] * 4


@pytest.mark.parametrize("dealer", SEATS)
def test_without_claims_all_84_wall_tiles_are_drawn_and_the_play_is_a_draw(dealer: Seat) -> None:
    end = play_without_claims(begin_turns(FULL, dealer))[-1]
    assert (end.walls, end.over, end.situation_fans) == ((0, 0, 0, 0), "exhausted draw", ())


# OEDMC: South's wall is empty, so LTW starts with East's next turn, however it begins.
SOUTH_EMPTY: Final = seats(2, 0, 2, 2)


def test_oedmc_ltw_is_reached_when_east_s_turn_comes_after_north_s_discard() -> None:
    state = apply_turns(begin_turns(SOUTH_EMPTY, "north", "claim"), Action("no_claim"))
    assert (state.turn, state.phase, state.ltw) == ("east", "draw", True)


@pytest.mark.parametrize(
    ("claim", "discarder", "phase"),
    [("chow", "north", "hold"), ("pung", "west", "hold"), ("melded_kong", "west", "draw"), ("pung", "north", "hold")],
)
def test_oedmc_ltw_is_reached_when_east_s_turn_comes_by_a_claim(
    claim: ActionKind, discarder: Seat, phase: Phase
) -> None:
    before = begin_turns(SOUTH_EMPTY, discarder, "claim")
    state = apply_turns(before, Action(claim, "east"))
    assert (before.ltw, state.turn, state.phase, state.ltw) == (False, "east", phase, True)


def test_a_melded_kong_that_starts_ltw_still_draws_its_replacement() -> None:
    state = apply_turns(
        begin_turns(SOUTH_EMPTY, "west", "claim"), Action("melded_kong", "east"), Action("draw", "east")
    )
    assert (state.walls, state.phase) == ((1, 0, 2, 2), "hold")
    assert refusal(state, Action("added_kong", "east")) == "only_hu_in_ltw"


@pytest.mark.parametrize("kong", ["concealed_kong", "added_kong"])
def test_oedmc_rule_4_no_kong_in_ltw_even_with_tiles_left_in_the_player_s_wall(kong: ActionKind) -> None:
    state = apply_turns(begin_turns(SOUTH_EMPTY, "east"), Action("draw", "east"))
    assert (state.walls[0], refusal(state, Action(kong, "east"))) == (1, "only_hu_in_ltw")


@pytest.mark.parametrize(("claim", "seat"), [("chow", "south"), ("pung", "north"), ("melded_kong", "west")])
def test_oedmc_rule_4_the_discard_in_ltw_can_be_claimed_for_hu_only(claim: ActionKind, seat: Seat) -> None:
    state = apply_turns(begin_turns(SOUTH_EMPTY, "east"), Action("draw", "east"), Action("discard", "east"))
    assert refusal(state, Action(claim, seat)) == "only_hu_in_ltw"
    assert apply_turns(state, Action("hu_on_discard", seats=(seat,))).over == "win"


def test_mil_an_unclaimed_discard_in_ltw_ends_the_play_in_a_draw() -> None:
    end = apply_turns(
        begin_turns(SOUTH_EMPTY, "east"), Action("draw", "east"), Action("discard", "east"), Action("no_claim")
    )
    assert (end.over, end.turn, awaited_seats(end)) == ("exhausted draw", "east", ())


@pytest.mark.parametrize("kong", ["concealed_kong", "added_kong"])
def test_oedmc_rule_3b_an_empty_wall_allows_no_concealed_or_added_kong(kong: ActionKind) -> None:
    assert refusal(begin_turns(seats(0, 5, 5, 5), "east", "hold"), Action(kong, "east")) == "kong_without_wall"


def test_oedmc_rule_3b_an_empty_wall_allows_a_pung_but_no_melded_kong() -> None:
    state = begin_turns(seats(5, 5, 0, 5), "east", "claim")
    assert refusal(state, Action("melded_kong", "west")) == "kong_without_wall"
    assert apply_turns(state, Action("pung", "west")).turn == "west"


@pytest.mark.parametrize("phase", ["draw", "hold", "claim"])
def test_a_start_before_an_empty_wall_is_in_ltw_even_if_declared_otherwise(phase: StartPhase) -> None:
    assert begin_turns(SOUTH_EMPTY, "east", phase, ltw=False).ltw


def test_a_start_declared_in_ltw_is_in_ltw_whatever_the_walls() -> None:
    state = begin_turns(FULL, "east", "claim", ltw=True)
    assert refusal(state, Action("chow", "south")) == "only_hu_in_ltw"
    assert apply_turns(state, Action("no_claim")).over == "exhausted draw"


EAST_IN_LTW: Final = seats(5, 0, 5, 5)
"""Walls with which East's turn is in LTW."""

KONG: Final = Action("concealed_kong", "east")


@pytest.mark.parametrize(
    ("state", "actions", "fans"),
    [
        (begin_turns(FULL, "east"), [Action("draw", "east"), Action("self_hu", "east")], ()),
        (begin_turns(FULL, "east", "hold"), [Action("self_hu", "east")], ()),
        (begin_turns(FULL, "east", "claim"), [Action("hu_on_discard", seats=("west",))], ()),
        (begin_turns(EAST_IN_LTW, "east"), [Action("draw", "east"), Action("self_hu", "east")], ("Last Tile Draw",)),
        (
            begin_turns(EAST_IN_LTW, "east", "claim"),
            [Action("hu_on_discard", seats=("west", "south"))],
            ("Last Tile Claim",),
        ),
        (
            begin_turns(FULL, "east", "hold"),
            [KONG, Action("draw", "east"), Action("self_hu", "east")],
            ("Out with Replacement Tile",),
        ),
        (
            begin_turns(FULL, "east", "hold"),
            [Action("added_kong", "east"), Action("draw", "east"), Action("self_hu", "east")],
            ("Out with Replacement Tile",),
        ),
        (
            begin_turns(EAST_IN_LTW, "west", "claim"),
            [Action("melded_kong", "east"), Action("draw", "east"), Action("self_hu", "east")],
            ("Last Tile Draw", "Out with Replacement Tile"),
        ),
        (
            begin_turns(FULL, "east", "hold"),
            [Action("added_kong", "east"), Action("hu_on_discard", "south")],
            ("Robbing the Kong",),
        ),
        (
            begin_turns(FULL, "east", "hold"),
            [KONG, Action("draw", "east"), Action("discard", "east"), Action("hu_on_discard", "south")],
            (),
        ),
        (
            begin_turns(FULL, "north", "claim"),
            [
                Action("melded_kong", "east"),
                Action("draw", "east"),
                Action("discard", "east"),
                Action("no_claim"),
                Action("draw", "south"),
                Action("self_hu", "south"),
            ],
            (),
        ),
    ],
)
def test_a_win_has_the_fan_of_its_situation(state: TurnState, actions: list[Action], fans: tuple[str, ...]) -> None:
    end = apply_turns(state, *actions)
    assert (end.over, end.situation_fans) == ("win", fans)


CODES: Final = (Path(__file__).parents[4] / "docs" / "codes.md").read_text(encoding="utf-8")
SECTION: Final = CODES.split("## broker/rules\n")[1].split("\n## ")[0]
DOCUMENTED: Final = frozenset(re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE))

SEAT = st.sampled_from(SEATS)
STARTS = st.builds(
    begin_turns,
    st.fixed_dictionaries(dict.fromkeys(SEATS, st.integers(0, 4))),
    SEAT,
    st.sampled_from(["draw", "hold", "claim"]),
    ltw=st.booleans(),
    nearest_only=st.booleans(),
)
ACTIONS = st.builds(
    Action,
    st.sampled_from(ACTION_KINDS),
    st.none() | SEAT,
    st.none(),
    st.lists(SEAT, max_size=3).map(tuple),
)
LIKELY = st.builds(Action, st.sampled_from(["draw", "discard", "no_claim", "pung"]), SEAT)
ACTION_LISTS = st.lists(ACTIONS | LIKELY, max_size=60)


def steps(state: TurnState, actions: list[Action]) -> list[tuple[TurnState, Action, TurnState | str]]:
    """Try actions in turn. Return the state before each, the action, and the state after it or the refusal's code."""
    taken: list[tuple[TurnState, Action, TurnState | str]] = []
    for action in actions:
        try:
            after = apply_turn(state, action)
        except RuleError as refused:
            taken.append((state, action, refused.code))
        else:
            taken.append((state, action, after))
            state = after
    return taken


def legal_steps(state: TurnState, actions: list[Action]) -> list[tuple[TurnState, Action, TurnState]]:
    """Return the steps that were legal."""
    return [(before, action, after) for before, action, after in steps(state, actions) if isinstance(after, TurnState)]


@given(STARTS, ACTION_LISTS)
def test_walls_lose_a_tile_exactly_when_their_player_draws(start: TurnState, actions: list[Action]) -> None:
    for before, action, after in legal_steps(start, actions):
        drawn = tuple(int(action.do == "draw" and seat == before.turn) for seat in SEATS)
        assert after.walls == tuple(left - gone for left, gone in zip(before.walls, drawn, strict=True))
        assert min(after.walls) >= 0


@given(STARTS, ACTION_LISTS)
def test_ltw_starts_exactly_when_a_turn_begins_with_the_next_player_s_wall_empty(
    start: TurnState, actions: list[Action]
) -> None:
    for before, _, after in legal_steps(start, actions):
        if after.turn == before.turn:
            assert after.ltw == before.ltw
        else:
            assert after.ltw == (after.walls[SEATS.index(NEXT_SEAT[after.turn])] == 0)


@given(STARTS, ACTION_LISTS)
def test_in_ltw_the_turn_does_not_change_and_only_hu_can_be_declared(start: TurnState, actions: list[Action]) -> None:
    for before, action, after in legal_steps(start, actions):
        if before.ltw:
            assert action.do in ("draw", "discard", "no_claim", "self_hu", "hu_on_discard")
            assert after.turn == before.turn


@given(STARTS, ACTION_LISTS)
def test_an_action_is_refused_with_a_documented_code(start: TurnState, actions: list[Action]) -> None:
    assert {after for _, _, after in steps(start, actions) if isinstance(after, str)} <= DOCUMENTED


@given(STARTS, ACTION_LISTS)
def test_a_play_ends_once_and_only_a_win_has_situation_fans(start: TurnState, actions: list[Action]) -> None:
    taken = steps(start, actions)
    ends = [after for _, _, after in taken if isinstance(after, TurnState) and after.over]
    assert len(ends) <= 1
    assert all(after == "play_over" for before, _, after in taken if before.over)
    assert all(after.over == "win" for _, _, after in taken if isinstance(after, TurnState) and after.situation_fans)
