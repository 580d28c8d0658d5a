"""Helpers that play a hand from actions in short notation."""

from dataclasses import replace
from typing import Final

from broker.protocol import SEATS, Seat
from broker.rules import RuleError, load_riichi
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.board import Board, RiichiAction
from broker.rules.riichi.referee import apply_riichi_action
from tests.broker.rules.riichi.test_waits import tiles

MONTREAL: Final = load_riichi("montreal")
TENHOU: Final = load_riichi("tenhou")
BASIC: Final = load_riichi("basic")

OPEN: Final = Board("east", "east")
"""A board on which nobody's tiles are known."""


def parse_action(text: str) -> RiichiAction:
    """Parse `pon west`, `discard east 3m`, `chii south 1m2m` or `ron south west`."""
    kind, *rest = text.split()
    if kind == "ron":
        return RiichiAction("ron", seats=tuple(seat for seat in SEATS if seat in rest))
    seat = next((one for one in SEATS if one in rest), None)
    words = rest[1:] if seat else rest
    tiles_named = tuple(words[0][at : at + 2] for at in range(0, len(words[0]), 2)) if words else ()
    one = tiles_named[0] if len(tiles_named) == 1 else None
    return RiichiAction(kind, seat, one, tiles_named if len(tiles_named) > 1 else ())  # type: ignore[arg-type]  # the kind is plain text


def play(board: Board, *steps: str, rules: RiichiProfile = MONTREAL) -> Board:
    """Return the board after legal actions."""
    for step in steps:
        board = apply_riichi_action(board, parse_action(step), rules)
    return board


def refusal(board: Board, step: str, rules: RiichiProfile = MONTREAL) -> str:
    """Return the code with which a step is refused, or an empty text if it is legal."""
    try:
        apply_riichi_action(board, parse_action(step), rules)
    except RuleError as refused:
        return refused.code
    return ""


def holding(board: Board, seat: Seat, concealed: str, points: int | None = None) -> Board:
    """Return the board with the tiles of a seat known."""
    players = tuple(
        replace(player, concealed=tiles(concealed), points=points) if one == seat else player
        for one, player in zip(SEATS, board.players, strict=True)
    )
    return replace(board, players=players)


def turn(seat: str, tile: str) -> tuple[str, str, str]:
    """Return the steps of a draw and a discard that nobody calls."""
    return f"draw {seat}", f"discard {seat} {tile}", "no_call"
