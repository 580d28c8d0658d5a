"""Kans: how many, of what, and when the indicator of each is turned (MONTREAL: late, but for concealed ones)."""

from dataclasses import replace

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT
from broker.rules.riichi.furiten import Seen
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.board import MOST_KANS, Board, Meld, Own
from broker.rules.riichi.referee.tiles import melded, of_seat, sets_left, without
from broker.rules.riichi.waits import kind_of, waits


def check_limits(board: Board) -> None:
    """Raise RuleError where nobody can make a kan: after the fourth, or without a tile to replace it."""
    if len(board.kans) == MOST_KANS:
        raise RuleError("fifth_kan", f"{MOST_KANS} kans have been made; there is no tile for another")
    if not board.live:
        raise RuleError("kan_without_wall", "the last tile has been drawn, so no kan can be replaced")


def ankan(board: Board, seat: Seat, tile: str | None) -> Board:
    """Lay down four of the own tiles. Only thirteen orphans may rob them."""
    kind = _own_kan(board, seat, tile)
    own = board.own(seat)
    sets_left(own, seat)
    if own.riichi:
        _keeps_waits(board, own, kind)
    came = melded(own, Meld("kan", (kind,) * 4, open=False), (kind,) * 4)
    return _open_to_robbing(board, seat, came, Seen(AT[seat], kind, kan="concealed"))


def shouminkan(board: Board, seat: Seat, tile: str | None) -> Board:
    """Add the fourth tile to an open pon."""
    kind = _own_kan(board, seat, tile)
    own = board.own(seat)
    pons = [meld for meld in own.melds if meld.kind == "pon" and kind_of(meld.tiles[0]) == kind]
    if not pons:
        raise RuleError("tiles_missing", f"{seat} has no open pon of {kind}")
    added = Meld("kan", (*pons[0].tiles, kind))
    melds = tuple(added if meld is pons[0] else meld for meld in own.melds)
    return _open_to_robbing(
        board, seat, replace(own, concealed=without(own, (kind,)), melds=melds), Seen(AT[seat], kind, kan="added")
    )


def formed(board: Board, rules: RiichiProfile) -> Board:
    """Count the kan that lies open: nobody robbed it. Only now is it one (MONTREAL: chankan never forms it)."""
    open_ = board.seen[-1].kan == "added"
    quiet = tuple(replace(own, ippatsu=False) for own in board.owns)
    return counted(replace(board, owns=quiet, unbroken=False), board.turn, rules, open_=open_)


def counted(board: Board, seat: Seat, rules: RiichiProfile, *, open_: bool) -> Board:
    """Turn the indicators that are due, and note the one of this kan."""
    late = open_ and rules.play.open_kan_dora.value == "with_discard"
    turned = board.indicators + board.to_turn + (0 if late else 1)
    return replace(board, kans=(*board.kans, seat), indicators=turned, to_turn=1 if late else 0)


def _own_kan(board: Board, seat: Seat, tile: str | None) -> str:
    if tile is None:
        raise RuleError("tile_missing", f"{seat} makes a kan: of which tile?")
    if board.extra == "claimed":
        raise RuleError("kong_after_claim", f"{seat} has claimed a tile, not drawn one, and must discard")
    check_limits(board)
    return kind_of(tile)


def _keeps_waits(board: Board, own: Own, kind: str) -> None:
    """Raise RuleError where a kan in riichi is not of the drawn tile, or changes what the hand waits for."""
    if board.drawn and kind_of(board.drawn) != kind:
        raise RuleError("drawn_tile_only", "in riichi a kan is made of the drawn tile")
    if own.concealed is None:
        return
    melds = [meld.tiles for meld in own.melds]
    before = waits(own.concealed[:-1], melds)
    after = waits(without(own, (kind,) * 4) or (), [*melds, (kind,) * 4])
    if before != after:
        raise RuleError("kan_changes_waits", f"a kan of {kind} would change what the hand in riichi waits for")


def _open_to_robbing(board: Board, seat: Seat, own: Own, kan: Seen) -> Board:
    owns = of_seat(board, seat, own)
    return replace(board, phase="kan", extra="replacement", owns=owns, seen=(*board.seen, kan), drawn="")
