"""What the box does, turn by turn: takes edges, keeps them until the table has them, answers, shows lamps.

It judges nothing: edges go out raw, and what is a press is decided at the table (`firmware/presses.py`), by one set of
rules for pins and box alike.
"""

from firmware.box.codec import LOST, VERSION, FrameSplitter, encode_frame
from firmware.pico.edges import Microseconds, Store

TYPE_CHECKING = False  # MicroPython has no typing; type checkers take this name for true
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from firmware.pico.edges import Contact, Edges

    class Line(Protocol):
        """Bytes to and from the table."""

        def read(self) -> bytes:
            """Return what has come, a few bytes at most; wait for a millisecond where nothing has."""

        def write(self, frame: bytes) -> bool:
            """Send, or say that there is no room now."""

    class Output(Protocol):
        """What we want of `machine.Pin`."""

        def value(self, level: int) -> object:
            """Set the level."""


BLINK_US = 500_000
"""On for so long, then off for so long; all lamps together."""


class Lamps:
    """Pins that feed a lamp each while they are high."""

    def __init__(self, pins: "Sequence[Output]") -> None:
        self._pins, self.code = pins, 0
        """What is to show: two bits a seat, as in a frame `L`."""
        self._lit = -1

    def turn(self, us: int) -> None:
        """Light what is lit at this time."""
        lit, blinking = 0, us // BLINK_US % 2 == 0
        for seat in range(len(self._pins)):
            mode = self.code >> 2 * seat & 3
            lit |= (mode == 1 or (mode == 2 and blinking)) << seat  # noqa: PLR2004 - on, blink: codec.FIELDS
        if lit != self._lit:
            self._lit = lit
            for seat, pin in enumerate(self._pins):
                pin.value(lit >> seat & 1)


HEARTBEAT_US = 100_000

LIVELY_US = 60_000
"""For so long after an edge every turn has its heartbeat: the table knows by it that no further edge came."""

NAME_US = 250_000
"""Between two `B`."""

DEAF_US = 3_000_000
"""The table asks for the time four times a second. After this without a word its lamps go out."""

BURST = 8
"""Edges in one turn, so that a turn stays short."""


class Program:
    """The box without its parts: `turn` is called forever."""

    def __init__(self, line: "Line", edges: "Edges", contacts: "Sequence[Contact]", lamps: Lamps, boot: int) -> None:
        self._line, self._edges, self._lamps, self._boot = line, edges, lamps, boot
        self._splitter = FrameSplitter()
        self._clock = Microseconds(edges.ticks_us())
        self._store = Store(sum(one.is_closed() << seat for seat, one in enumerate(contacts)))
        self._said = 0
        """The number of the edge that is said next."""
        self._heard_at = self._moved_at = 0
        self._beat_at, self._named_at = -HEARTBEAT_US, -NAME_US

    def turn(self) -> None:
        """Do what there is to do.

        Reading waits for a millisecond where nothing comes, so it is done first: a heartbeat that told the time from
        before it would let the table know of a press that much later.
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
        """Say the edges that have not been said, or that were asked for again."""
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
