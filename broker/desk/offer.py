"""What a desk offers beside the room, and whether to everybody."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from broker.desk.sheets import Moments
from broker.scorer.times import TableTimes
from broker.scorer.wirelog import WireLog


def wall_clock() -> int:
    """Give the time, ms since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Offer:
    """Without `moments` (all plays, as the scorer knows them) there are no travellers, players' sheets and receipts."""

    moments: Moments | None = None
    times: TableTimes | None = None
    """Since when tables play and call. With these two there are the arbiters' grid and feed."""
    wire: WireLog | None = None
    clock: Callable[[], int] = wall_clock
    """The time, ms since 1970: by it carriers and tables are late."""
    open_public: bool = False
    """Whether who has not logged in may see what players may know."""

    @property
    def grids(self) -> bool:
        """Whether there are the arbiters' grid and feed."""
        return None not in {self.moments, self.times, self.wire}


NOTHING: Final = Offer()
