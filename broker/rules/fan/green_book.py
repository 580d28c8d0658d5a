"""What the Green Book counts otherwise than PyMahjongGB (docs/fan.md).

Values differ for kongs (fan.toml). Beside that, *Fully Concealed Hand* is counted for a self-drawn hand of a kind that
is concealed by nature, where the library counts *Self-Drawn* or, beside *Last Tile Draw* and *Out with Replacement
Tile*, nothing.

The library has already chosen the division of the hand that is worth most by *its* values. Another one may be worth
more by the Green Book's, so each difference is looked at:

* Kongs are melds and so the same in every division.
* Nine Gates, Seven Shifted Pairs and Thirteen Orphans are taken before any division, as in the book.
* Four Concealed Pungs: only three consecutive pungs of a suit can be divided otherwise (into chows), and then the pungs
  are worth Pure Shifted Pungs 24 as well: the library has chosen them already.
* Seven Pairs gain up to 4. In a hand that is also four sets and a pair every count is even, and no sum of different
  chows is even in every tile. So its chows are a, a, b, b or all alike, or there are pungs that make up for them: n and
  n + 3 beside two chows, or n, n + 1 and n + 2 beside one. The last is all alike, too, and all alike is Quadruple Chow
  48. Of the others Pure Terminal Chows 64 stay ahead, and all that comes near the 24 of Seven Pairs is All Fives, which
  may be overtaken. So where the library says All Fives with Pure Double Chow, both are compared.

Tests go through all these hands.
"""

from collections.abc import Sequence
from typing import Final

from broker.rules.fan.catalogue import value
from broker.rules.fan.hand import Hand, Situation
from broker.rules.fan.shape import counted, is_seven_pairs

CONCEALED_BY_NATURE: Final = frozenset(
    ["seven_pairs", "seven_shifted_pairs", "thirteen_orphans", "nine_gates", "four_concealed_pungs"]
)

OF_THE_DIVISION: Final = frozenset(
    [
        "all_fives",
        "all_chows",
        "pure_double_chow",
        "mixed_double_chow",
        "short_straight",
        "edge_wait",
        "closed_wait",
        "single_wait",
    ]
)
"""What the chows a, a, b, b and a pair, each with a five, can count that seven pairs do not."""


def by_green_book(fan_ids: Sequence[str], hand: Hand, situation: Situation) -> list[str]:
    """Give the fan that the Green Book counts, from those that the library does."""
    if not situation.self_drawn:
        return list(fan_ids)
    ways = [_fully_concealed(fan_ids)]
    if {"all_fives", "pure_double_chow"} <= set(fan_ids) and is_seven_pairs(counted(hand.standing)):
        ways.append(_as_seven_pairs(fan_ids))
    return max(ways, key=lambda ids: sum(value(fan_id, "green-book") for fan_id in ids))


def _fully_concealed(fan_ids: Sequence[str]) -> list[str]:
    if CONCEALED_BY_NATURE.isdisjoint(fan_ids):
        return list(fan_ids)
    return [*(fan_id for fan_id in fan_ids if fan_id != "self_drawn"), "fully_concealed_hand"]


def _as_seven_pairs(fan_ids: Sequence[str]) -> list[str]:
    """Read All Fives as Seven Pairs. The division's fan go; All Simples comes back, which All Fives implied."""
    kept = [fan_id for fan_id in fan_ids if fan_id not in OF_THE_DIVISION]
    simples = [] if "middle_tiles" in fan_ids else ["all_simples"]
    return ["seven_pairs", *kept, *simples]
