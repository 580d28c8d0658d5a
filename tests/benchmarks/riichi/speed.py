"""How quick a hand is counted: `python -m tests.benchmarks.riichi.speed [HANDS]`.

Prints the median and the 99th percentile of our whole count of a hand (checked, yaku, fu item by item, payments), of
the library alone on the same hands, and the ratio of the medians.
"""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random
from statistics import median, quantiles
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Hand, Situation
from broker.rules.riichi.library import counted
from broker.rules.riichi.profile_files import load
from broker.rules.riichi.value import value_and_payments
from tests.benchmarks.riichi.hands import winning_hand

PROFILE: Final = load("riichi-montreal")
HANDS: Final = 2000


def ours(hand: Hand, said: Situation) -> None:
    """Count a hand as the command does."""
    with suppress(RuleError):  # a hand without yaku takes as long
        value_and_payments(hand, said, PROFILE)


def library(hand: Hand, said: Situation) -> None:
    """Ask the library alone."""
    counted(hand, said, PROFILE)


def milliseconds(count: Callable[[Hand, Situation], None], hands: list[tuple[Hand, Situation]]) -> list[float]:
    """Give how long each hand took on the processor, whatever else runs on it."""
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
