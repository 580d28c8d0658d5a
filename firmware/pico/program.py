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

BUSY_US = 60_000
"""For this long after an edge there is a heartbeat in every turn, which tells the table that no further edge came."""

VERSION_US = 250_000
"""Time between two `B` frames."""

TABLE_TIMEOUT_US = 3_000_000
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
        self._next_to_send = 0
        """The number of the next edge to send."""
        self._received_at = self._last_edge_at = 0
        self._heartbeat_at, self._version_at = -HEARTBEAT_US, -VERSION_US

    def turn(self) -> None:
        """Run one turn of the loop.

        Reading comes first because it waits up to a millisecond if nothing arrives: a heartbeat with the time from
        before that wait would delay the detection of a press by as much.
        """
        for kind, numbers in self._splitter.feed(self._line.read()):
            self._handle_frame(kind, numbers)
        now = self._clock.now(self._edges.ticks_us())
        self._collect(now)
        self._send_edges()
        self._send_heartbeat(now)
        if now - self._received_at > TABLE_TIMEOUT_US:
            self._lamps.code = 0
        self._lamps.turn(now)

    def _collect(self, now: int) -> None:
        """Move edges from the interrupts' ring to the store."""
        edge = self._edges.take()
        while edge is not None:
            seat, closed, ticks = edge
            self._store.add(seat, closed, self._clock.of(ticks))
            self._last_edge_at = now
            edge = self._edges.take()
        if self._edges.missed:
            self._edges.missed = False
            self._store.add(LOST, 0, now)

    def _handle_frame(self, kind: str, numbers: "list[int]") -> None:
        now = self._received_at = self._clock.now(self._edges.ticks_us())
        if kind == "Q":
            self._line.write(encode_frame("R", numbers[0], now))
        elif kind == "L":
            self._lamps.code = numbers[0] & 255
        elif kind in ("A", "N") and numbers[0] == self._boot:
            if kind == "A":
                self._store.forget(numbers[1])
            else:
                self._next_to_send = numbers[1]
            self._next_to_send = min(max(self._next_to_send, self._store.first), self._store.next)

    def _send_edges(self) -> None:
        """Send edges that are new or that were requested again."""
        for _ in range(min(BURST, self._store.next - self._next_to_send)):
            seat, closed, us = self._store.get(self._next_to_send)
            if not self._line.write(encode_frame("E", self._boot, self._next_to_send, seat, closed, us)):
                return
            self._next_to_send += 1

    def _send_heartbeat(self, now: int) -> None:
        if now - self._version_at >= VERSION_US and self._line.write(encode_frame("B", VERSION, self._boot)):
            self._version_at = now
        busy = self._last_edge_at > 0 and now - self._last_edge_at < BUSY_US
        if not busy and now - self._heartbeat_at < HEARTBEAT_US:
            return
        store, lamps = self._store, self._lamps.code
        if self._line.write(encode_frame("H", self._boot, store.first, store.next, store.closed, lamps, now)):
            self._heartbeat_at = now
