"""A table and a box on a line, in simulated time."""

from collections.abc import Callable
from itertools import count
from typing import Final, Protocol

from firmware.box.link import BoxLink, LinkOutput
from firmware.pico.edges import PERIOD
from firmware.reports import SEATS, Health, Report, Seat, TooShort
from firmware.sim.pico import SimulatedPico

MILLISECOND: Final = 1_000_000
US: Final = 1_000

Carry = Callable[[bytes, int], list[tuple[int, bytes]]]
"""Maps bytes sent at a time to the bytes that arrive, each piece with its time."""


class Device(Protocol):
    """A Pico, in CPython or in MicroPython."""

    def turn(self, incoming: bytes = b"") -> bytes: ...

    def touch(self, seat: int, closed: int) -> None: ...

    def lamps(self) -> list[int]: ...


Start = Callable[[Callable[[], int], int, tuple[int, ...]], Device]
"""Starts a box with this clock, boot id and closed contacts."""


def good(chunk: bytes, now: int) -> list[tuple[int, bytes]]:
    """Carry bytes as USB does."""
    return [(now + MILLISECOND, chunk)]


class World:
    """Runs both sides in steps of a millisecond and records the reports."""

    def __init__(self, *, start: Start = SimulatedPico, ppm: int = 0, boot_ticks: int = 12_345) -> None:
        self.now = 7_000_000_000_000
        self.ppm, self._start, self._boots = ppm, start, count(1000)
        self.to_box: Carry = good
        self.to_table: Carry = good
        self.plugged = True
        self._flying: list[tuple[int, int, bool, bytes]] = []
        """Pieces on the way: arrival time, sequence number, whether to the table, bytes."""
        self._order = count()
        self.link, self.reports = BoxLink(), list[Report]()
        self.bytes_seen = b""
        self.power_on(boot_ticks)
        self._take(self.link.opened(self.now))

    def power_on(self, ticks: int = 0, closed: tuple[int, ...] = ()) -> None:
        """Start the box, or start it again."""
        self._ticks_then, self._then = ticks, self.now
        self.box = self._start(self.ticks, next(self._boots), closed)

    def ticks(self) -> int:
        """Return the box's wrapping microseconds."""
        passed = (self.now - self._then) * (1_000_000 + self.ppm) // (1_000_000 * US)
        return (self._ticks_then + passed) % PERIOD

    def run(self, ms: int) -> None:
        """Let time pass."""
        for _ in range(ms):
            self.now += MILLISECOND
            self._send(self.box.turn(self._arrived(to_table=False)), to_table=True)
            if self.plugged:
                self._take(self.link.received(self._arrived(to_table=True), self.now))

    def hours(self, hours: int) -> None:
        """Let hours pass in which only the box runs, often enough to unwrap its clock."""
        for _ in range(hours * 600):
            self.now += 6000 * MILLISECOND
            self.box.turn()

    def settle(self) -> None:
        """Let both sides synchronise; clear the reports about it."""
        self.run(300)
        assert self.reports[-1] == Health("buttons", None)
        self.reports.clear()

    def touch(self, seat: Seat, *, closed: bool) -> int:
        """Close or open a contact; return the time."""
        self.box.touch(SEATS.index(seat), int(closed))
        return self.now

    def press(self, seat: Seat, ms: int = 100) -> int:
        """Press and release; return the time of the press."""
        at = self.touch(seat, closed=True)
        self.run(ms)
        self.touch(seat, closed=False)
        return at

    def unplug(self) -> None:
        """Unplug the cable at the table's end; the box keeps its power."""
        self.plugged = False
        self._flying.clear()
        self._take(self.link.closed("device_unplugged", "gone"))

    def plug(self) -> None:
        """Plug the cable in again."""
        self.plugged = True
        self._take(self.link.opened(self.now))

    def restart_table(self) -> None:
        """Restart the table's program while the box keeps running."""
        self.link = BoxLink()
        self._take(self.link.opened(self.now))

    def told(self, *kinds: type[Report]) -> list[Report]:
        """Return the reports of these kinds."""
        return [report for report in self.reports if isinstance(report, kinds)]

    def _take(self, said: LinkOutput) -> None:
        self.reports += [one for one in said.reports if not isinstance(one, TooShort)]
        self._send(said.outgoing, to_table=False)

    def _send(self, chunk: bytes, *, to_table: bool) -> None:
        if chunk and self.plugged:
            if to_table:
                self.bytes_seen += chunk
            carry = self.to_table if to_table else self.to_box
            self._flying += [(at, next(self._order), to_table, part) for at, part in carry(chunk, self.now)]

    def _arrived(self, *, to_table: bool) -> bytes:
        here = sorted(one for one in self._flying if one[0] <= self.now and one[2] is to_table)
        for one in here:
            self._flying.remove(one)
        return b"".join(part for *_, part in here)
