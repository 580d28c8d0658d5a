"""64 players, 16 tables, 8 rounds: our search beside the best of all random seatings that the same time allows."""

import sys
import time
from random import Random
from typing import Final

from broker.rules.movement import Booking, Order, check, make, quality
from broker.rules.movement.booking import bookings
from broker.rules.movement.layout import layout

SECONDS: Final = 20.0
ORDERS: Final = (Order(64, 16, 8), Order(64, 16, 8, deals_per_round=4))


def searched(order: Order, seconds: float) -> tuple[Booking, ...]:
    """Give our movement."""
    end = time.monotonic() + seconds
    return make(order, Random(1), lambda: time.monotonic() < end)


def random_seating(order: Order, seconds: float) -> tuple[Booking, ...]:
    """Give the best of many: the fewest rules broken, then the fewest repeated meetings and comparisons."""
    chance, sittings = Random(1), layout(order)
    end = time.monotonic() + seconds
    best: tuple[tuple[int, int], tuple[Booking, ...]] | None = None
    while best is None or time.monotonic() < end:
        seated = []
        for round_ in range(order.rounds):
            players = chance.sample(range(1, order.players + 1), order.players)
            here = sittings[round_ * order.tables : (round_ + 1) * order.tables]
            seated += [(sitting, players[at * 4 : at * 4 + 4]) for at, sitting in enumerate(here)]
        plays = bookings(seated)
        measured = quality(plays)
        key = (len(check(plays)), measured.meetings.excess + measured.comparisons.excess)
        if best is None or key < best[0]:
            best = (key, plays)
    return best[1]


def row(name: str, order: Order, plays: tuple[Booking, ...], seconds: float) -> str:
    """Give a line of the table."""
    found = quality(plays)
    cells = (
        name,
        f"{order.rounds} x {order.deals_per_round}",
        f"{seconds:.1f}",
        len(check(plays)),
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
