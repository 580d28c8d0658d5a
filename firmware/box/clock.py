"""The box's microseconds on this machine's clock. Pure.

A query goes out, the box writes its time into the reply: that time was between the two on our clock. Half of how long
it took is how wrong the middle can be, whichever way was the slow one. The best query is kept until a new one is better
than it has become: two crystals drift apart, so what it says of later times is worth less and less. How fast they drift
is seen from the best queries of the last minutes.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

ENOUGH: Final = 4
"""Queries until times are mapped."""

DOUBT: Final = 0.5
"""By how many ns a µs the rate may be wrong: crystals are good to 50 millionths each, but a time server may pull this
machine's clock by up to 500."""

APART_US: Final = 30_000_000
"""Between two queries that are kept for the rate."""

KEPT: Final = 8
"""Queries for the rate: of the last four minutes."""

LIMIT: Final = 0.5
"""No rate differs from 1000 ns a µs by more."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The box's time, ours, and by how much ours can be wrong."""

    us: int
    ns: int
    slack_ns: float


class BoxClock:
    """One start of the box. Time is mapped once `ready`."""

    def __init__(self) -> None:
        self._best = Reading(0, 0, float("inf"))
        self._apart: deque[Reading] = deque(maxlen=KEPT)
        self._left = ENOUGH
        self.rate = 1000.0
        """Of our ns to the box's µs."""

    @property
    def ready(self) -> bool:
        """Say whether there were enough queries."""
        return self._left <= 0

    def renew(self) -> None:
        """Be ready only after new queries: what was known is old, all but the rate."""
        self._left = ENOUGH

    def add(self, us: int, asked_ns: int, answered_ns: int) -> None:
        """Take in a query: the box's time, and ours before and after."""
        self._left -= 1
        new = Reading(us, (asked_ns + answered_ns) // 2, (answered_ns - asked_ns) / 2)
        if new.slack_ns <= self.slack_ns(us):
            self._best = new
            self._measure(new)

    def slack_ns(self, us: int) -> float:
        """Give by how much `to_ns` can be wrong at this time."""
        return self._best.slack_ns + abs(us - self._best.us) * DOUBT

    def to_ns(self, us: int) -> int:
        """Map a time of the box, in µs since its start, to ns of this machine's monotonic clock."""
        return self._best.ns + round((us - self._best.us) * self.rate)

    def _measure(self, new: Reading) -> None:
        """Take the rate between the oldest query kept and this one."""
        if not self._apart or new.us - self._apart[-1].us >= APART_US:
            self._apart.append(new)
        oldest = self._apart[0]
        if new.us - oldest.us >= APART_US:
            rate = (new.ns - oldest.ns) / (new.us - oldest.us)
            self.rate = min(max(rate, 1000 - LIMIT), 1000 + LIMIT)
