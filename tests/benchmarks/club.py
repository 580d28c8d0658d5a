"""How simulated plays end, and how quick they are: `python -m tests.benchmarks.club [PLAYS] [WEAKEST]`.

Four players of strengths from 1 down to WEAKEST, at other seats from deal to deal. Prints shares of the plays, and
processor time.
"""

import sys
import time
from collections import Counter
from random import Random

from broker.protocol import SEATS
from broker.rules import load_mcr, new_deal
from broker.rules.mcr import fan_judge
from broker.sim.plans import plans
from broker.sim.play import SimulatedPlay, SimulatedPlayer, play_deal


def one(seed: int, weakest: float) -> SimulatedPlay:
    """Play one deal."""
    payments = load_mcr().payments
    deal = new_deal(seed, SEATS[seed // 4 % 4], SEATS[seed % 4], Random(f"deal {seed}"))
    players = {}
    for at, seat in enumerate(SEATS):
        strength = 1 - (1 - weakest) * ((at + seed) % 4) / 3
        players[seat] = SimulatedPlayer(strength, Random(f"{seed} {seat}"))
    return play_deal(deal, players, payments, fan_judge(payments))


def main() -> None:
    """Measure and print."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    weakest = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    plans()
    start = time.process_time()
    played = [one(seed, weakest) for seed in range(1, number + 1)]
    seconds = (time.process_time() - start) / number
    endings = Counter(play.outcome.win for play in played)
    values = sorted(value for play in played for value in play.outcome.winners.values())
    print(f"plays                 {number}, strengths from 1 to {weakest}")
    for kind in ("discard", "self_drawn", "draw"):
        print(f"{kind:20}  {100 * endings[kind] / number:.1f} %")
    print(f"two hu or three       {100 * sum(len(play.outcome.winners) > 1 for play in played) / number:.1f} %")
    print(f"tempted to false hu   {100 * sum(bool(play.tempted) for play in played) / number:.1f} %")
    print(f"hand value, median    {values[len(values) // 2]}")
    print(f"actions a play        {sum(len(play.actions) for play in played) / number:.0f}")
    print(f"seconds a play        {seconds:.3f}")


if __name__ == "__main__":
    main()
