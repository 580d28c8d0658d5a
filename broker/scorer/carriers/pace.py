"""How long a play takes: the median of those that were measured, and a range. Pure.

A measured play is the time from one result of a table to its next, restoring and carrying included, within a session.
The range holds four of five measured plays. Medians, since a table that waited for an arbiter must not slow down the
forecast of all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Final

from broker.scorer.carriers.progress import Progress

MINUTE: Final = 60_000
ASSUMED: Final = 25 * MINUTE
"""Where nothing was measured and the plan says nothing."""

ENOUGH: Final = 4
"""Measured plays from which on they are believed."""

LONGEST: Final = 180 * MINUTE
"""Longer is a pause, or a clock that was set."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Time for one play in ms: usual, quick and slow. `measured`: from how many plays; below ENOUGH it is assumed."""

    usual: int
    quick: int
    slow: int
    measured: int

    @property
    def assumed(self) -> bool:
        """Whether it is not from measured plays."""
        return self.measured < ENOUGH


def pace(progress: Progress, planned_minutes: int | None = None) -> Pace:
    """Measure the plays so far; until there are enough of them, take the plan's time for a play."""
    times = sorted(measured(progress))
    if len(times) < ENOUGH:
        usual = planned_minutes * MINUTE if planned_minutes else ASSUMED
        return Pace(usual, usual * 3 // 4, usual * 5 // 4, len(times))
    tenths = quantiles(times, n=10, method="inclusive")
    return Pace(int(median(times)), int(tenths[0]), int(tenths[-1]), len(times))


def measured(progress: Progress) -> Iterator[int]:
    """Give the time of each play whose table has played the round before it in the same session."""
    for (table, round_), at in progress.recorded.items():
        before = progress.recorded.get((table, round_ - 1))
        if before is not None and round_ - 1 not in progress.last_of_session and 0 < at - before <= LONGEST:
            yield at - before
