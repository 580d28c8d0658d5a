"""The four silent hu buttons on the pins of a Pi, and the lamps in them.

The kernel timestamps every edge; lgpio and gpiozero deliver it. A thread advances the time in `presses.py`, which is
pure.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import gpiozero
from gpiozero.pins import Factory

from broker.closing import Closing
from firmware.errors import DeviceMissing
from firmware.presses import MS, Changeover, ContactLimits, ContactOutcome, Presses
from firmware.reports import Health, Lamp, OnReport, Seat, TooShort
from firmware.wiring import Wiring

NS: Final = 1_000_000_000

OnEdge = Callable[[int, bool], None]
"""Callback with the time of an edge, in ns of our clock, and whether the contact is closed after it."""


def kernel_pins() -> Factory:
    """Return this machine's pin factory: lgpio's, unless another one was configured. Raises DeviceMissing.

    On its own, gpiozero would fall back to factories with worse timing, with a warning that nobody reads.
    """
    try:
        if gpiozero.Device.pin_factory is None and not os.environ.get("GPIOZERO_PIN_FACTORY"):
            from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415 - lgpio exists only on a Pi

            gpiozero.Device.pin_factory = LGPIOFactory()
        gpiozero.Device.ensure_pin_factory()
    except Exception as error:  # noqa: BLE001 - lgpio's own error derives from Exception alone
        raise DeviceMissing(f"no pins here: {error}") from None
    return gpiozero.Device.pin_factory


def clock_offset_ns(factory: Factory, clock_ns: Callable[[], int]) -> int:
    """Return the offset from the pins' ticks to our clock, in ns.

    It is measured once for all pins. Measured again for each edge, it could change the order of two edges.
    """
    trials: list[tuple[int, int]] = []
    for _ in range(5):
        before, ticks, after = clock_ns(), factory.ticks(), clock_ns()
        trials.append((after - before, (before + after) // 2 - round(ticks * NS)))
    _, offset = min(trials)
    return offset


class InputLine:
    """One contact between a pin and ground. It reads low when closed; the Pi's internal resistor pulls it up."""

    def __init__(self, pin: int, factory: Factory, offset: int, on_edge: OnEdge) -> None:
        self._offset, self._on_edge = offset, on_edge
        self._device = gpiozero.InputDevice(pin, pull_up=True, pin_factory=factory)
        self._device.pin.edges = "both"
        self._device.pin.when_changed = self._changed

    def _changed(self, ticks: float, level: int) -> None:
        self._on_edge(round(ticks * NS) + self._offset, not level)

    @property
    def is_closed(self) -> bool:
        """Whether the contact is closed now. An edge may not have been delivered yet."""
        return bool(self._device.is_active)

    def close(self) -> None:
        """Release the pin. May be called twice."""
        if not self._device.closed:
            self._device.pin.when_changed = None
            self._device.close()


BLINK_S: Final = 0.5
"""How long a blinking lamp is on, and then off, in s."""


class SeatLamps:
    """The lamps of the seats that have one. A lamp between pin and ground is lit when the pin is high."""

    def __init__(self, pins: Mapping[Seat, int], factory: Factory) -> None:
        """Open the pins. Errors of gpiozero and lgpio are passed on, after all pins have been released."""
        self._shown: dict[Seat, Lamp] = {}
        self._leds: dict[Seat, gpiozero.LED] = {}
        try:
            for seat, pin in pins.items():
                self._leds[seat] = gpiozero.LED(pin, pin_factory=factory)
        except BaseException:
            self.close()
            raise

    def show(self, seat: Seat, lamp: Lamp) -> None:
        """Set a lamp. A repeated setting changes nothing, so that a blinking lamp keeps its rhythm."""
        led = self._leds.get(seat)
        if led is None or self._shown.get(seat) == lamp:
            return
        self._shown[seat] = lamp
        if lamp == "blink":
            led.blink(BLINK_S, BLINK_S)
        else:
            led.value = lamp == "on"

    def close(self) -> None:
        """Switch all lamps off and release their pins. May be called twice."""
        for led in self._leds.values():
            if not led.closed:
                led.off()
                led.close()


