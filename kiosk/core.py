"""The table's state with its journal: the only place where state changes, and always journal first."""

from collections.abc import Callable

from broker.contract.messages import LogMessage
from kiosk.errors import JournalBroken
from kiosk.journal import Journal
from kiosk.table.errors import NotNow
from kiosk.table.events import Event, Restarted
from kiosk.table.machine import handle
from kiosk.table.state import Table


class Core:
    """One table. `wall` gives ms since 1970, for the record only."""

    def __init__(self, journal: Journal, wall: Callable[[], int]) -> None:
        """Raise JournalBroken."""
        self._journal, self._wall = journal, wall
        self.state = Table()
        try:
            for event in journal.events():
                self.state, _ = handle(self.state, event)
        except NotNow as refusal:
            raise JournalBroken(f"it holds what the table does not allow: {refusal}") from None

    def restarted(self, now: int) -> None:
        """Tell the table that the program has started again, where there is a table to tell."""
        if not self._journal.empty:
            self.apply(Restarted(at=now, same_clock=self._journal.same_boot))

    def apply(self, event: Event) -> tuple[LogMessage, ...]:
        """Take one event in and give the facts to send. Raises NotNow, and nothing has changed.

        When this returns, event and facts are durable; what changes nothing is not kept.
        """
        state, facts = handle(self.state, event)
        if state == self.state and not facts:
            return ()
        messages = self._journal.record(event, facts, wall=self._wall())
        self.state = state
        return messages
