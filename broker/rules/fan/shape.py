"""Whether tiles are a winning shape, decided without the library that counts them.

A shape is four sets and a pair, seven pairs, thirteen orphans, a knitted straight with a set and a pair, or fourteen
single honours and knitted tiles (Green Book, 7). Melds take their sets away: 14, 11, 8, 5 or 2 tiles are left standing.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

from broker.rules.tiles import KINDS

Counts = list[int]
"""How many there are of each of the 34 kinds, in the order of `KINDS`."""

WHOLE: Final = 14
"""Standing tiles of a hand without melds."""

SUITED: Final = 27
"""Kinds below this index are of a suit, nine each; those from it on are honours."""

ORPHANS: Final = frozenset(index for index, kind in enumerate(KINDS) if kind[1] == "z" or kind[0] in "19")

KNITTED: Final = tuple(
    frozenset(9 * suit + low + step for suit, low in zip(suits, range(3), strict=True) for step in (0, 3, 6))
    for suits in permutations(range(3))
)
"""The six ways to spread 147, 258 and 369 over the suits, nine kinds each."""


def wins(standing: Sequence[str]) -> bool:
    """Say whether the tiles outside melds, with the winning one, complete a hand."""
    counts = counted(standing)
    return _is_regular(counts) or _is_knitted_straight(counts) or (len(standing) == WHOLE and _is_special(counts))


def counted(tiles: Sequence[str]) -> Counts:
    """Count tiles by kind."""
    return [tiles.count(kind) for kind in KINDS]


def is_seven_pairs(counts: Counts) -> bool:
    """Say whether 14 tiles are pairs; four alike are two pairs."""
    return sum(counts) == WHOLE and all(number % 2 == 0 for number in counts)


def _is_special(counts: Counts) -> bool:
    return is_seven_pairs(counts) or _is_thirteen_orphans(counts) or _is_honors_and_knitted(counts)


def _is_thirteen_orphans(counts: Counts) -> bool:
    return {index for index, number in enumerate(counts) if number} == ORPHANS


def _is_honors_and_knitted(counts: Counts) -> bool:
    suited = {index for index, number in enumerate(counts) if number and index < SUITED}
    return max(counts) == 1 and any(suited <= knitted for knitted in KNITTED)


def _is_knitted_straight(counts: Counts) -> bool:
    for knitted in KNITTED:
        rest = [number - (index in knitted) for index, number in enumerate(counts)]
        if min(rest) >= 0 and _is_regular(rest):
            return True
    return False


def _is_regular(counts: Counts) -> bool:
    for index, number in enumerate(counts):
        if number > 1:
            counts[index] -= 2
            found = _are_sets(counts)
            counts[index] += 2
            if found:
                return True
    return False


def _are_sets(counts: Counts) -> bool:
    """Say whether only pungs and chows are left; the lowest tile must be in one of them."""
    low = next((index for index, number in enumerate(counts) if number), None)
    if low is None:
        return True
    chow = [low, low + 1, low + 2] if low < SUITED and low % 9 < 7 else []  # noqa: PLR2004 - no chow begins at 8 or 9
    return any(_without(counts, tiles) for tiles in ([low] * 3, chow) if tiles)


def _without(counts: Counts, tiles: Sequence[int]) -> bool:
    if any(counts[tile] < tiles.count(tile) for tile in tiles):
        return False
    rest = counts.copy()
    for tile in tiles:
        rest[tile] -= 1
    return _are_sets(rest)
