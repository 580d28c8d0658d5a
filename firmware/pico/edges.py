"""Edges of the contacts, from their interrupt until the table has acknowledged them.

The handlers run as hard interrupts, between any two instructions of the main loop, and must not allocate memory:
everything they write to is allocated at the start.
"""

from array import array

from firmware.box.codec import LOST

TYPE_CHECKING = False  # MicroPython has no typing; type checkers treat this name as true
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Pin(Protocol):
        """The part of `machine.Pin` that is used."""

        def value(self) -> int:
            """Return the level."""

        def irq(self, handler: "Callable[[Pin], None]", trigger: int, *, hard: bool) -> object:
            """Call the handler at edges."""


RING_SIZE = 128
"""Edges between two turns of the main loop: more than a contact can produce in the few ms that a turn takes."""


class Edges:
    """A ring buffer that interrupts write and the main loop reads. Neither waits for the other."""

    def __init__(self, ticks_us: "Callable[[], int]") -> None:
        self.ticks_us = ticks_us
        self.at = array("I", [0] * RING_SIZE)
        self.codes = bytearray(RING_SIZE)
        """Seat times two, plus 1 if the contact closed."""
        self.head, self.tail = 0, 0
        """Where interrupts write the next edge, and where the main loop reads the next one. Each has only that
        writer."""
        self.missed = False

    def take(self) -> "tuple[int, int, int] | None":
        """Remove and return the oldest edge: seat, 1 closed or 0 open, ticks; None if there is none."""
        tail = self.tail
        if tail == self.head:
            return None
        codes, at = self.codes[tail], self.at[tail]
        self.tail = (tail + 1) % RING_SIZE
        return codes >> 1, codes & 1, at


class Contact:
    """One button between a pin and ground: the level is low while it is closed."""

    def __init__(self, edges: Edges, seat: int, pin: "Pin") -> None:
        self.edges, self.seat, self.pin = edges, seat, pin

    def is_closed(self) -> int:
        """Return 1 if the contact is closed now."""
        return 1 - self.pin.value()

    def on_edge(self, pin: "Pin") -> None:
        """Store an edge. This is the interrupt handler."""
        edges = self.edges
        at = edges.ticks_us()  # before anything else
        head = edges.head
        after = (head + 1) % RING_SIZE
        if after == edges.tail:
            edges.missed = True
            return
        edges.at[head] = at
        edges.codes[head] = self.seat * 2 + 1 - pin.value()
        edges.head = after


PERIOD = 1 << 30
"""Period of `time.ticks_us()` on MicroPython's 32-bit ports: it wraps every 17.9 minutes."""


class Microseconds:
    """The time since the start. Must be read at least every 8.9 minutes; the main loop does so every millisecond."""

    def __init__(self, ticks: int) -> None:
        self._ticks, self._us = ticks, 0

    def now(self, ticks: int) -> int:
        """Return the time, given the present value of `ticks_us`."""
        self._us += (ticks - self._ticks) % PERIOD
        self._ticks = ticks
        return self._us

    def of(self, ticks: int) -> int:
        """Return the time of a `ticks_us` value that is less than half a period before or after the last `now`."""
        half = PERIOD // 2
        return self._us + (ticks - self._ticks + half) % PERIOD - half


STORE_SIZE = 256
"""Capacity in edges; a press with a bad contact has about twenty."""


class Store:
    """Edges that the table has not acknowledged, stored while the box has power, numbered from 0 at each start.

    When the store is full the oldest edges stay, and a single LOST entry stands for the others.
    """

    def __init__(self, closed: int) -> None:
        self.closed = closed
        """The contacts that were closed before the first stored edge: one bit per seat, east lowest."""
        self.first = 0
        self._edges: list[tuple[int, int, int]] = []

    @property
    def next(self) -> int:
        """The number of the next edge."""
        return self.first + len(self._edges)

    def add(self, seat: int, closed: int, us: int) -> None:
        """Store an edge."""
        room = STORE_SIZE - len(self._edges)
        if room > 1:
            self._edges.append((seat, closed, us))
        elif room == 1:
            self._edges.append((LOST, 0, us))

    def get(self, number: int) -> "tuple[int, int, int]":
        """Return a stored edge: seat, closed, time."""
        return self._edges[number - self.first]

    def forget(self, until: int) -> None:
        """Drop the edges before this number, which the table has."""
        if not self.first < until <= self.next:
            return
        for seat, closed, _ in self._edges[: until - self.first]:
            bit = 15 if seat == LOST else 1 << seat
            self.closed = self.closed & ~bit | (bit if closed else 0)
        self._edges = self._edges[until - self.first :]
        self.first = until
