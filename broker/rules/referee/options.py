"""What the tiles allow a seat, whoever has the turn: the tile that an action may be of, and those of the hand it takes.

The one place where this is said: `moves` refuses what is not among the options, `legal` lists them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from broker.contract.words import Seat
from broker.rules.deal import TRAY
from broker.rules.referee.actions import AT, Do
from broker.rules.referee.play import Play
from broker.rules.tiles import COPIES, KINDS

Options = Mapping[str, tuple[str, ...]]

RUNS: Final[tuple[tuple[str, str, str], ...]] = tuple(
    (f"{low}{suit}", f"{low + 1}{suit}", f"{low + 2}{suit}") for suit in "mps" for low in range(1, 8)
)
"""The 21 chows."""

CHOWS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    claimed: {run[0]: tuple(tile for tile in run if tile != claimed) for run in RUNS if claimed in run}
    for claimed in KINDS
}
"""By claimed tile, each chow by its lowest tile, with the two that have to be in the hand."""


def _draw(play: Play, seat: Seat) -> Options:
    left = play.turns.walls[AT[seat]]
    return {play.deal.faces[seat][TRAY - left]: ()} if left else {}


def _discard(play: Play, seat: Seat) -> Options:
    return {tile: (tile,) for tile in play.hand(seat).concealed}


def _chow(play: Play, seat: Seat) -> Options:
    held = play.hand(seat).concealed
    chows = CHOWS.get(play.offered, {})
    return {low: others for low, others in chows.items() if all(tile in held for tile in others)}


def _pung(play: Play, seat: Seat) -> Options:
    return _of_the_same(play, seat, 2)


def _melded_kong(play: Play, seat: Seat) -> Options:
    return _of_the_same(play, seat, 3)


def _of_the_same(play: Play, seat: Seat, count: int) -> Options:
    tile = play.offered
    return {tile: (tile,) * count} if play.hand(seat).concealed.count(tile) >= count else {}


def _concealed_kong(play: Play, seat: Seat) -> Options:
    held = play.hand(seat).concealed
    return {tile: (tile,) * COPIES for tile in held if held.count(tile) == COPIES}


def _added_kong(play: Play, seat: Seat) -> Options:
    hand = play.hand(seat)
    return {tile: (tile,) for tile in _pungs(play, seat) if tile in hand.concealed}


def _pungs(play: Play, seat: Seat) -> Iterator[str]:
    return (meld.tiles[0] for meld in play.hand(seat).melds if meld.kind == "pung")


OPTIONS: Final[Mapping[Do, Callable[[Play, Seat], Options]]] = {
    "draw": _draw,
    "discard": _discard,
    "chow": _chow,
    "pung": _pung,
    "melded_kong": _melded_kong,
    "concealed_kong": _concealed_kong,
    "added_kong": _added_kong,
}
"""Every action that is of a tile."""

ONE_TILE_ONLY: Final[frozenset[Do]] = frozenset({"draw", "pung", "melded_kong"})
"""Actions that can be of one tile only, the next of the wall or the one discarded, and need not name it."""
