"""What holds in every play, whatever its players choose."""

from itertools import pairwise
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.referee.actions import DOES, Action
from broker.rules.referee.legal import legal_actions
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play
from broker.rules.referee.turns import asked
from broker.rules.tiles import FULL_SET, KINDS
from tests.broker.rules.referee.playing import all_tiles, at_random, seldom

SEED = st.integers(0, 2**32)
TILES: Final = tuple(sorted(FULL_SET))

DRAWS: Final = 84
MELDS: Final = 16
LONGEST: Final = DRAWS + 2 * (DRAWS + MELDS) + 2 * MELDS
"""Actions of a play: a discard for each draw or claimed set at most, what is said on each, and the kongs likewise."""


@given(SEED)
def test_no_tile_is_lost_or_doubled(seed: int) -> None:
    assert {tuple(all_tiles(play)) == TILES for play, _ in at_random(seed)} == {True}


@given(SEED)
def test_everybody_holds_13_tiles_counting_a_kong_as_three_and_the_extra_one_in_hold(seed: int) -> None:
    for play, _ in at_random(seed):
        held = [len(hand.concealed) + 3 * len(hand.melds) for hand in play.hands]
        assert held == [13 + (play.turns.phase == "hold" and seat == play.turns.turn) for seat in SEATS]


@given(SEED)
def test_a_wall_is_drawn_in_its_order(seed: int) -> None:
    plays = list(at_random(seed))
    for (before, action), (came, _) in pairwise(plays):
        if action.do == "draw":
            seat = before.turns.turn
            assert (before.wall(seat)[0], before.wall(seat)[1:]) == (came.hand(seat).concealed[-1], came.wall(seat))


@given(SEED)
def test_a_play_ends_within_its_bound(seed: int) -> None:
    plays = list(at_random(seed))
    last, action = plays[-1]
    assert apply(last, action, seldom).turns.over in ("win", "exhausted draw")
    assert len(plays) <= LONGEST


def accepted(play: Play, action: Action) -> bool:
    try:
        apply(play, action, seldom)
    except RuleError:
        return False
    return True


def named(action: Action) -> bool:
    """Say whether an action is written as `legal_actions` writes it: a draw without its tile, all others with."""
    return (action.tile is None) == (action.do in ("draw", "self_hu", "hu_on_discard"))


@given(SEED, st.integers(0, 200))
def test_the_legal_actions_are_exactly_those_that_are_accepted(seed: int, at: int) -> None:
    plays = list(at_random(seed))
    play, _ = plays[at % len(plays)]
    every = [Action(do, seat, tile) for do in DOES if do != "no_claim" for seat in SEATS for tile in (None, *KINDS)]
    offered = {action for seat in SEATS for action in legal_actions(play, seat, seldom)}
    told = {Action(action.do, action.actors[0], action.tile) for action in offered}
    assert told == {action for action in every if named(action) and accepted(play, action)}


@given(SEED)
def test_whose_word_is_not_awaited_has_nothing_to_do(seed: int) -> None:
    for play, _ in at_random(seed):
        waiting = [seat for seat in SEATS if seat not in asked(play.turns)]
        acting = [seat for seat in waiting if legal_actions(play, seat, seldom)]
        assert acting == ([play.turns.turn] if play.turns.phase == "kong" else [])
