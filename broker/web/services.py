"""What a desk is given beside its feed and accounts. Pages exist for what is there; the others are left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar

from broker.event import DealRecord
from broker.i18n import Message
from broker.protocol import wall_clock_ms
from broker.rulings.service import RulingService
from broker.scorer.live_event import LiveEvent, WireLog
from broker.web.embargo import SnapshotSource
from broker.web.tables.orders import OrderDesk
from broker.web.tables.pairing import PairingService
from broker.web.tables.standby import StandbyService

T = TypeVar("T")


class ScorerThread(Protocol):
    """A scorer at work in its own thread."""

    live: LiveEvent
    """Its devices, and which arbiter goes to which call."""
    rulings: RulingService

    @property
    def wire(self) -> WireLog:
        """The last messages."""

    @property
    def waiting(self) -> int:
        """How many messages wait to be taken in."""

    def ask(self, work: Callable[[], T]) -> T:
        """Run `work` on the scorer's thread between two batches, and return its result. Raises ScorerBusy."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services behind a desk's pages."""

    snapshots: SnapshotSource | None = None
    """All plays as the scorer knows them: for standings, travellers, player sheets, receipts and carriers."""
    wire: WireLog | None = None
    """The last messages on the wire: with the snapshots, for the arbiters' grid and feed."""
    clock: Callable[[], int] = wall_clock_ms
    """The time, ms since 1970: by it carriers and tables are late."""
    open_public: bool = False
    """Whether visitors who have not logged in may see what players may know."""
    scorer: ScorerThread | None = None
    """For calls, devices, rulings, riichi sessions, corrections of the plan, and exports."""
    plain: bool = False
    """Whether what tables and the desk send is not encrypted, which is said on each page."""
    broker: Message | None = None
    """Through which broker tables are connected, and why it is that one."""
    folder: Path | None = None
    """The event's folder: for the set-up or, beside a scorer, for corrections and exports."""
    deals: Sequence[DealRecord] = ()
    """The event's deals: for paper sheets."""
    orders: OrderDesk | None = None
    pairing: PairingService | None = None
    broker_kind: str = ""
    """Which kind of broker there is: embedded, mosquitto or other."""
    backup_age_s: Callable[[], float | None] = lambda: None
    """How long ago the last copy of the event was made."""
    standby: StandbyService | None = None
    """What serves a second machine that stands by."""

    @property
    def grids(self) -> bool:
        """Whether there are the arbiters' grid and feed."""
        return self.snapshots is not None and self.wire is not None


NO_SERVICES: Final = Services()
