"""A card without room: presses and orders are kept in mind, in their order, until they can be written.

What was pressed counts by its edge, so it harms nobody that the table learns of it later. What people can do again
(a key, a tray under the camera) is refused instead, and they see why.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final

from kiosk.errors import DiskLow, JournalFull
from kiosk.journal import Journal
from kiosk.table.events import ButtonHeld, ButtonPressed, ButtonReleased, Event, Ordered

ENOUGH_ROOM: Final = 100_000_000
"""Bytes: a day's journal takes less than one hundredth of it."""

EVERY_NS: Final = 30_000_000_000
LOW_EVERY_NS: Final = 1_000_000_000
"""How often the card is looked at, and how often where it has little room."""

MOST: Final = 1000
"""As many as a table could need in an hour; beyond that somebody plays with a button."""

KEPT: Final = (ButtonPressed, ButtonReleased, ButtonHeld, Ordered)


class Stalled:
    """What waits for room."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()

    @property
    def waiting(self) -> bool:
        """Whether something waits, so that nothing may overtake it."""
        return bool(self._events)

    def hold(self, event: Event) -> str:
        """Keep an event in mind if nobody could do it again; give the code of what is wrong."""
        if isinstance(event, KEPT) and len(self._events) < MOST:
            self._events.append(event)
        return JournalFull.code

    def taken(self) -> Iterator[Event]:
        """Give what waited, in order; what cannot be written even now waits again."""
        events, self._events = self._events, deque()
        yield from events


def room_of(journal: Journal) -> str | None:
    """Give the code of what is wrong with a journal's disk, by trying where there is little room."""
    if journal.room >= ENOUGH_ROOM and not journal.tight:
        return None
    try:
        journal.try_room()
    except JournalFull:
        return JournalFull.code
    return DiskLow.code if journal.room < ENOUGH_ROOM else None


def next_look(code: str | None, now: int) -> int:
    """Say when the card is looked at again, ns, by what was wrong with it."""
    return now + (EVERY_NS if code is None else LOW_EVERY_NS)
