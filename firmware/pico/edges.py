"""Edges of the contacts, from their interrupt until the table has acknowledged them.

The handlers run as hard interrupts, between any two instructions of the main loop, and must not allocate memory:
everything they write to is there from the start.
"""

from array import array

from firmware.box.codec import LOST

TYPE_CHECKING = False  # MicroPython has no typing; type checkers take this name for true
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Pin(Protocol):
        """What we want of `machine.Pin`."""

        def value(self) -> int:
            """Return the level."""

        def irq(self, handler: "Callable[[Pin], None]", trigger: int, *, hard: bool) -> object:
            """Call the handler at edges."""


RING_SIZE = 128
"""Edges between two turns of the main loop: more than a contact can give in the few ms that one takes."""


class Edges:
    """A ring between the interrupts, which write, and the main loop, which reads. Neither waits for the other."""

    def __init__(self, ticks_us: "Callable[[], int]") -> None:
        self.ticks_us = ticks_us
        self.at = array("I", [0] * RING_SIZE)
        self.what = bytearray(RING_SIZE)
        """Seat times two, plus 1 where the contact closed."""
        self.head, self.tail = 0, 0
        """Where the next edge is written, by interrupts only; where the next is read, by the main loop only."""
        self.missed = False

    def take(self) -> "tuple[int, int, int] | None":
        """Return the oldest edge: seat, 1 closed or 0 open, ticks; None if there is none."""
        tail = self.tail
        if tail == self.head:
            return None
        what, at = self.what[tail], self.at[tail]
        self.tail = (tail + 1) % RING_SIZE
        return what >> 1, what & 1, at


class Contact:
    """One button between a pin and ground: the level is low while it is closed."""

    def __init__(self, edges: Edges, seat: int, pin: "Pin") -> None:
        self.edges, self.seat, self.pin = edges, seat, pin

    def is_closed(self) -> int:
        """Return 1 where it is closed now."""
        return 1 - self.pin.value()

    def moved(self, pin: "Pin") -> None:
        """Note an edge. This is the interrupt handler."""
        edges = self.edges
        at = edges.ticks_us()  # before anything else
        head = edges.head
        after = (head + 1) % RING_SIZE
        if after == edges.tail:
            edges.missed = True
            return
        edges.at[head] = at
        edges.what[head] = self.seat * 2 + 1 - pin.value()
        edges.head = after


PERIOD = 1 << 30
"""Of `time.ticks_us()` on MicroPython's 32-bit ports: it wraps every 17.9 minutes."""


class Microseconds:
    """The time since the start. Has to be asked at least every 8.9 minutes; the main loop asks every millisecond."""

    def __init__(self, ticks: int) -> None:
        self._ticks, self._us = ticks, 0

    def now(self, ticks: int) -> int:
        """Return the time, by what `ticks_us` says now."""
        self._us += (ticks - self._ticks) % PERIOD
        self._ticks = ticks
        return self._us

    def of(self, ticks: int) -> int:
        """Return the time at which `ticks_us` said this: less than half a period before or after the last `now`."""
        half = PERIOD // 2
        return self._us + (ticks - self._ticks + half) % PERIOD - half


STORE_SIZE = 256
"""Of edges; a press with a bad contact has some twenty."""


class Store:
    """Edges that the table has not acknowledged, kept while the box has power, numbered from 0 at each start.

    The oldest are kept when there is no more room; that others were lost is kept in their place.
    """

    def __init__(self, closed: int) -> None:
        self.closed = closed
        """The contacts that were closed before the first edge that is kept: a bit for each, east lowest."""
        self.first = 0
        self._edges: list[tuple[int, int, int]] = []

    @property
    def next(self) -> int:
        """The number of the edge that comes next."""
        return self.first + len(self._edges)

    def add(self, seat: int, closed: int, us: int) -> None:
        """Keep an edge."""
        room = STORE_SIZE - len(self._edges)
        if room > 1:
            self._edges.append((seat, closed, us))
        elif room == 1:
            self._edges.append((LOST, 0, us))

    def get(self, number: int) -> "tuple[int, int, int]":
        """Return an edge that is kept: seat, closed, time."""
        return self._edges[number - self.first]

    def forget(self, until: int) -> None:
        """Let go of the edges before this one, which the table has."""
        if not self.first < until <= self.next:
            return
        for seat, closed, _ in self._edges[: until - self.first]:
            bit = 15 if seat == LOST else 1 << seat
            self.closed = self.closed & ~bit | (bit if closed else 0)
        self._edges = self._edges[until - self.first :]
        self.first = until
