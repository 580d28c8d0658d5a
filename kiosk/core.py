"""The table's state with its journal: the only place where state changes, always journal first.

Where the disk is full, presses and orders are held in memory, in their order, until they can be written: a press counts
by its edge, so it may be learnt of later. What people can do again (a key, a tray under the camera) is refused instead.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from broker.protocol import LogMessage
from kiosk.errors import DiskLow, JournalBroken, JournalFull
from kiosk.journal import TableJournal
from kiosk.table import ButtonHeld, ButtonPressed, ButtonReleased, Event, NotNow, Ordered, Restarted, Table, handle


class JournaledTable:
    """One table. `wall` gives ms since 1970, for the record only."""

    def __init__(self, journal: TableJournal, wall: Callable[[], int]) -> None:
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


ENOUGH_ROOM: Final = 100_000_000
"""Bytes: a day's journal takes less than one hundredth of it."""

EVERY_NS: Final = 30_000_000_000
LOW_EVERY_NS: Final = 1_000_000_000
"""How often the card is looked at, and how often where it has little room."""

MOST_HELD: Final = 1000
"""As many as a table could need in an hour; beyond that somebody plays with a button."""

HELD: Final = (ButtonPressed, ButtonReleased, ButtonHeld, Ordered)


class HeldEvents:
    """What waits for room."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()

    @property
    def waiting(self) -> bool:
        """Whether something waits, so that nothing may overtake it."""
        return bool(self._events)

    def hold(self, event: Event) -> str:
        """Keep an event in mind if nobody could do it again; return the code of what is wrong."""
        if isinstance(event, HELD) and len(self._events) < MOST_HELD:
            self._events.append(event)
        return JournalFull.code

    def taken(self) -> Iterator[Event]:
        """Return what waited, in order; what cannot be written even now waits again."""
        events, self._events = self._events, deque()
        yield from events


def disk_problem(journal: TableJournal) -> str | None:
    """Return the code of what is wrong with a journal's disk, by trying where there is little room."""
    if journal.room >= ENOUGH_ROOM and not journal.tight:
        return None
    try:
        journal.try_room()
    except JournalFull:
        return JournalFull.code
    return DiskLow.code if journal.room < ENOUGH_ROOM else None


def next_disk_check(code: str | None, now: int) -> int:
    """Return when the card is looked at again, ns, by what was wrong with it."""
    return now + (EVERY_NS if code is None else LOW_EVERY_NS)
