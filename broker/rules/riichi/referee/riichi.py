"""Riichi: who may declare it (RIICHI-PLAY, MONTREAL and common practice)."""

from dataclasses import replace

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.board import Board, Own
from broker.rules.riichi.referee.tiles import without
from broker.rules.riichi.waits import waits


def check(board: Board, seat: Seat, tile: str | None, rules: RiichiProfile) -> None:
    """Raise RuleError where a seat may not declare riichi with the discard of a tile."""
    own, needed = board.own(seat), rules.play.riichi_tiles_left.value
    if own.riichi:
        raise RuleError("riichi_twice", f"{seat} has declared riichi")
    if own.open:
        raise RuleError("riichi_open_hand", f"{seat} has called a tile, so the hand is open")
    if board.live < needed:
        raise RuleError("riichi_too_late", f"{board.live} tiles are left in the live wall; riichi needs {needed}")
    if own.points is not None and own.points < rules.points.deposit.value:
        raise RuleError("riichi_without_points", f"{seat} has {own.points} points, too few for the deposit")
    left = without(own, (tile,)) if tile else own.concealed
    if left is not None and not waits(left, [meld.tiles for meld in own.melds]):
        raise RuleError("riichi_not_tenpai", f"without {tile} the hand of {seat} waits for nothing")


def declared(board: Board, seat: Seat, own: Own, rules: RiichiProfile) -> Own:
    """Give what belongs to a seat after its riichi: double where it is the first discard and nobody has called."""
    points = None if own.points is None else own.points - rules.points.deposit.value
    return replace(own, riichi="double_riichi" if board.first_turn(seat) else "riichi", ippatsu=True, points=points)
