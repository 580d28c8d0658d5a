"""What a desk has to offer beside the dashboard: services of the scorer, and pages of further features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from starlette.routing import Route

from broker.people.login import wall_clock_ms
from broker.scorer.alerts import Attendance
from broker.scorer.dashboard import ViewFeed
from broker.scorer.publisher import WireLog
from broker.web.auth import Access, MenuEntry
from broker.web.embargo import SnapshotSource
from broker.web.live import LivePages

T = TypeVar("T")


class AttendedThread(Protocol):
    """What is needed of a scorer."""

    attendance: Attendance

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done between two batches. Raises ScorerBusy."""


@dataclass(frozen=True, slots=True)
class Services:
    """Without `moments` (all plays, as the scorer knows them) there are no travellers, players' sheets and receipts."""

    moments: SnapshotSource | None = None
    wire: WireLog | None = None
    """The last messages on the wire. With these two there are the arbiters' grid and feed."""
    clock: Callable[[], int] = wall_clock_ms
    """The time, ms since 1970: by it carriers and tables are late, and corrections are over."""
    open_public: bool = False
    """Whether who has not logged in may see what players may know."""
    attends: AttendedThread | None = None
    """Where it is kept which arbiter goes to a call, and who has seen an alert."""

    @property
    def grids(self) -> bool:
        """Whether there are the arbiters' grid and feed."""
        return None not in {self.moments, self.wire}


NO_SERVICES: Final = Services()


@dataclass(frozen=True, slots=True)
class FeaturePages:
    """Pages of one kind. Each route is made by `Access.route`, which asks for a right."""

    routes: Callable[[Access, ViewFeed], Sequence[Route]]
    ways: tuple[MenuEntry, ...] = ()
    live: Callable[[LivePages], Sequence[Route]] = lambda _: ()
    """Pages that follow the room by themselves."""
