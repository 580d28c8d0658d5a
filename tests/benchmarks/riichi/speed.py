"""Measure the speed of counting a hand: `python -m tests.benchmarks.riichi.speed [HANDS]`.

Prints the median and the 99th percentile of our complete count of a hand (checks, yaku, fu item by item, payments), of
the library alone on the same hands, and the ratio of the medians.
"""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random
from statistics import median, quantiles
from typing import Final

from broker.rules import RuleError, load_riichi
from broker.rules.riichi.hand import RiichiHand, RiichiSituation
from broker.rules.riichi.value import count_by_library, value_and_payments
from tests.benchmarks.riichi.hands import winning_hand

PROFILE: Final = load_riichi("riichi-montreal")
HANDS: Final = 2000


def ours(hand: RiichiHand, said: RiichiSituation) -> None:
    """Count a hand as the command does."""
    with suppress(RuleError):  # a hand without yaku takes as long
        value_and_payments(hand, said, PROFILE)


def library(hand: RiichiHand, said: RiichiSituation) -> None:
    """Count a hand with the library alone."""
    count_by_library(hand, said, PROFILE)


def milliseconds(
    count: Callable[[RiichiHand, RiichiSituation], None], hands: list[tuple[RiichiHand, RiichiSituation]]
) -> list[float]:
    """Return the processor time of each hand."""
    taken = []
    for hand, said in hands:
        start = time.thread_time()
        count(hand, said)
        taken.append((time.thread_time() - start) * 1000)
    return taken


def main() -> None:
    """Measure and print."""
    chance = Random(1)
    hands = [winning_hand(chance) for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else HANDS)]
    whole, alone = milliseconds(ours, hands), milliseconds(library, hands)
    print(f"hands                      {len(hands)}")
    print(f"whole count, median        {median(whole):.3f} ms")
    print(f"whole count, 99 of 100     {quantiles(whole, n=100)[-1]:.3f} ms")
    print(f"library alone, median      {median(alone):.3f} ms")
    print(f"ratio, whole to library    {median(whole) / median(alone):.2f}")


if __name__ == "__main__":
    main()
