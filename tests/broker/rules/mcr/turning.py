"""Turns for tests: what to do from a position, and what is refused there."""

from typing import Final

import pytest

from broker.protocol import Seat
from broker.rules import RuleError
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import Action, TurnState, apply_turn
from tests.broker.rules.variants import seats

FULL: Final = seats(21, 21, 21, 21)


def did(state: TurnState, *actions: Action) -> TurnState:
    """Do one thing after the other, all legal."""
    for action in actions:
        state = apply_turn(state, action)
    return state


def refusal(state: TurnState, action: Action) -> str:
    """Return the code with which an action is refused."""
    with pytest.raises(RuleError) as refused:
        apply_turn(state, action)
    return refused.value.code


def rounds(state: TurnState) -> list[TurnState]:
    """Let everybody draw and discard and nobody claim, to the end; give every state."""
    states = [state]
    while state.over is None:
        turn = state.turn
        for action in (Action("draw", turn), Action("discard", turn), Action("no_claim")):
            state = apply_turn(state, action)
            states.append(state)
    return states


def awaited_seats(state: TurnState) -> tuple[Seat, ...]:
    """Return the seats whose word is awaited: the turn's, or the three others, who may claim; none after the end."""
    if state.over is not None:
        return ()
    second = NEXT_SEAT[state.turn]
    third = NEXT_SEAT[second]
    return (state.turn,) if state.phase in ("draw", "hold") else (second, third, NEXT_SEAT[third])
