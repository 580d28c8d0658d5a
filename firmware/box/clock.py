"""The box's microseconds on this machine's clock. Pure.

A query goes out, the box writes its time into the reply: that time was after we asked and before we heard. So each
query gives an interval; it grows by what the two clocks can drift apart, and the next query cuts it. The quick way of
one query and the quick way back of another bound the time together, better than any single one does. The middle is
taken: it can be wrong by half of the interval at the most.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

ENOUGH: Final = 4
"""Queries until times are mapped."""

CRYSTALS: Final = 0.15
"""By how many ns a µs two crystals differ at the most: each is good to some 50 millionths."""

PULLED: Final = 0.5
"""By how many ns a µs a time server may pull this machine's clock: adjtimex(2) slews by 500 millionths at the most."""

DOUBT: Final = PULLED + 2 * CRYSTALS
"""By how many ns a µs the rate may be wrong: the one that was measured is within CRYSTALS, as is the true one but for
the pull."""

APART_US: Final = 30_000_000
"""Between two times that are kept for the rate."""

KEPT: Final = 8
"""Times for the rate: of the last four minutes."""


@dataclass(frozen=True, slots=True)
class Known:
    """At this time of the box it was no earlier and no later than these times of ours."""

    us: int
    earliest: float
    latest: float

    @property
    def middle(self) -> float:
        """The best guess."""
        return (self.earliest + self.latest) / 2


class BoxClock:
    """One start of the box. Time is mapped once `ready`."""

    def __init__(self) -> None:
        self._known: Known | None = None
        self._apart: deque[Known] = deque(maxlen=KEPT)
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
        earliest, latest = self._between(us)
        earliest, latest = max(earliest, asked_ns), min(latest, answered_ns)
        if earliest > latest:  # a clock was pulled by more than we allow for, or set: only this query is true
            earliest, latest = asked_ns, answered_ns
        self._known = Known(us, earliest, latest)
        self._measure(self._known)

    def slack_ns(self, us: int) -> float:
        """Give by how much `to_ns` can be wrong at this time."""
        earliest, latest = self._between(us)
        return (latest - earliest) / 2

    def to_ns(self, us: int) -> int:
        """Map a time of the box, in µs since its start, to ns of this machine's monotonic clock."""
        return 0 if self._known is None else round(self._known.middle + (us - self._known.us) * self.rate)

    def _between(self, us: int) -> tuple[float, float]:
        """Give the earliest and the latest of our times that this time of the box can have been."""
        known = self._known
        if known is None:
            return float("-inf"), float("inf")
        passed = us - known.us
        drift, middle = abs(passed) * DOUBT, passed * self.rate
        return known.earliest + middle - drift, known.latest + middle + drift

    def _measure(self, new: Known) -> None:
        """Take the rate between the oldest time kept and this one."""
        if not self._apart or new.us - self._apart[-1].us >= APART_US:
            self._apart.append(new)
        oldest = self._apart[0]
        if new.us - oldest.us >= APART_US:
            rate = (new.middle - oldest.middle) / (new.us - oldest.us)
            self.rate = min(max(rate, 1000 - CRYSTALS), 1000 + CRYSTALS)
