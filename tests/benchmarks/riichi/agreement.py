"""Compare our fu with the library's: `python -m tests.benchmarks.riichi.agreement [HANDS [SEED [PROFILE...]]]`.

Random winning hands are counted by both, under the shipped profiles (or those given). Printed are how many agree, and
the first that do not. `riichi-montreal` has no fu for the replacement tile, which the library always gives; such hands
are counted again with that option, and appear as `agree but for the option` only if both then agree.
"""

import sys
from collections import Counter
from random import Random
from typing import Final

from msgspec.structs import replace

from broker.rules import RuleError, load_riichi, shipped_riichi
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.hand import RiichiHand, RiichiSituation
from broker.rules.riichi.value import count_by_library, riichi_value
from tests.benchmarks.riichi.hands import winning_hand

HANDS: Final = 5000
SHOWN: Final = 5

Win = tuple[RiichiHand, RiichiSituation]


def as_the_library_has_it(profile: RiichiProfile) -> RiichiProfile:
    """Return a profile with fu for the replacement tile, which the library always gives."""
    return replace(profile, fu=replace(profile.fu, replacement_tile=load_riichi("riichi-tenhou").fu.replacement_tile))


def verdict(win: Win, profile: RiichiProfile) -> str:
    """Return how the two counts of one hand compare."""
    found = _compared(win, profile)
    if found == "differ" and win[1].rinshan and profile.fu.replacement_tile.value == 0:
        return "agree but for the option" if _compared(win, as_the_library_has_it(profile)) == "agree" else "differ"
    return found


def _compared(win: Win, profile: RiichiProfile) -> str:
    try:
        ours = riichi_value(*win, profile)
    except RuleError as problem:
        return problem.code
    if ours.yakuman or ours.fu is None:
        return "yakuman"
    theirs = count_by_library(*win, profile)
    return "agree" if (ours.fu.rounded, ours.han) == (theirs.fu, sum(theirs.yaku.values())) else "differ"


def verdicts(profile: RiichiProfile, hands: int, seed: int) -> tuple[Counter[str], list[Win]]:
    """Compare many hands; return the number of each outcome, and the first hands that differ."""
    chance = Random(seed)
    found: Counter[str] = Counter()
    different: list[Win] = []
    for _ in range(hands):
        win = winning_hand(chance)
        told = verdict(win, profile)
        found[told] += 1
        if told == "differ" and len(different) < SHOWN:
            different.append(win)
    return found, different


def main() -> None:
    """Compare and print."""
    hands = int(sys.argv[1]) if len(sys.argv) > 1 else HANDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for profile_id in sys.argv[3:] or shipped_riichi():
        found, different = verdicts(load_riichi(profile_id), hands, seed)
        print(f"{profile_id}: " + ", ".join(f"{number} {told}" for told, number in found.most_common()), flush=True)
        for hand, said in different:
            print(f"  {hand}\n  {said}")


if __name__ == "__main__":
    main()
