"""Measure the speed and fairness of buttons on pins: `python -m tests.benchmarks.hands.pins [PAIRS]`.

Mock pins in real time, with all of our code that runs on a Pi: bouncing edges with the kernel's timestamps, the lock,
and the timer thread. Pairs of seats press a millisecond apart. It counts pairs reported in the order of their first
edges, and measures the delay of each report from its first edge. Delays of lgpio and the kernel on a Pi are not
included.
"""

import queue
import sys
import time
from random import Random
from typing import Final

from gpiozero.pins.mock import MockFactory

from firmware.buttons import SeatButtons
from firmware.presses import MS, ContactLimits
from firmware.reports import SEATS, Pressed, Report, Seat
from firmware.sim.buttons import KernelPin
from firmware.wiring import read_wiring

APART_NS: Final = MS
WIRING: Final = read_wiring("east=5,south=6,west=13,north=19")
WAITED_MS: Final = ContactLimits().finger_ns / MS
PATIENCE_S: Final = 10
"""Seconds after which a press counts as lost."""

Edge = tuple[int, Seat, bool]


def bouncing(seat: Seat, at: int, *, closed: bool, bounces: int, chance: Random) -> list[Edge]:
    """Return the edges of a bouncing contact, in ns of the clock."""
    edges = [(at, seat, closed)]
    for _ in range(bounces):
        for back in (not closed, closed):
            at += chance.randrange(50_000, MS)
            edges.append((at, seat, back))
    return edges


class Table:
    """Four buttons, and a thread that acts as the kernel and reports each edge at its time."""

    def __init__(self, bounces: int) -> None:
        self.told: queue.Queue[tuple[Pressed, int]] = queue.Queue()
        self._factory = MockFactory(pin_class=KernelPin)
        self._bounces, self._chance = bounces, Random(7)
        self.buttons = SeatButtons(WIRING, self._take, factory=self._factory)

    def _take(self, report: Report) -> None:
        if isinstance(report, Pressed):
            self.told.put((report, time.monotonic_ns()))

    def press(self, *seats: Seat) -> list[tuple[Pressed, int]]:
        """Press at several seats in order, then release all; return the reports and their times."""
        start = time.monotonic_ns() + 2 * MS
        self._happen(self._edges(seats, start, closed=True))
        told = [self.told.get(timeout=PATIENCE_S) for _ in seats]
        self._happen(self._edges(seats, time.monotonic_ns() + MS, closed=False))
        time.sleep((ContactLimits().release_ns + 5 * MS) / 1e9)
        return told

    def _edges(self, seats: tuple[Seat, ...], start: int, *, closed: bool) -> list[Edge]:
        moves = [(seat, start + rank * APART_NS) for rank, seat in enumerate(seats)]
        return sorted(
            edge
            for seat, at in moves
            for edge in bouncing(
                seat, at, closed=closed, bounces=self._chance.randint(0, self._bounces), chance=self._chance
            )
        )

    def _happen(self, edges: list[Edge]) -> None:
        for at, seat, closed in edges:
            time.sleep(max(0, at - time.monotonic_ns()) / 1e9)
            self._factory.pin(WIRING[seat].closes).deliver([(at / 1e9, not closed)])


def percentile(values: list[float], share: float) -> float:
    """Return the value below which this share of all values lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure(pairs: int, bounces: int) -> tuple[int, list[float]]:
    """Return how many pairs were reported in order, and the delay of each report from its edge in ms."""
    chance, right, took = Random(11), 0, list[float]()
    table = Table(bounces)
    with table.buttons:
        for _ in range(pairs):
            seats = chance.sample(SEATS, 2)
            told = table.press(*seats)
            right += [press.seat for press, _ in told] == seats
            took += [(when - press.at) / MS for press, when in told]
    return right, took


def main(pairs: int = 1000) -> None:
    """Print the figures."""
    for bounces in (0, 3):
        right, took = measure(pairs, bounces)
        shares = ", ".join(f"p{round(share * 100)} {percentile(took, share):.2f}" for share in (0.5, 0.95, 0.99))
        print(f"pins, up to {bounces} bounces: {right} of {pairs} pairs 1 ms apart in the right order")
        print(f"  first edge to report, ms: {shares}, most {max(took):.2f}; the finger is waited for {WAITED_MS:.0f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
