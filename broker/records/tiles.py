"""Tiles as PMN writes them: `c` characters, `d` dots, `b` bamboo, `w` the four winds, `r` red, green, white."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from broker.rules.errors import RuleError

LETTERS: Final = "cdbwr"

FLOWERS: Final = "f"
"""PMN has eight of them; duplicate plays without (MIL). A hand ends with the bare letter."""

OURS: Final[dict[str, str]] = {
    **{f"{letter}{rank}": f"{rank}{suit}" for letter, suit in zip("cdb", "mps", strict=True) for rank in range(1, 10)},
    **{f"w{rank}": f"{rank}z" for rank in range(1, 5)},
    "r1": "7z",
    "r2": "6z",
    "r3": "5z",
}
"""Our name for each of PMN's. PMN does not say in which order the dragons are: red, green, white is our reading."""

THEIRS: Final[dict[str, str]] = {ours: theirs for theirs, ours in OURS.items()}

ORDER: Final[dict[str, int]] = {ours: at for at, ours in enumerate(OURS.values())}
"""A tile's place in a hand as PMN writes it."""


def read_tile(written: str) -> str:
    """Give our name for a tile of PMN's. Raises RuleError `unknown_pmn_tile`."""
    if written not in OURS:
        raise RuleError("unknown_pmn_tile", f"{written[:20]!r} is no tile: c1..c9, d1..d9, b1..b9, w1..w4, r1..r3")
    return OURS[written]


def read_tiles(written: str) -> tuple[str, ...]:
    """Read tiles in their order; a letter holds for all digits up to the next. Raises RuleError `unknown_pmn_tile`."""
    letter, tiles = "", []
    for character in written:
        if character in LETTERS + FLOWERS:
            letter = character
        else:
            tiles.append(read_tile(letter + character))
    return tuple(tiles)


def write_hand(tiles: Iterable[str]) -> str:
    """Write a hand, sorted: `c7d345677b3689w2r1f`."""
    digits = dict.fromkeys(LETTERS + FLOWERS, "")
    for tile in in_order(tiles):
        written = THEIRS[tile]
        digits[written[0]] += written[1]
    return "".join(letter + found for letter, found in digits.items())


def write_wall(tiles: Iterable[str]) -> str:
    """Write tiles in the order in which they lie: `r2b66d1`."""
    runs = groupby((THEIRS[tile] for tile in tiles), key=lambda written: written[0])
    return "".join(letter + "".join(written[1] for written in run) for letter, run in runs)


def in_order(tiles: Iterable[str]) -> tuple[str, ...]:
    """Sort tiles as PMN does."""
    return tuple(sorted(tiles, key=ORDER.__getitem__))
