"""A table of which every event is in its journal before anybody is told what follows."""

from collections.abc import Callable

from broker.protocol import LogMessage
from kiosk.errors import JournalBroken
from kiosk.journal import TableJournal
from kiosk.metrics import WriteTimes
from kiosk.table import Event, NotNow, Restarted, SequenceWatch, Table, handle


class JournaledTable:
    """One table. `wall` gives ms since 1970, for the record only."""

    def __init__(self, journal: TableJournal, wall: Callable[[], int]) -> None:
        """Raise JournalBroken."""
        self.journal, self._wall, self.writes = journal, wall, WriteTimes()
        self.state, self.sequence = Table(), SequenceWatch()
        try:
            for event in journal.events():
                self.state, facts = handle(self.state, event)
                self.sequence.take(self.state, facts)
        except NotNow as refusal:
            raise JournalBroken(f"it holds what the table does not allow: {refusal}") from None

    def restarted(self, now: int) -> None:
        """Tell the table that the program has started again, where there is a table to tell."""
        if not self.journal.empty:
            self.apply(Restarted(at=now, same_clock=self.journal.same_boot, doubts=True))

    def apply(self, event: Event) -> tuple[LogMessage, ...]:
        """Take one event in and give the facts to send. Raises NotNow, and nothing has changed.

        When this returns, event and facts are durable; what changes nothing is not kept.
        """
        state, facts = handle(self.state, event)
        if state == self.state and not facts:
            return ()
        with self.writes.timed():
            messages = self.journal.record(event, facts, wall=self._wall())
        self.state = state
        self.sequence.take(state, facts)
        return messages
