"""Which tiles complete a riichi hand: four sets and a pair, seven different pairs, or thirteen orphans."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from mahjong.agari import Agari

from broker.rules.errors import RuleError
from broker.rules.tiles import COPIES, KINDS

STARTING: Final = 13

ORPHANS: Final = frozenset(kind for kind in KINDS if kind[1] == "z" or kind[0] in "19")
"""The terminals and honours."""

INDEX: Final = {kind: index for index, kind in enumerate(KINDS)}


def kind_of(tile: str) -> str:
    """Give a tile's face, a red five's too. Raises RuleError `unknown_tile`."""
    kind = f"5{tile[1]}" if len(tile) == 2 and tile[0] == "0" else tile  # noqa: PLR2004 - rank and suit
    if kind not in INDEX:
        raise RuleError("unknown_tile", f"{tile[:20]!r} is no tile: 1m..9m, 1p..9p, 1s..9s, 1z..7z, red 0m 0p 0s")
    return kind


def waits(concealed: Sequence[str], melds: Iterable[Sequence[str]] = ()) -> tuple[str, ...]:
    """Give the tiles that would complete a hand after a discard, without those of which it has all four.

    `concealed`: 13 tiles and three less for each meld. Raises RuleError `unknown_tile`, `wrong_tile_count` or
    `five_of_a_tile`.
    """
    laid_down = [tuple(map(kind_of, meld)) for meld in melds]
    held = Counter(map(kind_of, concealed))
    if held.total() != STARTING - 3 * len(laid_down):
        raise RuleError("wrong_tile_count", f"{held.total()} concealed tiles and {len(laid_down)} melds")
    all_of = held + Counter(tile for meld in laid_down for tile in meld)
    if all_of and max(all_of.values()) > COPIES:
        raise RuleError("five_of_a_tile", f"a set has {COPIES} of each tile")
    return tuple(kind for kind in KINDS if all_of[kind] < COPIES and _completes(held, kind))


def orphans_wait(concealed: Sequence[str]) -> bool:
    """Say whether a hand waits for thirteen orphans, which may rob a concealed kan (MONTREAL)."""
    return (
        len({kind_of(tile) for tile in concealed} & ORPHANS) >= STARTING - 1 and {*map(kind_of, concealed)} <= ORPHANS
    )


def _completes(held: Counter[str], kind: str) -> bool:
    counts = [0] * len(KINDS)
    for tile, number in held.items():
        counts[INDEX[tile]] = number
    counts[INDEX[kind]] += 1
    return bool(Agari.is_agari(counts))
