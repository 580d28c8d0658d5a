"""Seven Pairs counted from the book without the library, and winning shapes generated set by set."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Final

from broker.rules import KINDS
from broker.rules.mcr import McrSituation

GREEN: Final = frozenset(["2s", "3s", "4s", "6s", "8s", "6z"])

REVERSIBLE: Final = frozenset(
    [f"{rank}p" for rank in (1, 2, 3, 4, 5, 8, 9)] + [f"{rank}s" for rank in (2, 4, 5, 6, 8, 9)] + ["5z"]
)

RANKS: Final = (
    ("upper_tiles", "789"),
    ("middle_tiles", "456"),
    ("lower_tiles", "123"),
    ("upper_four", "6789"),
    ("lower_four", "1234"),
)
"""Only the first that applies is counted."""

CHOWS: Final = tuple(KINDS[low : low + 3] for low in range(27) if low % 9 < 7)

PUNGS: Final = tuple((kind,) * 3 for kind in KINDS)


def seven_pairs(tiles: Sequence[str], how: McrSituation) -> list[str]:
    """Return the Green Book's fan of seven pairs that are not shifted. Four of a kind are a Tile Hog."""
    found = {"seven_pairs"} | _of_suits(set(tiles)) | _of_ranks(set(tiles))
    if "reversible_tiles" in found:
        found.discard("one_voided_suit")
    if found & {fan_id for fan_id, _ in RANKS} | found & {"all_simples"}:
        found.discard("no_honors")
    if "middle_tiles" in found:
        found.discard("all_simples")
    if "all_green" in found:
        found.discard("half_flush")
    if "all_terminals" in found:
        found.discard("no_honors")
    if how.self_drawn:
        found.add("fully_concealed_hand")
    if how.last_tile:
        found.add("last_tile_draw" if how.self_drawn else "last_tile_claim")
    hogs = sum(number == 4 for number in Counter(tiles).values())
    return [*found, *["tile_hog"] * hogs]


def _of_suits(kinds: set[str]) -> set[str]:
    suits = {kind[1] for kind in kinds} - {"z"}
    honors = {kind for kind in kinds if kind[1] == "z"}
    if not suits:
        return {"all_honors"}
    if len(suits) == 1:
        return {"half_flush" if honors else "full_flush"}
    found = {"one_voided_suit"} if len(suits) == 2 else set()
    if len(suits) == 3 and {kind < "5z" for kind in honors} == {True, False}:
        found.add("all_types")
    return found if honors else found | {"no_honors"}


def _of_ranks(kinds: set[str]) -> set[str]:
    found = {"reversible_tiles"} if kinds <= REVERSIBLE else set()
    if kinds <= GREEN:
        found.add("all_green")
    ranks = {kind[0] if kind[1] != "z" else "z" for kind in kinds}
    if ranks <= set("2345678"):
        found.add("all_simples")
    if ranks <= set("19z") and ranks != {"z"}:
        found.add("all_terminals_and_honors" if "z" in ranks else "all_terminals")
    return found | set([fan_id for fan_id, among in RANKS if ranks <= set(among)][:1])


def regular_shapes(suit: str, sets: int) -> set[tuple[str, ...]]:
    """Return every sorted hand of `sets` sets and a pair in one suit."""
    of_suit = [one for one in CHOWS + PUNGS if one[0][1] == suit]
    pairs = [(kind, kind) for kind in KINDS if kind[1] == suit]
    built = {
        tuple(sorted([tile for one in chosen for tile in one] + list(pair)))
        for chosen in combinations_with_replacement(of_suit, sets)
        for pair in pairs
    }
    return {tiles for tiles in built if max(Counter(tiles).values()) <= 4}
