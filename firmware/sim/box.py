"""A simulated button box on a pseudo-terminal that pyserial opens. It runs the program of a real one."""

import contextlib
import os
import random
import select
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Final

from broker.closing import Closing
from firmware.box.link import NS_PER_US
from firmware.pico.edges import PERIOD
from firmware.presses import MS
from firmware.reports import SEATS, Seat
from firmware.sim.cable import LineFaults, LineNoise, WaitableCable
from firmware.sim.pico import SimulatedPico

_TURN_S: Final = 0.001
"""A turn of the box's main loop while a contact moves. Turns are longer between presses, to save processor time."""

_IDLE_S: Final = 0.01

BUSY_NS: Final = 150_000_000
"""For how long after a contact's movement turns are short."""


class BoxSimulator(Closing):
    """A box with its power supply and cable. Other threads may press, unplug and reset it."""

    def __init__(self, faults: LineFaults | None = None, *, ppm: int = 0, seed: int = 0) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="homologue-box-")
        self.path = Path(self._folder.name) / "usb-button-box"
        self._ppm = ppm
        self._noise = {way: LineNoise(faults or LineFaults(), seed + way) for way in (True, False)}
        """By direction: True to the table, False to the box."""
        self._in_transit: list[tuple[int, int, bool, bytes]] = []
        self._order, self._boots = count(), count(int.from_bytes(os.urandom(3), "big"))
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._lock = threading.RLock()
        self._stopped = False
        self._moved_at = 0
        self._closed: set[int] = set()
        """The closed contacts, regardless of power."""
        self._pending_touches: list[tuple[int, int, Seat, bool]] = []
        """Pending movements of contacts: time, sequence number, seat, closed."""
        self._plug_in_at: int | None = None
        self.cable = WaitableCable(self.path)
        self.cable.put_in()
        self._plugged_at = time.monotonic_ns()
        self._unplug_after_ns = self._away_ns = self._reset_ns = 0
        self._power_on()
        self._thread = threading.Thread(target=self._run, name="simulated button box", daemon=True)
        self._thread.start()

    def _power_on(self) -> None:
        self._started = self._now = time.monotonic_ns()
        self._pico = SimulatedPico(self._ticks_us, next(self._boots), tuple(self._closed))

    def _ticks_us(self) -> int:
        passed = self._now - self._started
        return (passed + passed * self._ppm // 1_000_000) // NS_PER_US % PERIOD

    def touch(self, seat: Seat, *, closed: bool, at: int | None = None) -> None:
        """Close or open a contact now, or at a future time that is met exactly even on a busy machine."""
        with self._lock:
            self._pending_touches.append((time.monotonic_ns() if at is None else at, next(self._order), seat, closed))
        self._wake_thread()

    def lamps(self) -> dict[Seat, bool]:
        """Return which lamps are lit."""
        with self._lock:
            return dict(zip(SEATS, map(bool, self._pico.lamps()), strict=True))

    def unplug(self) -> None:
        """Unplug the cable. This box has separate power, and keeps what it has stored."""
        with self._lock:
            self._in_transit.clear()
            self.cable.pull()
        self._wake_thread()

    def plug(self) -> None:
        """Plug the cable in again."""
        with self._lock:
            self.cable.put_in()
            self._plugged_at, self._plug_in_at = time.monotonic_ns(), None
        self._wake_thread()

    def reset(self) -> None:
        """Cut the power and restore it."""
        with self._lock:
            self._power_on()

    def schedule_accidents(self, *, unplugged_ms: int, away_ms: int, reset_ms: int) -> None:
        """Unplug the cable after `unplugged_ms` for `away_ms`, and cut the power every `reset_ms`; 0: never."""
        self._unplug_after_ns, self._away_ns, self._reset_ns = unplugged_ms * MS, away_ms * MS, reset_ms * MS

    def _cause_accidents(self, now: int) -> None:
        if self._reset_ns and now - self._started >= self._reset_ns:
            self.reset()
        if self._unplug_after_ns and self.cable.is_in and now - self._plugged_at >= self._unplug_after_ns:
            self.unplug()
            self._plug_in_at = now + self._away_ns
        if self._plug_in_at is not None and now >= self._plug_in_at:
            self.plug()

    def _wake_thread(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake, b"!")

    def _run(self) -> None:
        while not self._stopped:
            self._wait()
            with self._lock:
                self._turn()

    def _wait(self) -> None:
        """Wait for bytes, fingers, or the next turn."""
        with self._lock:
            busy = time.monotonic_ns() - self._moved_at < BUSY_NS or bool(self._in_transit or self._pending_touches)
            watched = [self._woken, *([self.cable.fileno()] if self.cable.is_in else [])]
        try:
            ready, _, _ = select.select(watched, [], [], _TURN_S if busy else _IDLE_S)
        except OSError:  # just unplugged
            return
        if self._woken in ready:
            os.read(self._woken, 4096)

    def _turn(self) -> None:
        """Run the main loop once. The box's clock shows the time of the turn, and for an edge that of the edge."""
        received = self.cable.receive()
        now = time.monotonic_ns()
        self._cause_accidents(now)
        self._send(received, now, to_table=False)
        self._move_contacts(now)
        incoming = self._arrived(now, to_table=False)
        self._send(self._pico.turn(incoming), now, to_table=True)
        if outgoing := self._arrived(now, to_table=True):
            self.cable.send(outgoing)

    def _move_contacts(self, now: int) -> None:
        due = sorted(touch for touch in self._pending_touches if touch[0] <= now)
        self._pending_touches = [touch for touch in self._pending_touches if touch not in due]
        for at, _, seat, closed in due:
            self._now = self._moved_at = max(self._now, at)
            (self._closed.add if closed else self._closed.discard)(SEATS.index(seat))
            self._pico.touch(SEATS.index(seat), int(closed))
        self._now = now

    def _send(self, piece: bytes, now: int, *, to_table: bool) -> None:
        if piece and self.cable.is_in:
            for at, arrived in self._noise[to_table].carry(piece, now):
                self._in_transit.append((at, next(self._order), to_table, arrived))

    def _arrived(self, now: int, *, to_table: bool) -> bytes:
        here = sorted(one for one in self._in_transit if one[0] <= now and one[2] is to_table)
        self._in_transit = [one for one in self._in_transit if one not in here]
        return b"".join(piece for *_, piece in here)

    def close(self) -> None:
        """Remove the box. May be called twice."""
        if self._stopped:
            return
        self._stopped = True
        self._wake_thread()
        self._thread.join()
        self.cable.close()
        os.close(self._woken)
        os.close(self._wake)
        self._folder.cleanup()


NS: Final = 1_000_000_000

BOUNCE_NS: Final = 1_000_000
"""Time between two edges of a bouncing contact."""


class BoxFingers:
    """The fingers of four players at a box. Closing the box is left to its owner."""

    def __init__(
        self,
        box: BoxSimulator,
        *,
        bounces: int = 2,
        hold_s: float = 0.12,
        stuck: Iterable[Seat] = (),
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.box, self.stuck = box, set(stuck)
        """Buttons that stay down once pressed."""
        self._bounces, self._hold_s, self._sleep, self._clock_ns = bounces, hold_s, sleep, clock_ns
        self._random = random.Random(seed)  # noqa: S311 - simulates a shaky hand, no secret

    def press(self, seat: Seat, hold_s: float | None = None) -> None:
        """Press one button and release it."""
        at = self._move(seat, self._clock_ns(), closed=True)
        if seat not in self.stuck:
            at = self._move(seat, at + round((self._hold_s if hold_s is None else hold_s) * NS), closed=False)
        self._sleep(max(0, at - self._clock_ns()) / NS)

    def _move(self, seat: Seat, at: int, *, closed: bool) -> int:
        """Move a contact with bounces, starting at a time; return the time of the last edge."""
        for _ in range(self._random.randint(0, self._bounces)):
            self.box.touch(seat, closed=closed, at=at)
            self.box.touch(seat, closed=not closed, at=at + BOUNCE_NS)
            at += 2 * BOUNCE_NS
        self.box.touch(seat, closed=closed, at=at)
        return at
