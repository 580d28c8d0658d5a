"""What a desk offers beside the room, and whether to everybody."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from broker.desk.sheets import Moments
from broker.scorer.attended import Attended
from broker.scorer.wirelog import WireLog


def wall_clock() -> int:
    """Give the time, ms since 1970."""
    return time.time_ns() // 1_000_000


T = TypeVar("T")


class Attends(Protocol):
    """What is needed of a scorer."""

    attended: Attended

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done between two batches. Raises ScorerBusy."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Without `moments` (all plays, as the scorer knows them) there are no travellers, players' sheets and receipts."""

    moments: Moments | None = None
    wire: WireLog | None = None
    """The last messages on the wire. With these two there are the arbiters' grid and feed."""
    clock: Callable[[], int] = wall_clock
    """The time, ms since 1970: by it carriers and tables are late, and corrections are over."""
    open_public: bool = False
    """Whether who has not logged in may see what players may know."""
    attends: Attends | None = None
    """Where it is kept which arbiter goes to a call, and who has seen an alert."""

    @property
    def grids(self) -> bool:
        """Whether there are the arbiters' grid and feed."""
        return None not in {self.moments, self.wire}


NOTHING: Final = Offer()
