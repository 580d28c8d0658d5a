"""An action into the board after it: turn order, calls, kans (RIICHI-PLAY, MONTREAL)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT, NEXT
from broker.rules.riichi.furiten import Seen
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee import called, kans, riichi, wins
from broker.rules.riichi.referee.aborts import after_pass, nine_terminals
from broker.rules.riichi.referee.actions import Action, Do
from broker.rules.riichi.referee.board import Board, Phase
from broker.rules.riichi.referee.tiles import drawn_by, of_seat, without
from broker.rules.riichi.waits import kind_of


def apply(board: Board, action: Action, rules: RiichiProfile) -> Board:
    """Give the board after an action. Raises RuleError where it is not legal; the board is a value and stays."""
    if board.over is not None:
        raise RuleError("play_over", f"{action.do}: the hand is over ({board.over})")
    if board.phase not in PHASES[action.do]:
        raise RuleError("wrong_phase", f"{action.do} does not follow here: {board.turn} is at {board.phase}")
    return MOVES[action.do](board, action, rules)


def acting(action: Action) -> Seat:
    """Give who acts. Raises RuleError `seat_missing`."""
    if action.seat is None:
        raise RuleError("seat_missing", f"{action.do}: whose?")
    return action.seat


def own_turn(board: Board, action: Action) -> Seat:
    """Give who acts in turn. Raises RuleError `seat_missing`, `not_your_turn`."""
    seat = acting(action)
    if seat != board.turn:
        raise RuleError("not_your_turn", f"{action.do}: it is the turn of {board.turn}, not of {seat}")
    return seat


def _draw(board: Board, action: Action, rules: RiichiProfile) -> Board:
    seat = own_turn(board, action)
    if board.phase == "kan":  # nobody robbed it
        board = kans.formed(board, rules)
    if not board.live:
        raise RuleError("wall_empty", "only the dead wall is left, which nobody draws from")
    owns = of_seat(board, seat, drawn_by(board.own(seat), action.tile))
    return replace(board, phase="hold", live=board.live - 1, owns=owns, drawn=action.tile or "")


def _discard(board: Board, action: Action, rules: RiichiProfile) -> Board:
    return _laid(board, own_turn(board, action), action.tile, rules, declares=False)


def _riichi(board: Board, action: Action, rules: RiichiProfile) -> Board:
    seat = own_turn(board, action)
    riichi.check(board, seat, action.tile, rules)
    return _laid(board, seat, action.tile, rules, declares=True)


def _laid(board: Board, seat: Seat, tile: str | None, rules: RiichiProfile, *, declares: bool) -> Board:
    """Lay a tile into the river."""
    named = _discarded(board, seat, tile)
    own = board.own(seat)
    left = replace(own, concealed=without(own, (named,)), ippatsu=False)
    if declares:
        left = riichi.declared(board, seat, left, rules)
    seen = (*board.seen, Seen(AT[seat], named, riichi=declares))
    turned = replace(board, indicators=board.indicators + board.to_turn, to_turn=0, forbidden=frozenset(), drawn="")
    return replace(turned, phase="claim", owns=of_seat(board, seat, left), seen=seen)


def _discarded(board: Board, seat: Seat, tile: str | None) -> str:
    """Give what is discarded: in riichi always the drawn tile, and after a call nothing that kuikae forbids."""
    if tile is None:
        raise RuleError("tile_missing", f"{seat} discards: which tile?")
    if kind_of(tile) in board.forbidden:
        raise RuleError("kuikae", f"{seat} has called and may not discard {tile} at once")
    if board.own(seat).riichi and board.drawn and tile != board.drawn:
        raise RuleError("drawn_tile_only", f"{seat} is in riichi and discards what was drawn")
    return tile


def _no_call(board: Board, _: Action, rules: RiichiProfile) -> Board:
    if board.phase == "kan":
        return replace(kans.formed(board, rules), phase="draw")
    over = after_pass(board, rules)
    if over is not None:
        return replace(board, over=over)
    if not board.live:
        return replace(board, over="exhaustive_draw")
    return replace(board, turn=NEXT[board.turn], phase="draw", extra="drawn")


def _chii(board: Board, action: Action, rules: RiichiProfile) -> Board:
    return called.chii(board, acting(action), action.tiles, rules)


def _pon(board: Board, action: Action, rules: RiichiProfile) -> Board:
    return called.pon(board, acting(action), action.tiles, rules)


def _daiminkan(board: Board, action: Action, rules: RiichiProfile) -> Board:
    return called.daiminkan(board, acting(action), rules)


def _ankan(board: Board, action: Action, _: RiichiProfile) -> Board:
    return kans.ankan(board, own_turn(board, action), action.tile)


def _shouminkan(board: Board, action: Action, _: RiichiProfile) -> Board:
    return kans.shouminkan(board, own_turn(board, action), action.tile)


def _tsumo(board: Board, action: Action, rules: RiichiProfile) -> Board:
    return wins.tsumo(board, own_turn(board, action), rules)


def _ron(board: Board, action: Action, rules: RiichiProfile) -> Board:
    return wins.ron(board, action.actors, rules)


def _nine_terminals(board: Board, action: Action, rules: RiichiProfile) -> Board:
    nine_terminals(board, own_turn(board, action), rules)
    return replace(board, over="nine_terminals")


PHASES: Final[Mapping[Do, tuple[Phase, ...]]] = {
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
"""When each action has its place."""

MOVES: Final[Mapping[Do, Callable[[Board, Action, RiichiProfile], Board]]] = {
    "draw": _draw,
    "discard": _discard,
    "riichi": _riichi,
    "no_call": _no_call,
    "chii": _chii,
    "pon": _pon,
    "daiminkan": _daiminkan,
    "ankan": _ankan,
    "shouminkan": _shouminkan,
    "tsumo": _tsumo,
    "ron": _ron,
    "nine_terminals": _nine_terminals,
}
