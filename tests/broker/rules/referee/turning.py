"""Turns for tests: what to do from a position, and what is refused there."""

from typing import Final

import pytest

from broker.rules.errors import RuleError
from broker.rules.referee.actions import Action
from broker.rules.referee.turns import Turns, apply
from tests.broker.rules.variants import seats

FULL: Final = seats(21, 21, 21, 21)


def did(state: Turns, *actions: Action) -> Turns:
    """Do one thing after the other, all legal."""
    for action in actions:
        state = apply(state, action)
    return state


def refusal(state: Turns, action: Action) -> str:
    """Give the code with which an action is refused."""
    with pytest.raises(RuleError) as refused:
        apply(state, action)
    return refused.value.code


def rounds(state: Turns) -> list[Turns]:
    """Let everybody draw and discard and nobody claim, to the end; give every state."""
    states = [state]
    while state.over is None:
        turn = state.turn
        for action in (Action("draw", turn), Action("discard", turn), Action("no_claim")):
            state = apply(state, action)
            states.append(state)
    return states
