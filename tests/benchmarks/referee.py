"""Measure the speed of the referee: `python -m tests.benchmarks.referee [PLAYS]`.

Random legal plays are generated from a seed, then each layer of the referee judges all their actions again. Printed are
the best of several rounds: actions a second with tiles, by turns alone, and the ratio.
"""

import sys
import time
from collections.abc import Callable
from random import Random
from typing import Final

from broker.protocol import SEATS
from broker.rules import Deal, RuleError, load_mcr, new_deal
from broker.rules.mcr import Action, Hu, apply_action, open_play, replay_actions, settle_claims, turns
from tests.broker.rules.mcr.playing import legal_actions
from tests.broker.rules.mcr.turning import awaited_seats

PAYMENTS: Final = load_mcr().payments
ROUNDS: Final = 5

Recorded = tuple[Deal, tuple[Action, ...]]


def no_win(_: Hu) -> int:
    """Judge that nobody wins, so that plays are long, and counting hands takes no time."""
    raise RuleError("no_win_here", "nobody wins here")


def record(seed: int) -> Recorded:
    """Play at random: each seat that may act does, or ignores one in three possible claims."""
    chance = Random(seed)
    deal = new_deal(seed, "east", SEATS[seed % 4], chance)
    play, actions = open_play(deal, PAYMENTS), list[Action]()
    while seats := awaited_seats(play.turns):
        choices = [choice for seat in seats if (choice := legal_actions(play, seat, no_win))]
        if play.turns.phase in ("draw", "hold"):
            action = chance.choice(choices[0])
        else:
            action = settle_claims(play.turns, [chance.choice(own) for own in choices if chance.randrange(3)])
        play = apply_action(play, action, no_win)
        actions.append(action)
    return deal, tuple(actions)


def by_tiles(recorded: list[Recorded]) -> None:
    """Judge all plays with their tiles."""
    for deal, actions in recorded:
        replay_actions(deal, actions, PAYMENTS, no_win)


def by_turns(recorded: list[Recorded]) -> None:
    """Judge all plays by turns alone."""
    for deal, actions in recorded:
        state = open_play(deal, PAYMENTS).turns
        for action in actions:
            state = turns.apply_turn(state, action)


def seconds(work: Callable[[list[Recorded]], None], recorded: list[Recorded]) -> float:
    """Return the shortest time that the work took."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work(recorded)
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    """Measure and print."""
    plays = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    recorded = [record(seed) for seed in range(1, plays + 1)]
    count = sum(len(actions) for _, actions in recorded)
    tiles, alone = count / seconds(by_tiles, recorded), count / seconds(by_turns, recorded)
    print(f"plays                          {plays}")
    print(f"actions                        {count}")
    print(f"actions a second, with tiles   {tiles:.0f}")
    print(f"actions a second, turns alone  {alone:.0f}")
    print(f"ratio, turns to tiles          {alone / tiles:.2f}")


if __name__ == "__main__":
    main()
