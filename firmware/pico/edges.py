"""Edges of the contacts, with the microsecond at which the interrupt found them.

The handlers run as hard interrupts, between any two instructions of the main loop, and must not allocate memory:
everything they write to is there from the start.
"""

from array import array

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


SIZE = 128
"""Edges between two turns of the main loop: more than a contact can give in the few ms that one takes."""


class Edges:
    """A ring between the interrupts, which write, and the main loop, which reads. Neither waits for the other."""

    def __init__(self, ticks_us: "Callable[[], int]") -> None:
        self.ticks_us = ticks_us
        self.at = array("I", [0] * SIZE)
        self.what = bytearray(SIZE)
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
        self.tail = (tail + 1) % SIZE
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
        after = (head + 1) % SIZE
        if after == edges.tail:
            edges.missed = True
            return
        edges.at[head] = at
        edges.what[head] = self.seat * 2 + 1 - pin.value()
        edges.head = after
