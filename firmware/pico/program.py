"""The main loop of the box: collects edges, stores them until the table has them, answers queries, drives the lamps.

It judges nothing. Edges are sent raw, and the table decides what a press is (`firmware/presses.py`), with the same
rules for pins and for the box.
"""

from firmware.box.codec import LOST, VERSION, FrameSplitter, encode_frame
from firmware.pico.edges import Microseconds, Store

TYPE_CHECKING = False  # MicroPython has no typing; type checkers treat this name as true
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from firmware.pico.edges import Contact, Edges

    class Line(Protocol):
        """Bytes to and from the table."""

        def read(self) -> bytes:
            """Return the bytes received, a few at most; wait up to a millisecond if there are none."""

        def write(self, frame: bytes) -> bool:
            """Send a frame; return False if there is no room."""

    class Output(Protocol):
        """The part of `machine.Pin` that is used."""

        def value(self, level: int) -> object:
            """Set the level."""


BLINK_US = 500_000
"""How long blinking lamps are on, and then off. All blink in step."""


class Lamps:
    """Output pins, each of which lights a lamp while it is high."""

    def __init__(self, pins: "Sequence[Output]") -> None:
        self._pins, self.code = pins, 0
        """The lamp states: two bits per seat, as in a frame `L`."""
        self._lit = -1

    def turn(self, us: int) -> None:
        """Set the lamps to their state at this time."""
        lit, blinking = 0, us // BLINK_US % 2 == 0
        for seat in range(len(self._pins)):
            mode = self.code >> 2 * seat & 3
            lit |= (mode == 1 or (mode == 2 and blinking)) << seat  # noqa: PLR2004 - on, blink: codec.FRAME_FIELDS
        if lit != self._lit:
            self._lit = lit
            for seat, pin in enumerate(self._pins):
                pin.value(lit >> seat & 1)


HEARTBEAT_US = 100_000

LIVELY_US = 60_000
"""For this long after an edge there is a heartbeat in every turn, which tells the table that no further edge came."""

NAME_US = 250_000
"""Time between two `B` frames."""

DEAF_US = 3_000_000
"""Silence of the table after which the lamps go off. It queries the time four times a second."""

BURST = 8
"""Edges sent in one turn, so that a turn stays short."""


class Program:
    """The box without its hardware: `turn` is called forever."""

    def __init__(self, line: "Line", edges: "Edges", contacts: "Sequence[Contact]", lamps: Lamps, boot: int) -> None:
        self._line, self._edges, self._lamps, self._boot = line, edges, lamps, boot
        self._splitter = FrameSplitter()
        self._clock = Microseconds(edges.ticks_us())
        self._store = Store(sum(one.is_closed() << seat for seat, one in enumerate(contacts)))
        self._said = 0
        """The number of the next edge to send."""
        self._heard_at = self._moved_at = 0
        self._beat_at, self._named_at = -HEARTBEAT_US, -NAME_US

    def turn(self) -> None:
        """Run one turn of the loop.

        Reading comes first because it waits up to a millisecond if nothing arrives: a heartbeat with the time from
        before that wait would delay the detection of a press by as much.
        """
        for kind, numbers in self._splitter.feed(self._line.read()):
            self._hear(kind, numbers)
        now = self._clock.now(self._edges.ticks_us())
        self._collect(now)
        self._say_edges()
        self._beat(now)
        if now - self._heard_at > DEAF_US:
            self._lamps.code = 0
        self._lamps.turn(now)

    def _collect(self, now: int) -> None:
        """Move edges from the interrupts' ring to the store."""
        edge = self._edges.take()
        while edge is not None:
            seat, closed, ticks = edge
            self._store.add(seat, closed, self._clock.of(ticks))
            self._moved_at = now
            edge = self._edges.take()
        if self._edges.missed:
            self._edges.missed = False
            self._store.add(LOST, 0, now)

    def _hear(self, kind: str, numbers: "list[int]") -> None:
        now = self._heard_at = self._clock.now(self._edges.ticks_us())
        if kind == "Q":
            self._line.write(encode_frame("R", numbers[0], now))
        elif kind == "L":
            self._lamps.code = numbers[0] & 255
        elif kind in ("A", "N") and numbers[0] == self._boot:
            if kind == "A":
                self._store.forget(numbers[1])
            else:
                self._said = numbers[1]
            self._said = min(max(self._said, self._store.first), self._store.next)

    def _say_edges(self) -> None:
        """Send edges that are new or that were requested again."""
        for _ in range(min(BURST, self._store.next - self._said)):
            seat, closed, us = self._store.get(self._said)
            if not self._line.write(encode_frame("E", self._boot, self._said, seat, closed, us)):
                return
            self._said += 1

    def _beat(self, now: int) -> None:
        if now - self._named_at >= NAME_US and self._line.write(encode_frame("B", VERSION, self._boot)):
            self._named_at = now
        lively = self._moved_at > 0 and now - self._moved_at < LIVELY_US
        if not lively and now - self._beat_at < HEARTBEAT_US:
            return
        store, lamps = self._store, self._lamps.code
        if self._line.write(encode_frame("H", self._boot, store.first, store.next, store.closed, lamps, now)):
            self._beat_at = now