_RETRY_S: Final = 0.001
"""Delay before retrying something that was due but held back by an undelivered edge."""


class Ticker:
    """Calls `pass_time` whenever something is `due`. Call `reschedule` after changing what is due."""

    def __init__(
        self, name: str, due: Callable[[], int | None], pass_time: Callable[[], None], clock_ns: Callable[[], int]
    ) -> None:
        self._due, self._pass_time, self._clock_ns = due, pass_time, clock_ns
        self._changed = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def reschedule(self) -> None:
        """Check again what is due."""
        self._changed.set()

    def stop(self) -> None:
        """End the thread, and wait for it unless called from it. May be called twice, and before the start."""
        self._stopped = True
        self._changed.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            self._changed.clear()
            self._changed.wait(self._run_due())

    def _run_due(self) -> float | None:
        """Do what is due, and return how many seconds remain until the next deadline. None: wait for `reschedule`."""
        when = self._due()
        while when is not None and when <= self._clock_ns() and not self._stopped:
            self._pass_time()
            done, when = when, self._due()
            if when == done:
                return _RETRY_S
        return None if when is None else max(0.0, (when - self._clock_ns()) / NS)


EDGE_DELAY_NS: Final = 20 * MS
"""How long to wait for an edge if a pin's level differs from its last edge. After that, the edge was lost."""


def ignore_pulse(_: TooShort) -> None:
    """Ignore a pulse too short for a finger."""


