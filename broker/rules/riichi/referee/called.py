"""Chii, pon and the kan of a discard (RIICHI-PLAY, "Voler une tuile")."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT, NEXT
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee import kans
from broker.rules.riichi.referee.aborts import after_pass
from broker.rules.riichi.referee.board import Board, Meld
from broker.rules.riichi.referee.kuikae import forbidden
from broker.rules.riichi.referee.tiles import melded, of_seat, sets_left
from broker.rules.riichi.waits import kind_of


def chii(board: Board, seat: Seat, used: Sequence[str], rules: RiichiProfile) -> Board:
    """Claim the discard of the player before for a run."""
    _may_call(board, seat, rules)
    if seat != NEXT[board.turn]:
        raise RuleError("chow_not_next", f"{seat} does not sit next after {board.turn}")
    kinds = sorted(map(kind_of, (*used, board.offered)))
    ranks = [int(kind[0]) for kind in kinds]
    suits = {kind[1] for kind in kinds}
    if len(used) != 2 or len(suits) > 1 or suits == {"z"} or ranks != [*range(ranks[0], ranks[0] + 3)]:  # noqa: PLR2004 - two and the one offered
        raise RuleError("not_a_meld", f"{' '.join(used) or 'no tiles'} and {board.offered} are no chii")
    return _taken(board, seat, Meld("chii", (*used, board.offered)), used, rules)


def pon(board: Board, seat: Seat, used: Sequence[str], rules: RiichiProfile) -> Board:
    """Claim a discard for three alike."""
    _may_call(board, seat, rules)
    tiles = used or (kind_of(board.offered),) * 2
    if len(tiles) != 2 or {*map(kind_of, tiles)} != {kind_of(board.offered)}:  # noqa: PLR2004 - tiles of the hand
        raise RuleError("not_a_meld", f"{' '.join(tiles)} and {board.offered} are no pon")
    return _taken(board, seat, Meld("pon", (*tiles, board.offered)), tiles, rules)


def daiminkan(board: Board, seat: Seat, rules: RiichiProfile) -> Board:
    """Claim a discard for four alike; an open pon cannot be completed with it (RIICHI-PLAY)."""
    _may_call(board, seat, rules)
    kans.check_limits(board)
    tile = kind_of(board.offered)
    if any(meld.kind == "pon" and kind_of(meld.tiles[0]) == tile for meld in board.own(seat).melds):
        raise RuleError("kan_of_open_pon", f"{seat} has an open pon of {tile}, which only a drawn tile completes")
    came = _taken(board, seat, Meld("kan", (tile,) * 4), (tile,) * 3, rules)
    return kans.counted(
        replace(came, phase="draw", extra="replacement", forbidden=frozenset()), seat, rules, open_=True
    )


def _may_call(board: Board, seat: Seat, rules: RiichiProfile) -> None:
    if seat == board.turn:
        raise RuleError("own_discard", f"{seat} has discarded this tile")
    if not board.live or after_pass(board, rules):
        raise RuleError("last_discard", "the last discard of a hand can only be won on")
    if board.own(seat).riichi:
        raise RuleError("call_in_riichi", f"{seat} is in riichi")
    sets_left(board.own(seat), seat)


def _taken(board: Board, seat: Seat, meld: Meld, used: Sequence[str], rules: RiichiProfile) -> Board:
    """Move the turn to the caller; who was between misses theirs. Nobody's ippatsu or first turn outlives a call."""
    discarder = replace(board.own(board.turn), called=True)
    owns = of_seat(
        replace(board, owns=of_seat(board, board.turn, discarder)), seat, melded(board.own(seat), meld, used)
    )
    barred = forbidden(meld, board.offered, rules.play.kuikae.value)
    return replace(
        board,
        turn=seat,
        phase="hold",
        extra="claimed",
        owns=tuple(replace(own, ippatsu=False) for own in owns),
        unbroken=False,
        forbidden=_if_any_other(barred, owns[AT[seat]].concealed),
    )


def _if_any_other(barred: frozenset[str], left: Sequence[str] | None) -> frozenset[str]:
    """Give what may not be discarded. A call after which nothing may be discarded is none."""
    if left is not None and left and not Counter(kind_of(tile) for tile in left).keys() - barred:
        raise RuleError("kuikae", "after this call no tile could be discarded")
    return barred
