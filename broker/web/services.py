"""What a desk is given beside its feed and accounts. Pages exist for what is there; the others are left out.

Between its pages and the scorer's thread: a ruling is given with its note in the audit log, or not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from broker.event import DealRecord, Event
from broker.i18n import Message
from broker.people import Account, Authentication
from broker.protocol import wall_clock_ms
from broker.rules import RuleError
from broker.rulings import RulingAuthor, RulingDraft, RulingEntry
from broker.rulings.service import RulingService
from broker.scorer.live_event import LiveEvent, WireLog
from broker.web import account_of, note_action, redirect
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


NO_SERVICES: Final = Services()


RULING_NOTED = "ruling_given"


def author_of(account: Account) -> RulingAuthor:
    """Return who gives a ruling: an arbiter, or of the plan an organiser."""
    if account.role == "display":
        raise TypeError("no route lets a display rule")
    return RulingAuthor(account.full, account.name, account.role)


class AuditedRulings:
    """Where arbiters rule."""

    def __init__(self, scorer: ScorerThread, auth: Authentication) -> None:
        self._scorer, self._auth = scorer, auth

    @property
    def event(self) -> Event:
        """The event as corrections of its plan have it now."""
        return self._scorer.rulings.room.event

    def look(self, work: Callable[[RulingService], T]) -> T:
        """Ask for something that changes nothing. Raises ScorerBusy, Refused, RuleError."""

        def answer() -> T | RuleError:
            # Raised in the scorer's thread it would end the scorer, which takes it for a fault of its own.
            try:
                return work(self._scorer.rulings)
            except RuleError as refused:
                return refused

        found = self._scorer.ask(answer)
        if isinstance(found, RuleError):
            raise found
        return found

    def publish(self, request: Request, path: str, draft: RulingDraft, looked_at: str | None = None) -> Response:
        """Publish a ruling, and lead to a page that says so. Raises as `give`."""
        self.give(request, draft, looked_at)
        return redirect(request, path, done=draft.id)

    def give(self, request: Request, draft: RulingDraft, looked_at: str | None = None) -> RulingEntry:
        """Publish a ruling. Raises Refused, ScorerError, PeopleStoreBroken; then it was not given.

        `looked_at`: the mark of the effects that the arbiter has seen; None: it moves nobody.

        The note is written first and committed last: where the ruling is refused, there is no note of one. Where this
        machine stops between the two commits, `note_missing` writes the note at the next start.
        """
        author = author_of(account_of(request))
        with self._auth.store.commit():
            note_action(self._auth, request, RULING_NOTED, draft.id, draft.reason)
            return self._scorer.ask(lambda: self._scorer.rulings.give(draft, author, looked_at))

    def note_missing(self) -> None:
        """Write the notes of rulings that are in the journal and not in the audit log."""
        noted = {entry.about for entry in self._auth.audit.entries() if entry.action == RULING_NOTED}
        for one in self._scorer.rulings.history():
            if not one.at_table and one.id not in noted:
                self._auth.audit.note(
                    one.at, one.account, RULING_NOTED, one.id, f"{one.reason} (noted at a later start)"
                )