class SeatButtons(Closing):
    """Four buttons, one for each seat.

    `on_report` is called from the threads of pins and ticker, one report at a time, and must neither block nor raise.
    """

    def __init__(
        self,
        wiring: Wiring,
        on_report: OnReport,
        *,
        on_short: Callable[[TooShort], None] = ignore_pulse,
        limits: ContactLimits | None = None,
        factory: Factory | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        ticking: bool = True,
    ) -> None:
        """Open the buttons. Raises DeviceMissing if the pins do not exist or are used by another program.

        `on_short` receives pulses too short for a finger. They are for whoever maintains the wiring, never for the
        players. Without `ticking`, the caller has to call `pass_time`.
        """
        self._on_report, self._on_short, self._clock_ns = on_report, on_short, clock_ns
        self._presses = Presses(limits)
        self._changeovers: dict[Seat, Changeover] = {}
        self._lines: dict[Seat, InputLine] = {}
        self._second: dict[Seat, InputLine] = {}
        self._lamps: SeatLamps | None = None
        self._awaited_since: int | None = None
        """Since when a pin's level has differed from its last edge."""
        self._lock = threading.RLock()
        self._ticker = Ticker("hu buttons", self.due, self.pass_time, clock_ns)
        with self._lock:  # edges wait until the state of all lines has been read
            self._kernel = kernel_pins() if factory is None else None
            self._open(wiring, factory or kernel_pins())
            self._begin()
        if ticking:
            self._ticker.start()

    def _open(self, wiring: Wiring, factory: Factory) -> None:
        offset = clock_offset_ns(factory, self._clock_ns)
        part = ""
        try:
            for seat, pins in wiring.items():
                part = f"{seat}'s button at GPIO{pins.closes}"
                self._lines[seat] = InputLine(pins.closes, factory, offset, partial(self._edge, seat))
                if pins.opens is not None:
                    part = f"{seat}'s second contact at GPIO{pins.opens}"
                    self._second[seat] = InputLine(pins.opens, factory, offset, partial(self._second_edge, seat))
            part = "the lamps"
            lamps = {seat: pins.lamp for seat, pins in wiring.items() if pins.lamp is not None}
            self._lamps = SeatLamps(lamps, factory)
        except Exception as error:  # noqa: BLE001 - lgpio's own error (a busy pin) derives from Exception alone
            self.close()
            raise DeviceMissing(f"{part}: {error}") from None

    def _begin(self) -> None:
        now = self._clock_ns()
        closed = {seat: line.is_closed for seat, line in self._lines.items()}
        for seat, line in self._second.items():
            self._changeovers[seat] = Changeover(seat, closes=closed[seat], opens=line.is_closed, since=now)
        self._deliver(self._presses.begin(closed))

    def _edge(self, seat: Seat, at: int, closed: bool) -> None:  # noqa: FBT001 - a line's callback
        """Process an edge of the contact that closes when pressed."""
        with self._lock:
            self._deliver(self._presses.edge(seat, closed=closed, at=at))
            if changeover := self._changeovers.get(seat):
                self._deliver(changeover.edge(closes=closed, at=at))
        self._ticker.reschedule()

    def _second_edge(self, seat: Seat, at: int, closed: bool) -> None:  # noqa: FBT001 - a line's callback
        """Process an edge of the contact that opens when pressed."""
        with self._lock:
            self._deliver(self._changeovers[seat].edge(opens=closed, at=at))
        self._ticker.reschedule()

    def due(self) -> int | None:
        """Return when `pass_time` must be called, in ns of the clock; None if nothing is due."""
        with self._lock:
            dues = [self._presses.due(), *(one.due() for one in self._changeovers.values())]
        return min((when for when in dues if when is not None), default=None)

    def pass_time(self) -> None:
        """Let time pass until now, unless an undelivered edge must be processed first."""
        with self._lock:
            now = self._clock_ns()
            for seat, changeover in self._changeovers.items():
                self._pass_time_of(seat, changeover, now)
            if not self._is_awaiting_edge(now):
                self._deliver(self._presses.pass_time(now))

    def _is_awaiting_edge(self, now: int) -> bool:
        """Return whether to wait for an edge. One that takes too long was lost and is inferred from the pin."""
        when = self._presses.due()
        lost = self._seats_out_of_step() if when is not None and when <= now else []
        if when is None or not lost:
            self._awaited_since = None
            return False
        if self._awaited_since is None:
            self._awaited_since = now
        if now < self._awaited_since + EDGE_DELAY_NS:
            return True
        for seat in lost:
            self._deliver(self._presses.edge(seat, closed=self._lines[seat].is_closed, at=when - 1))
        return False

    def _pass_time_of(self, seat: Seat, changeover: Changeover, now: int) -> None:
        """Let time pass for a button with two contacts. Its pins are read again before a fault is reported."""
        if (when := changeover.due()) is not None and when <= now:
            closes, opens = self._lines[seat].is_closed, self._second[seat].is_closed
            self._deliver(changeover.edge(closes=closes, opens=opens, at=when - 1))
        self._deliver(changeover.pass_time(now))

    def _seats_out_of_step(self) -> list[Seat]:
        return [seat for seat, line in self._lines.items() if line.is_closed != self._presses.is_closed(seat)]

    def _deliver(self, outcomes: list[ContactOutcome] | list[Health]) -> None:
        for outcome in outcomes:
            if isinstance(outcome, TooShort):
                self._on_short(outcome)
            else:
                self._on_report(outcome)

    def show(self, seat: Seat, lamp: Lamp) -> None:
        """Set a seat's lamp. A button without one ignores it."""
        if self._lamps:
            self._lamps.show(seat, lamp)

    def close(self) -> None:
        """Switch the lamps off and release the pins. May be called twice."""
        self._ticker.stop()
        for line in (*self._lines.values(), *self._second.values()):
            line.close()
        if self._lamps:
            self._lamps.close()
        if self._kernel is not None:  # gpiozero keeps the lines of closed devices, which blocks other programs
            self._kernel.close()
            if gpiozero.Device.pin_factory is self._kernel:
                gpiozero.Device.pin_factory = None
            self._kernel = None
