"""How far a hand is from winning, for who has to choose a discard. Value and minimum are not looked at."""

from collections.abc import Sequence
from typing import Final

from broker.rules.deal import COPIES, KINDS
from broker.rules.errors import RuleError
from broker.rules.mcr.fan import code_from_tile, mahjong_gb, tile_from_code
from broker.rules.mcr.hand import STARTING_TILES, McrMeld, check_tiles, held_of_each, is_winning

FORMS: Final = {
    STARTING_TILES: (
        "RegularShanten",
        "SevenPairsShanten",
        "KnittedStraightShanten",
        "HonorsAndKnittedTilesShanten",
        "ThirteenOrphansShanten",
    ),
    STARTING_TILES - 3: ("RegularShanten", "KnittedStraightShanten"),
}
"""The library's question for each shape, by the number of concealed tiles; with two melds and more only one is left."""


def shanten(concealed: Sequence[str], melds: Sequence[McrMeld] = ()) -> int:
    """Return how many tiles are missing until the hand waits: 0 where it does, and then `mcr_waits` is not empty.

    `concealed`: the tiles after a discard, 13 and three less for each meld. Raises RuleError `unknown_tile`,
    `wrong_tile_count`, `five_of_a_tile`, `fan_counter_missing` or `fan_counter_failed`.
    """
    return shanten_and_useful(concealed, melds)[0]


def shanten_and_useful(concealed: Sequence[str], melds: Sequence[McrMeld] = ()) -> tuple[int, tuple[str, ...]]:
    """Return the shanten, and the tiles that bring a hand nearer to the shape or shapes to which it is nearest.

    Tiles of which the hand has all four are left out. Arguments and errors as for `shanten`.
    """
    check_tiles(concealed, melds)
    hand = tuple(code_from_tile(tile) for tile in concealed)
    try:
        forms = [getattr(mahjong_gb(), form)(hand=hand) for form in FORMS.get(len(hand), ("RegularShanten",))]
    except TypeError as error:
        raise RuleError("fan_counter_failed", f"PyMahjongGB does not take this hand: {error}") from None
    least = min(missing for missing, _ in forms)
    codes = {code for missing, useful in forms if missing == least for code in useful}
    free = _free(concealed, melds)
    tiles = tuple(tile for tile in KINDS if tile in free and tile in {tile_from_code(code) for code in codes})
    return (least, tiles) if least or mcr_waits(concealed, melds) else (1, free)


def mcr_waits(concealed: Sequence[str], melds: Sequence[McrMeld] = ()) -> tuple[str, ...]:
    """The tiles that would complete the hand, without those of which it has all four. Arguments as for `shanten`.

    Raises RuleError `unknown_tile`, `wrong_tile_count` or `five_of_a_tile`.
    """
    check_tiles(concealed, melds)
    return tuple(tile for tile in _free(concealed, melds) if is_winning((*concealed, tile)))


def _free(concealed: Sequence[str], melds: Sequence[McrMeld]) -> tuple[str, ...]:
    held = held_of_each(concealed, melds)
    return tuple(tile for tile in KINDS if held[tile] < COPIES)
