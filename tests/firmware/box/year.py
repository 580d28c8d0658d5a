"""Years of heartbeats on a simulated clock: two crystals that drift, a line that delays, ticks that wrap."""

import math
import random
from dataclasses import dataclass
from typing import Final

from firmware.box.link import BoxClock
from firmware.pico.edges import PERIOD, Microseconds

S: Final = 1_000_000_000
DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class Worst:
    """What came of it."""

    queries: int
    wraps: int
    error_ns: int
    """The most by which a mapped time was wrong."""


PULL_EVERY_S: Final = 1_200
PULL_S: Final = 60
"""A time server pulls our clock for so long, once this way and once that."""


class Crystal:
    """The box's clock as ours sees it: off by so many millionths, warmer by day than by night, ours pulled at times."""

    def __init__(self, ppm: float, swing_ppm: float, pull_ppm: float) -> None:
        self._rate, self._swing = 1 + ppm / 1e6, swing_ppm / 1e6 * DAY_S / math.tau
        self._pull = pull_ppm / 1e6

    def us(self, s: float) -> int:
        """Return the true count of microseconds after so many seconds of ours."""
        back, since = divmod(s, PULL_EVERY_S)
        pulled = min(since, PULL_S)
        shift = self._pull * (PULL_S - pulled if back % 2 else pulled)
        return int((s * self._rate + self._swing * math.sin(math.tau * s / DAY_S) + shift) * 1e6)


def delays(chance: random.Random) -> tuple[float, float]:
    """Return how long a query and its reply take: mostly as over USB, sometimes far too long, and never evenly."""
    if chance.random() < 0.03:
        return chance.random() * 0.2, chance.random() * 0.2
    return 0.0001 + chance.random() * 0.0009, 0.0001 + chance.random() * 0.0007


def live(
    days: float, *, every_s: float = 0.25, ppm: float = 60, swing_ppm: float = 5, pull_ppm: float = 500, seed: int = 1
) -> Worst:
    """Send queries for so long; look at the mapping after each one, and just before the next."""
    chance, crystal, clock = random.Random(seed), Crystal(ppm, swing_ppm, pull_ppm), BoxClock()
    unwrapped = Microseconds(0)
    error, count, wraps, ticks_before = 0.0, 0, 0, 0
    s = 5.0
    while s < days * DAY_S:
        there, back = delays(chance)
        ticks = crystal.us(s + there) % PERIOD
        wraps, ticks_before = wraps + (ticks < ticks_before), ticks
        clock.add(unwrapped.now(ticks), round(s * S), round((s + there + back) * S))
        count += 1
        if clock.ready:
            for then in (s + there, s + every_s):
                error = max(error, abs(clock.to_ns(crystal.us(then)) - then * S))
        s += every_s
    return Worst(count, wraps, round(error))
