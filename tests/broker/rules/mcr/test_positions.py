"""Every action in every position, checked against a second formulation of the rules."""

from itertools import product
from pathlib import Path
from typing import Final

import pytest

from broker.protocol import SEATS, Seat
from broker.rules import RuleError
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import Action, ActionKind, Phase, TurnState, apply_turn
from broker.rules.mcr.turns import ACTION_KINDS, PHASES, Extra

PAGE: Final = Path(__file__).parents[4] / "docs" / "referee.md"


def allowed(state: TurnState, do: ActionKind, seat: Seat) -> bool:
    """Whether an action is legal in an open play, with the rules as one flat table."""
    mine, tiles_left = state.turn == seat, state.walls[SEATS.index(seat)] > 0
    may_declare = state.extra != "claimed"
    kong = tiles_left and not state.ltw
    return {
        "draw": mine and tiles_left and state.phase in ("draw", "kong"),
        "discard": mine and state.phase == "hold",
        "no_claim": state.phase in ("claim", "kong"),
        "chow": state.phase == "claim" and NEXT_SEAT[state.turn] == seat and not state.ltw,
        "pung": state.phase == "claim" and not mine and not state.ltw,
        "melded_kong": state.phase == "claim" and not mine and kong,
        "concealed_kong": mine and state.phase == "hold" and may_declare and kong,
        "added_kong": mine and state.phase == "hold" and may_declare and kong,
        "self_hu": mine and state.phase == "hold" and may_declare,
        "hu_on_discard": not mine and state.phase in ("claim", "kong"),
    }[do]


def is_legal(state: TurnState, action: Action) -> bool:
    try:
        apply_turn(state, action)
    except RuleError:
        return False
    return True


@pytest.mark.parametrize("do", ACTION_KINDS)
def test_each_action_is_legal_in_exactly_the_positions_that_the_rules_allow(do: ActionKind) -> None:
    phases: tuple[Phase, ...] = ("draw", "hold", "claim", "kong")
    extras: tuple[Extra, ...] = ("drawn", "replacement", "claimed", "unknown")
    positions = [
        TurnState(walls, turn, phase, ltw, extra, nearest_only=False)
        for walls in product((0, 3), repeat=4)
        for turn, phase, ltw, extra in product(SEATS, phases, (False, True), extras)
    ]
    differing = [
        (position, seat)
        for position, seat in product(positions, SEATS)
        if is_legal(position, Action(do, seat)) != allowed(position, do, seat)
    ]
    assert differing == []


def test_the_documented_table_lists_the_phases_of_each_action() -> None:
    rows = [line.strip("| ").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    documented = {
        row[0].strip(" `"): tuple(
            phase for phase, cell in zip(("draw", "hold", "claim", "kong"), row[1:5], strict=True) if cell.strip()
        )
        for row in rows
        if len(row) == 6 and row[0].strip(" `") in ACTION_KINDS
    }
    assert documented == PHASES
