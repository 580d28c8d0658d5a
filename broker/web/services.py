"""The services behind a desk's pages. A page whose services are missing is left out.

`AuditedRulings` stands between the pages and the scorer's thread: it publishes each ruling together with its audit log
entry, or not at all.
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
    """A scorer running in its own thread."""

    live: LiveEvent
    """Its devices, and the arbiters who attend calls."""
    rulings: RulingService

    @property
    def wire(self) -> WireLog:
        """The log of the last messages."""

    @property
    def waiting(self) -> int:
        """How many messages are queued for the scorer."""

    def ask(self, work: Callable[[], T]) -> T:
        """Run `work` on the scorer's thread between two batches and return its result. Raises ScorerBusy."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services behind a desk's pages."""

    snapshots: SnapshotSource | None = None
    """All plays known to the scorer, for standings, travellers, player sheets, receipts and carriers."""
    wire: WireLog | None = None
    """The last messages. Together with `snapshots` it makes the arbiters' grid and message feed possible."""
    clock: Callable[[], int] = wall_clock_ms
    """The current time in ms since 1970, by which late carriers and tables are found."""
    open_public: bool = False
    """Whether visitors who have not logged in may see what players may know."""
    scorer: ScorerThread | None = None
    """Needed for calls, devices, rulings, riichi sessions, plan corrections and exports."""
    plain: bool = False
    """Whether traffic of tables and desk is unencrypted; every page then says so."""
    broker: Message | None = None
    """The broker that connects the tables, and why this one was chosen."""
    folder: Path | None = None
    """The event's folder: for setting up or, with a scorer, for plan corrections and exports."""
    deals: Sequence[DealRecord] = ()
    """The event's deals, for result sheets on paper."""
    orders: OrderDesk | None = None
    pairing: PairingService | None = None
    broker_kind: str = ""
    """The kind of broker: embedded, mosquitto or other."""
    backup_age_s: Callable[[], float | None] = lambda: None
    """Returns the age of the event's last backup in seconds, or None."""
    standby: StandbyService | None = None
    """Serves a second machine that runs as a standby."""


NO_SERVICES: Final = Services()


RULING_NOTED = "ruling_given"


def author_of(account: Account) -> RulingAuthor:
    """Return the author of a ruling: an arbiter or, for rulings on the plan, an organiser."""
    if account.role == "display":
        raise TypeError("no route lets a display rule")
    return RulingAuthor(account.full, account.name, account.role)


class AuditedRulings:
    """Publishes rulings, each with its entry in the audit log."""

    def __init__(self, scorer: ScorerThread, auth: Authentication) -> None:
        self._scorer, self._auth = scorer, auth

    @property
    def event(self) -> Event:
        """The event, with the corrections made to its plan so far."""
        return self._scorer.rulings.room.event

    def query(self, work: Callable[[RulingService], T]) -> T:
        """Run a query that changes nothing. Raises ScorerBusy, Refused, RuleError."""

        def answer() -> T | RuleError:
            # The scorer would take an exception in its thread for its own failure and end, so return the error instead.
            try:
                return work(self._scorer.rulings)
            except RuleError as refused:
                return refused

        found = self._scorer.ask(answer)
        if isinstance(found, RuleError):
            raise found
        return found

    def publish(self, request: Request, path: str, draft: RulingDraft, effects_mark: str | None = None) -> Response:
        """Publish a ruling and redirect to a page that confirms it. Raises what `give` raises."""
        self.give(request, draft, effects_mark)
        return redirect(request, path, done=draft.id)

    def give(self, request: Request, draft: RulingDraft, effects_mark: str | None = None) -> RulingEntry:
        """Publish a ruling. Raises Refused, ScorerError or PeopleStoreBroken if it was not published.

        `effects_mark` is the fingerprint of the effects that the arbiter has seen; None for a ruling that moves nobody.

        The audit entry is written first and committed last, so that a refused ruling leaves no entry. If this machine
        stops between the two commits, `note_missing` adds the entry at the next start.
        """
        author = author_of(account_of(request))
        with self._auth.store.commit():
            note_action(self._auth, request, RULING_NOTED, draft.id, draft.reason)
            return self._scorer.ask(lambda: self._scorer.rulings.give(draft, author, effects_mark))

    def note_missing(self) -> None:
        """Write audit entries for rulings that are in the journal but not in the audit log."""
        noted = {entry.about for entry in self._auth.audit.entries() if entry.action == RULING_NOTED}
        for one in self._scorer.rulings.history():
            if not one.at_table and one.id not in noted:
                self._auth.audit.note(
                    one.at, one.account, RULING_NOTED, one.id, f"{one.reason} (noted at a later start)"
                )
