"""Wins that the library does not count as these rules do: first turns, the disjoint hand, after eight counters."""

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Final

from broker.rules.fan.shape import SUITED, counted
from broker.rules.riichi.hand import Hand, Situation
from broker.rules.riichi.profile import HandRules

DISJOINT_KINDS: Final = 13
"""Kinds of tiles in the disjoint hand: one of them is there twice."""

NEAR: Final = 2
"""Tiles of a suit that are so far apart or less can come into one chii."""


def is_disjoint(hand: Hand, said: Situation, rules: HandRules) -> bool:
    """Say whether the first 14 tiles are one pair and twelve others without any two that fit together (shiisanputa)."""
    if rules.shiisanputa.value == "none" or not (said.first_turn and said.self_drawn):
        return False
    counts = counted(hand.standing)
    kinds = [index for index, number in enumerate(counts) if number]
    suited = [index for index in kinds if index < SUITED]
    near = any(high - low <= NEAR and high // 9 == low // 9 for low, high in pairwise(suited))
    return len(kinds) == DISJOINT_KINDS and not near


def yakuman_of_the_moment(said: Situation, rules: HandRules, yaku: Collection[str]) -> Iterator[str]:
    """Give the yakuman that a win has by when it comes, whatever its tiles."""
    if said.first_turn and said.self_drawn:
        yield "tenhou" if said.dealer else "chiihou"
    elif said.first_turn and rules.renhou.value == "yakuman":
        yield "renhou"
    if said.after_eight_counters and _is_paarenchan(said, rules, yaku):
        yield "paarenchan"


def _is_paarenchan(said: Situation, rules: HandRules, yaku: Collection[str]) -> bool:
    if rules.paarenchan.value == "with_yaku":
        by_the_moment = said.first_turn and (said.self_drawn or rules.renhou.value != "none")
        return bool(yaku) or by_the_moment
    return rules.paarenchan.value == "any_hand"


def is_renhou_mangan(said: Situation, rules: HandRules) -> bool:
    """Say whether the win is a renhou that is a mangan at least."""
    return said.first_turn and not said.self_drawn and rules.renhou.value == "mangan"
