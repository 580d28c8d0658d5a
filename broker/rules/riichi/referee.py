"""The riichi referee: from an action to the board after it (RIICHI-PLAY, MONTREAL). Turns, riichi, tsumo and ron.

It decides who may win and what the way of winning adds; yaku are counted elsewhere (`value.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from broker.errors import RuleError
from broker.protocol import Seat
from broker.rules.deal import NEXT_SEAT, SEAT_INDEX, seat_in_turn, turns_between
from broker.rules.riichi import calls
from broker.rules.riichi.board import (
    ActionKind,
    Board,
    Phase,
    RiichiAction,
    SeatBoard,
    WinSituation,
    abort_after_pass,
    check_nine_terminals,
    with_drawn,
    with_seat,
    without_tiles,
)
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.waits import PassedTile, furiten, orphans_wait, riichi_waits, tile_kind


def check_riichi(board: Board, seat: Seat, tile: str | None, rules: RiichiProfile) -> None:
    """Raise RuleError if a seat may not declare riichi with the discard of a tile."""
    player, needed = board.player(seat), rules.play.riichi_tiles_left.value
    if player.riichi:
        raise RuleError("riichi_twice", f"{seat} has declared riichi")
    if player.open:
        raise RuleError("riichi_open_hand", f"{seat} has called a tile, so the hand is open")
    if board.live < needed:
        raise RuleError("riichi_too_late", f"{board.live} tiles are left in the live wall; riichi needs {needed}")
    if player.points is not None and player.points < rules.points.deposit.value:
        raise RuleError("riichi_without_points", f"{seat} has {player.points} points, too few for the deposit")
    left = without_tiles(player, (tile,)) if tile else player.concealed
    if left is not None and not riichi_waits(left, [meld.tiles for meld in player.melds]):
        raise RuleError("riichi_not_tenpai", f"without {tile} the hand of {seat} waits for nothing")


def declare_riichi(board: Board, seat: Seat, player: SeatBoard, rules: RiichiProfile) -> SeatBoard:
    """Return a seat after declaring riichi: double if this is its first discard and nobody has called."""
    points = None if player.points is None else player.points - rules.points.deposit.value
    return replace(player, riichi="double_riichi" if board.first_turn(seat) else "riichi", ippatsu=True, points=points)


def _tsumo(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    """Win on the drawn tile."""
    seat = seat_in_turn(board.turn, action)
    player = board.player(seat)
    if board.extra == "claimed":
        raise RuleError("hu_on_claimed_tile", f"{seat} has claimed a tile, not drawn one")
    if player.concealed is not None:
        rest, tile = player.concealed[:-1], player.concealed[-1]
        if tile_kind(tile) not in riichi_waits(rest, [meld.tiles for meld in player.melds]):
            raise RuleError("not_winning", f"{tile} does not complete the hand of {seat}")
    due = board.indicators_due if rules.play.rinshan_dora.value else 0
    turned = replace(board, indicators=board.indicators + due, indicators_due=0)
    return replace(turned, over="win", situation={seat: (*_tsumo_situations(board, seat), *_riichi_situations(player))})


def _ron(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    """Win on another player's tile.

    Where only the nearest wins, the other declarations are annulled (RIICHI-PLAY); three may abort the hand (MONTREAL).
    """
    declared = action.actors
    if not declared:
        raise RuleError("winner_missing", "name the player who declares ron")
    if len({*declared}) < len(declared):
        raise RuleError("winner_twice", "a seat is named twice")
    if board.turn in declared:
        raise RuleError("discarder_wins", f"{board.turn} cannot win on their own discard")
    in_turn = sorted(declared, key=lambda seat: turns_between(board.turn, seat))
    for seat in in_turn:
        _check_ron(board, seat, rules)
    several, players = rules.session.ron.several.value, _with_deposit_returned(board, rules)
    if several == "triple_aborts" and len(in_turn) == len(board.players) - 1:
        return replace(board, over="triple_ron", players=players)
    winners = in_turn[:1] if several == "nearest" else in_turn
    situation = {seat: (*_ron_situations(board, seat), *_riichi_situations(board.player(seat))) for seat in winners}
    return replace(board, over="win", players=players, situation=situation)


def _check_ron(board: Board, seat: Seat, rules: RiichiProfile) -> None:
    player = board.player(seat)
    orphans = player.concealed is None or (not player.melds and orphans_wait(player.concealed))
    if board.seen[-1].kan == "concealed" and not (orphans and rules.play.orphans_rob.value):
        raise RuleError("concealed_kan_robbed", f"{seat} cannot rob a concealed kan; only thirteen orphans may")
    if player.concealed is None:
        return
    wait = player.waits()
    if tile_kind(board.offered) not in wait:
        raise RuleError("not_winning", f"{board.offered} does not complete the hand of {seat}")
    why = furiten(SEAT_INDEX[seat], wait, board.seen[:-1], orphans=orphans)
    if why:
        raise RuleError("furiten", f"{seat} may win only by drawing: {', '.join(why)}")


def _with_deposit_returned(board: Board, rules: RiichiProfile) -> tuple[SeatBoard, ...]:
    """Return the deposit of a riichi whose own discard is won on, since that riichi never took effect."""
    player = board.player(board.turn)
    if board.phase != "claim" or not board.seen[-1].riichi:
        return board.players
    points = None if player.points is None else player.points + rules.points.deposit.value
    return with_seat(board, board.turn, replace(player, riichi="", ippatsu=False, points=points))


def _tsumo_situations(board: Board, seat: Seat) -> Iterator[WinSituation]:
    """MONTREAL: a replacement tile is never the last one, so rinshan and haitei exclude each other."""
    if board.extra == "replacement":
        yield "rinshan"
    elif not board.live:
        yield "haitei"
    if board.first_turn(seat):
        yield "tenhou" if seat == board.dealer else "chiihou"


def _ron_situations(board: Board, seat: Seat) -> Iterator[WinSituation]:
    if board.phase == "kan":
        yield "chankan"
    elif not board.live:
        yield "houtei"
    if board.first_turn(seat) and seat != board.dealer:
        yield "renhou"


def _riichi_situations(player: SeatBoard) -> Iterator[WinSituation]:
    if player.riichi:
        yield player.riichi
    if player.ippatsu:
        yield "ippatsu"


def apply_riichi_action(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    """Return the board after an action; the given one is unchanged. Raises RuleError if the action is not legal."""
    if board.over is not None:
        raise RuleError("play_over", f"{action.do}: the hand is over ({board.over})")
    if board.phase not in PHASES[action.do]:
        raise RuleError("wrong_phase", f"{action.do} does not follow here: {board.turn} is at {board.phase}")
    return MOVES[action.do](board, action, rules)


def _draw(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    seat = seat_in_turn(board.turn, action)
    if board.phase == "kan":  # nobody robbed it
        board = calls.form_kan(board, rules)
    if not board.live:
        raise RuleError("wall_empty", "only the dead wall is left, which nobody draws from")
    players = with_seat(board, seat, with_drawn(board.player(seat), action.tile))
    return replace(board, phase="hold", live=board.live - 1, players=players, drawn=action.tile or "")


def _discard(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    return _after_discard(board, seat_in_turn(board.turn, action), action.tile, rules, declares=False)


def _riichi(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    seat = seat_in_turn(board.turn, action)
    check_riichi(board, seat, action.tile, rules)
    return _after_discard(board, seat, action.tile, rules, declares=True)


def _after_discard(board: Board, seat: Seat, tile: str | None, rules: RiichiProfile, *, declares: bool) -> Board:
    """Discard a tile into the river."""
    named = _checked_discard(board, seat, tile)
    player = board.player(seat)
    left = replace(player, concealed=without_tiles(player, (named,)), ippatsu=False)
    if declares:
        left = declare_riichi(board, seat, left, rules)
    seen = (*board.seen, PassedTile(SEAT_INDEX[seat], named, riichi=declares))
    turned = replace(
        board, indicators=board.indicators + board.indicators_due, indicators_due=0, forbidden=frozenset(), drawn=""
    )
    return replace(turned, phase="claim", players=with_seat(board, seat, left), seen=seen)


def _checked_discard(board: Board, seat: Seat, tile: str | None) -> str:
    """Return the discarded tile: in riichi always the drawn one, and after a call none that kuikae forbids."""
    if tile is None:
        raise RuleError("tile_missing", f"{seat} discards: which tile?")
    if tile_kind(tile) in board.forbidden:
        raise RuleError("kuikae", f"{seat} has called and may not discard {tile} at once")
    if board.player(seat).riichi and board.drawn and tile != board.drawn:
        raise RuleError("drawn_tile_only", f"{seat} is in riichi and discards what was drawn")
    return tile


def _no_call(board: Board, _: RiichiAction, rules: RiichiProfile) -> Board:
    if board.phase == "kan":
        return replace(calls.form_kan(board, rules), phase="draw")
    over = abort_after_pass(board, rules)
    if over is not None:
        return replace(board, over=over)
    if not board.live:
        return replace(board, over="exhaustive_draw")
    return replace(board, turn=NEXT_SEAT[board.turn], phase="draw", extra="drawn")


def _nine_terminals(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    check_nine_terminals(board, seat_in_turn(board.turn, action), rules)
    return replace(board, over="nine_terminals")


PHASES: Final[Mapping[ActionKind, tuple[Phase, ...]]] = {
    "draw": ("draw", "kan"),
    "discard": ("hold",),
    "riichi": ("hold",),
    "no_call": ("claim", "kan"),
    "chii": ("claim",),
    "pon": ("claim",),
    "daiminkan": ("claim",),
    "ankan": ("hold",),
    "shouminkan": ("hold",),
    "tsumo": ("hold",),
    "ron": ("claim", "kan"),
    "nine_terminals": ("hold",),
}
"""The phases in which each action is possible."""

MOVES: Final[Mapping[ActionKind, Callable[[Board, RiichiAction, RiichiProfile], Board]]] = {
    "draw": _draw,
    "discard": _discard,
    "riichi": _riichi,
    "no_call": _no_call,
    "chii": calls.call_chii,
    "pon": calls.call_pon,
    "daiminkan": calls.call_daiminkan,
    "ankan": calls.declare_ankan,
    "shouminkan": calls.declare_shouminkan,
    "tsumo": _tsumo,
    "ron": _ron,
    "nine_terminals": _nine_terminals,
}
