"""A hand to try things in."""

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
"""Nobody's tiles are known."""


def do(written: str) -> RiichiAction:
    """Read `pon west`, `discard east 3m`, `chii south 1m2m` or `ron south west`."""
    what, *rest = written.split()
    if what == "ron":
        return RiichiAction("ron", seats=tuple(seat for seat in SEATS if seat in rest))
    seat = next((one for one in SEATS if one in rest), None)
    named = rest[1:] if seat else rest
    used = tuple(named[0][at : at + 2] for at in range(0, len(named[0]), 2)) if named else ()
    one = used[0] if len(used) == 1 else None
    return RiichiAction(what, seat, one, used if len(used) > 1 else ())  # type: ignore[arg-type]  # words of the test, as text


def play(board: Board, *steps: str, rules: RiichiProfile = MONTREAL) -> Board:
    """Do one thing after the other, all of them legal."""
    for step in steps:
        board = apply_riichi_action(board, do(step), rules)
    return board


def refusal(board: Board, step: str, rules: RiichiProfile = MONTREAL) -> str:
    """Return the code with which a step is refused, or nothing."""
    try:
        apply_riichi_action(board, do(step), rules)
    except RuleError as refused:
        return refused.code
    return ""


def holding(board: Board, seat: Seat, concealed: str, points: int | None = None) -> Board:
    """Let the tiles of a seat be known."""
    players = tuple(
        replace(player, concealed=tiles(concealed), points=points) if one == seat else player
        for one, player in zip(SEATS, board.players, strict=True)
    )
    return replace(board, players=players)


def turn(seat: str, tile: str) -> tuple[str, str, str]:
    """Draw, discard, and nobody calls."""
    return f"draw {seat}", f"discard {seat} {tile}", "no_call"
