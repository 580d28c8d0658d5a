"""Tsumo and ron: who may win, and what the way of winning adds. Yaku are counted elsewhere."""

from collections.abc import Iterator
from dataclasses import replace

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT, distance
from broker.rules.riichi.furiten import furiten
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.board import Board, Own, Situation
from broker.rules.riichi.referee.tiles import of_seat
from broker.rules.riichi.waits import kind_of, orphans_wait, waits


def tsumo(board: Board, seat: Seat, rules: RiichiProfile) -> Board:
    """Win on the drawn tile."""
    own = board.own(seat)
    if board.extra == "claimed":
        raise RuleError("hu_on_claimed_tile", f"{seat} has claimed a tile, not drawn one")
    if own.concealed is not None:
        rest, tile = own.concealed[:-1], own.concealed[-1]
        if kind_of(tile) not in waits(rest, [meld.tiles for meld in own.melds]):
            raise RuleError("not_winning", f"{tile} does not complete the hand of {seat}")
    due = board.to_turn if rules.play.rinshan_dora.value else 0
    turned = replace(board, indicators=board.indicators + due, to_turn=0)
    return replace(turned, over="win", situation={seat: (*_of_tsumo(board, seat), *_of_riichi(own))})


def ron(board: Board, declared: tuple[Seat, ...], rules: RiichiProfile) -> Board:
    """Win on another's tile.

    Where only the nearest wins, the others are annulled (RIICHI-PLAY); three may break the hand off (MONTREAL).
    """
    if not declared:
        raise RuleError("winner_missing", "nobody is named who declares ron")
    if len({*declared}) < len(declared):
        raise RuleError("winner_twice", "a seat is named twice")
    if board.turn in declared:
        raise RuleError("discarder_wins", f"{board.turn} cannot win on the own tile")
    in_turn = sorted(declared, key=lambda seat: distance(board.turn, seat))
    for seat in in_turn:
        _may_ron(board, seat, rules)
    several, owns = rules.session.ron.several.value, _deposit_back(board, rules)
    if several == "triple_aborts" and len(in_turn) == len(board.owns) - 1:
        return replace(board, over="triple_ron", owns=owns)
    kept = in_turn[:1] if several == "nearest" else in_turn
    situation = {seat: (*_of_ron(board, seat), *_of_riichi(board.own(seat))) for seat in kept}
    return replace(board, over="win", owns=owns, situation=situation)


def _may_ron(board: Board, seat: Seat, rules: RiichiProfile) -> None:
    own = board.own(seat)
    orphans = own.concealed is None or (not own.melds and orphans_wait(own.concealed))
    if board.seen[-1].kan == "concealed" and not (orphans and rules.play.orphans_rob.value):
        raise RuleError("concealed_kan_robbed", f"{seat} cannot rob a concealed kan; only thirteen orphans may")
    if own.concealed is None:
        return
    wait = own.waits()
    if kind_of(board.offered) not in wait:
        raise RuleError("not_winning", f"{board.offered} does not complete the hand of {seat}")
    why = furiten(AT[seat], wait, board.seen[:-1], orphans=orphans)
    if why:
        raise RuleError("furiten", f"{seat} may win only by drawing: {', '.join(why)}")


def _deposit_back(board: Board, rules: RiichiProfile) -> tuple[Own, ...]:
    """A riichi whose own discard is won on has not come about: its deposit is not paid."""
    own = board.own(board.turn)
    if board.phase != "claim" or not board.seen[-1].riichi:
        return board.owns
    points = None if own.points is None else own.points + rules.points.deposit.value
    return of_seat(board, board.turn, replace(own, riichi="", ippatsu=False, points=points))


def _of_tsumo(board: Board, seat: Seat) -> Iterator[Situation]:
    """MONTREAL: a replacement tile is never the last one, so rinshan stands alone."""
    if board.extra == "replacement":
        yield "rinshan"
    elif not board.live:
        yield "haitei"
    if board.first_turn(seat):
        yield "tenhou" if seat == board.dealer else "chiihou"


def _of_ron(board: Board, seat: Seat) -> Iterator[Situation]:
    if board.phase == "kan":
        yield "chankan"
    elif not board.live:
        yield "houtei"
    if board.first_turn(seat) and seat != board.dealer:
        yield "renhou"


def _of_riichi(own: Own) -> Iterator[Situation]:
    if own.riichi:
        yield own.riichi
    if own.ippatsu:
        yield "ippatsu"
