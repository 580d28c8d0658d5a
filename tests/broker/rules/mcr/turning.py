"""Helpers for tests of turns: applying actions, refusals and awaited seats."""

from typing import Final

import pytest

from broker.protocol import Seat
from broker.rules import RuleError
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import Action, TurnState, apply_turn
from tests.broker.rules.variants import seats

FULL: Final = seats(21, 21, 21, 21)


def apply_turns(state: TurnState, *actions: Action) -> TurnState:
    """Return the state after legal actions."""
    for action in actions:
        state = apply_turn(state, action)
    return state


def refusal(state: TurnState, action: Action) -> str:
    """Return the code with which an action is refused."""
    with pytest.raises(RuleError) as refused:
        apply_turn(state, action)
    return refused.value.code


def play_without_claims(state: TurnState) -> list[TurnState]:
    """Return every state until the end if everybody draws and discards and nobody claims."""
    states = [state]
    while state.over is None:
        turn = state.turn
        for action in (Action("draw", turn), Action("discard", turn), Action("no_claim")):
            state = apply_turn(state, action)
            states.append(state)
    return states


def awaited_seats(state: TurnState) -> tuple[Seat, ...]:
    """Return the seats that are to act: the one in turn, or the three others who may claim. None after the end."""
    if state.over is not None:
        return ()
    second = NEXT_SEAT[state.turn]
    third = NEXT_SEAT[second]
    return (state.turn,) if state.phase in ("draw", "hold") else (second, third, NEXT_SEAT[third])
