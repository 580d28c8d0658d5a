"""What becomes of a seat's tiles, where they are known."""

from collections.abc import Sequence
from dataclasses import replace

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT
from broker.rules.riichi.referee.board import Board, Meld, Own
from broker.rules.riichi.waits import kind_of


def of_seat(board: Board, seat: Seat, own: Own) -> tuple[Own, ...]:
    """Give what belongs to all, with one seat's changed."""
    at = AT[seat]
    return (*board.owns[:at], own, *board.owns[at + 1 :])


def drawn_by(own: Own, tile: str | None) -> Own:
    """Take a tile. A known hand that draws an unknown one is known no longer."""
    if tile is not None:
        kind_of(tile)
    if own.concealed is None:
        return own
    return replace(own, concealed=None if tile is None else (*own.concealed, tile))


def without(own: Own, used: Sequence[str]) -> tuple[str, ...] | None:
    """Give a hand without tiles. Raises RuleError `tiles_missing`, `unknown_tile`."""
    kinds = [kind_of(tile) for tile in used]
    if own.concealed is None:
        return None
    left = list(own.concealed)
    for tile, kind in zip(used, kinds, strict=True):
        found = tile if tile in left else next((one for one in left if kind_of(one) == kind), None)
        if found is None:
            raise RuleError("tiles_missing", f"the hand does not hold {' '.join(used)}")
        left.remove(found)
    return tuple(left)


def melded(own: Own, meld: Meld, used: Sequence[str]) -> Own:
    """Lay a set down with tiles of the hand."""
    return replace(own, concealed=without(own, used), melds=(*own.melds, meld))


def sets_left(own: Own, seat: Seat) -> None:
    """Raise RuleError `tiles_missing` where four sets lie there already."""
    if len(own.melds) == 4:  # noqa: PLR2004 - sets of a hand
        raise RuleError("tiles_missing", f"{seat} has laid four sets down")
