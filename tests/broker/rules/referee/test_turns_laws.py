"""What holds of turns whatever anybody tries."""

import re
from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.referee.actions import DOES, NEXT, Action
from broker.rules.referee.turns import Turns, apply, begin

CODES: Final = (Path(__file__).parents[4] / "docs" / "codes.md").read_text(encoding="utf-8")
SECTION: Final = CODES.split("## broker/rules\n")[1].split("\n## ")[0]
DOCUMENTED: Final = frozenset(re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE))

SEAT = st.sampled_from(SEATS)
STARTS = st.builds(
    begin,
    st.fixed_dictionaries(dict.fromkeys(SEATS, st.integers(0, 4))),
    SEAT,
    st.sampled_from(["draw", "hold", "claim"]),
    ltw=st.booleans(),
    one_winner=st.booleans(),
)
ACTIONS = st.builds(
    Action,
    st.sampled_from(DOES),
    st.none() | SEAT,
    st.none(),
    st.lists(SEAT, max_size=3).map(tuple),
)
LIKELY = st.builds(Action, st.sampled_from(["draw", "discard", "no_claim", "pung"]), SEAT)
TRIES = st.lists(ACTIONS | LIKELY, max_size=60)


def steps(state: Turns, tries: list[Action]) -> list[tuple[Turns, Action, Turns | str]]:
    """Try one action after the other; give for each the state before it, and the state after it or a code."""
    taken: list[tuple[Turns, Action, Turns | str]] = []
    for action in tries:
        try:
            came = apply(state, action)
        except RuleError as refused:
            taken.append((state, action, refused.code))
        else:
            taken.append((state, action, came))
            state = came
    return taken


def legal_steps(state: Turns, tries: list[Action]) -> list[tuple[Turns, Action, Turns]]:
    """Give only the steps that were legal."""
    return [(before, action, came) for before, action, came in steps(state, tries) if isinstance(came, Turns)]


@given(STARTS, TRIES)
def test_a_tile_leaves_a_wall_exactly_where_its_player_draws_it(start: Turns, tries: list[Action]) -> None:
    for before, action, came in legal_steps(start, tries):
        drawn = tuple(int(action.do == "draw" and seat == before.turn) for seat in SEATS)
        assert came.walls == tuple(left - gone for left, gone in zip(before.walls, drawn, strict=True))
        assert min(came.walls) >= 0


@given(STARTS, TRIES)
def test_ltw_begins_exactly_when_a_turn_comes_beside_an_empty_wall(start: Turns, tries: list[Action]) -> None:
    for before, _, came in legal_steps(start, tries):
        if came.turn == before.turn:
            assert came.ltw == before.ltw
        else:
            assert came.ltw == (came.walls[SEATS.index(NEXT[came.turn])] == 0)


@given(STARTS, TRIES)
def test_in_ltw_the_turn_stays_and_nothing_but_hu_is_declared(start: Turns, tries: list[Action]) -> None:
    for before, action, came in legal_steps(start, tries):
        if before.ltw:
            assert action.do in ("draw", "discard", "no_claim", "self_hu", "hu_on_discard")
            assert came.turn == before.turn


@given(STARTS, TRIES)
def test_an_action_is_refused_with_a_documented_code(start: Turns, tries: list[Action]) -> None:
    assert {came for _, _, came in steps(start, tries) if isinstance(came, str)} <= DOCUMENTED


@given(STARTS, TRIES)
def test_a_play_ends_once_and_only_a_win_has_situation_fans(start: Turns, tries: list[Action]) -> None:
    taken = steps(start, tries)
    ends = [came for _, _, came in taken if isinstance(came, Turns) and came.over]
    assert len(ends) <= 1
    assert all(came == "play_over" for before, _, came in taken if before.over)
    assert all(came.over == "win" for _, _, came in taken if isinstance(came, Turns) and came.situation_fans)
