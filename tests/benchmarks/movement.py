"""For 64 players, 16 tables, 8 rounds: our search compared with the best of the random seatings in the same time."""

import sys
import time
from random import Random
from typing import Final

from broker.event.movement import MovementOrder, NumberedPlay, check_movement, make_movement, measure_movement
from broker.event.movement.plays import numbered_plays, sittings_of

SECONDS: Final = 20.0
ORDERS: Final = (MovementOrder(64, 16, 8), MovementOrder(64, 16, 8, deals_per_round=4))


def searched(order: MovementOrder, seconds: float) -> tuple[NumberedPlay, ...]:
    """Return our movement."""
    end = time.monotonic() + seconds
    return make_movement(order, Random(1), lambda: time.monotonic() < end)


def random_seating(order: MovementOrder, seconds: float) -> tuple[NumberedPlay, ...]:
    """Return the best of many seatings: fewest broken rules, then fewest repeated meetings and comparisons."""
    chance, sittings = Random(1), sittings_of(order)
    end = time.monotonic() + seconds
    best: tuple[tuple[int, int], tuple[NumberedPlay, ...]] | None = None
    while best is None or time.monotonic() < end:
        seated = []
        for round_ in range(order.rounds):
            players = chance.sample(range(1, order.players + 1), order.players)
            here = sittings[round_ * order.tables : (round_ + 1) * order.tables]
            seated += [(sitting, players[at * 4 : at * 4 + 4]) for at, sitting in enumerate(here)]
        plays = numbered_plays(seated)
        measured = measure_movement(plays)
        key = (len(check_movement(plays)), measured.meetings.excess + measured.comparisons.excess)
        if best is None or key < best[0]:
            best = (key, plays)
    return best[1]


def row(name: str, order: MovementOrder, plays: tuple[NumberedPlay, ...], seconds: float) -> str:
    """Return a line of the table."""
    found = measure_movement(plays)
    cells = (
        name,
        f"{order.rounds} x {order.deals_per_round}",
        f"{seconds:.1f}",
        len(check_movement(plays)),
        f"{found.meetings.excess} (>= {found.meetings.bound})",
        f"{found.comparisons.excess} (>= {found.comparisons.bound})",
        max(found.seat_spread),
    )
    return f"| {' | '.join(map(str, cells))} |"


def main(seconds: float = SECONDS) -> None:
    """Print the table."""
    print("| 64 players | rounds x deals | s | rules broken | meetings again | comparisons again | seat spread |")
    print("|---|---|---|---|---|---|---|")
    for order in ORDERS:
        for name, way in (("homologue movement", searched), ("best random seating", random_seating)):
            start = time.monotonic()
            plays = way(order, seconds)
            print(row(name, order, plays, time.monotonic() - start), flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
