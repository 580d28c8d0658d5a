"""Chows and pungs as numbers, and what they are worth together: the alphabet of `plans`.

Tiles are columns 0 to 33, in the order of `KINDS`. Sets are 0 to 54: the 21 chows by their lowest tile, then the 34
pungs.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from broker.rules.referee.hand import Meld
from broker.rules.referee.options import RUNS
from broker.rules.tiles import KINDS

Whole = NDArray[Any]

SETS_OF_HAND: Final = 4
TILES_OF_PUNG: Final = 3
TILES_OF_PAIR: Final = 2

CHOWS: Final = len(RUNS)
SETS: Final = CHOWS + len(KINDS)
SUITED: Final = 27
"""Tiles below this number are of a suit."""
DRAGONS: Final = 31
"""Tiles from this number on are dragons; those between are the four winds."""

AT: Final = {kind: at for at, kind in enumerate(KINDS)}
CHOW_OF: Final = {run: at for at, run in enumerate(RUNS)}


def chow(suit: int, low: int) -> int:
    """Number a chow by its suit and the rank of its lowest tile, from 0."""
    return 7 * suit + low


def pung(tile: int) -> int:
    """Number a pung."""
    return CHOWS + tile


def set_of(meld: Meld) -> int:
    """Number a meld; a kong is the pung that it contains."""
    return CHOW_OF[(meld.tiles[0], meld.tiles[1], meld.tiles[2])] if meld.kind == "chow" else pung(AT[meld.tiles[0]])


def counted(tiles: Iterable[str]) -> Whole:
    """Count tiles by column."""
    counts = np.zeros(len(KINDS), dtype=np.int8)
    for tile in tiles:
        counts[AT[tile]] += 1
    return counts


def _vectors() -> Whole:
    vectors = np.zeros((SETS, len(KINDS)), dtype=np.int8)
    for at, run in enumerate(RUNS):
        for tile in run:
            vectors[at, AT[tile]] = 1
    vectors[CHOWS:] = 3 * np.eye(len(KINDS), dtype=np.int8)
    return vectors


TILES_OF: Final = _vectors()
"""The tiles of each set: 55 rows, 34 columns."""


def _related() -> NDArray[np.bool_]:
    """Say which two chows are worth 1 fan: alike, alike in two suits, a short straight, or both ends of a suit."""
    suit, low = np.divmod(np.arange(CHOWS), 7)
    same_suit = suit[:, None] == suit[None, :]
    apart = np.abs(low[:, None] - low[None, :])
    related = np.zeros((SETS, SETS), dtype=np.bool_)
    related[:CHOWS, :CHOWS] = (apart == 0) | (same_suit & ((apart == 3) | (apart == 6)))  # noqa: PLR2004 - 123 456, 123 789
    return related


RELATED: Final = _related()
