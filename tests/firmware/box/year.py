"""Years of clock queries in simulated time: drifting crystals, a delaying line, wrapping ticks."""

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
    """The worst result of a simulation."""

    queries: int
    wraps: int
    error_ns: int
    """Greatest error of a mapped time."""


PULL_EVERY_S: Final = 1_200
PULL_S: Final = 60
"""Time synchronisation slews our clock for this long, alternately in each direction."""


class Crystal:
    """The box's clock relative to ours: constant drift in ppm, daily temperature drift, and slews of our clock."""

    def __init__(self, ppm: float, swing_ppm: float, pull_ppm: float) -> None:
        self._rate, self._swing = 1 + ppm / 1e6, swing_ppm / 1e6 * DAY_S / math.tau
        self._pull = pull_ppm / 1e6

    def us(self, s: float) -> int:
        """Return the box's true time in µs after some seconds of our clock."""
        back, since = divmod(s, PULL_EVERY_S)
        pulled = min(since, PULL_S)
        shift = self._pull * (PULL_S - pulled if back % 2 else pulled)
        return int((s * self._rate + self._swing * math.sin(math.tau * s / DAY_S) + shift) * 1e6)


def delays(chance: random.Random) -> tuple[float, float]:
    """Return the delays of a query and its reply in s: usually those of USB, sometimes far longer, never equal."""
    if chance.random() < 0.03:
        return chance.random() * 0.2, chance.random() * 0.2
    return 0.0001 + chance.random() * 0.0009, 0.0001 + chance.random() * 0.0007


def live(
    days: float, *, every_s: float = 0.25, ppm: float = 60, swing_ppm: float = 5, pull_ppm: float = 500, seed: int = 1
) -> Worst:
    """Send queries for some days; check the mapping after each one and just before the next."""
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
