"""Our count of fu beside the library's: `python -m tests.benchmarks.riichi.agreement [HANDS [SEED]]`.

Counts random winning hands by both, under each shipped profile, and prints how many agree, with the first that do not.
`riichi-montreal` has no fu for the replacement tile, which the library always gives: those hands are told apart.
"""

import sys
from collections import Counter
from random import Random
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Hand, Situation
from broker.rules.riichi.library import counted
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import load, shipped
from broker.rules.riichi.value import value
from tests.benchmarks.riichi.hands import winning_hand

HANDS: Final = 5000
SHOWN: Final = 5


def verdict(hand: Hand, said: Situation, profile: RiichiProfile) -> str:
    """Say how the two counts compare for one hand."""
    try:
        ours = value(hand, said, profile)
    except RuleError as problem:
        return problem.code
    if ours.yakuman or ours.fu is None:
        return "yakuman"
    theirs = counted(hand, said, profile)
    if ours.fu.rounded == theirs.fu and ours.han == sum(theirs.yaku.values()):
        return "agree"
    return "replacement tile" if said.rinshan and profile.fu.replacement_tile.value == 0 else "differ"


def verdicts(profile: RiichiProfile, hands: int, seed: int) -> tuple[Counter[str], list[tuple[Hand, Situation]]]:
    """Compare many hands; give how often each verdict came, and the first hands that differ."""
    chance = Random(seed)
    found: Counter[str] = Counter()
    different: list[tuple[Hand, Situation]] = []
    for _ in range(hands):
        hand, said = winning_hand(chance)
        told = verdict(hand, said, profile)
        found[told] += 1
        if told == "differ" and len(different) < SHOWN:
            different.append((hand, said))
    return found, different


def main() -> None:
    """Compare and print."""
    hands = int(sys.argv[1]) if len(sys.argv) > 1 else HANDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for profile_id in shipped():
        found, different = verdicts(load(profile_id), hands, seed)
        print(f"{profile_id}: " + ", ".join(f"{number} {told}" for told, number in found.most_common()))
        for hand, said in different:
            print(f"  {hand}\n  {said}")


if __name__ == "__main__":
    main()
