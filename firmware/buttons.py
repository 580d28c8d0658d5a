"""The four silent hu buttons on the pins of a Pi, and the lamps in them.

The kernel times every edge; gpiozero and lgpio deliver it. A thread lets time pass for the pure part in `presses.py`.
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
"""Time of the edge in ns of our clock, and whether the contact is closed since."""


def kernel_pins() -> Factory:
    """Return the pins of this machine: lgpio's, unless somebody chose others. Raises DeviceMissing.

    gpiozero alone would fall back to pins that are timed worse, with a warning that nobody reads.
    """
    try:
        if gpiozero.Device.pin_factory is None and not os.environ.get("GPIOZERO_PIN_FACTORY"):
            from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415 - lgpio is there on a Pi only

            gpiozero.Device.pin_factory = LGPIOFactory()
        gpiozero.Device.ensure_pin_factory()
    except Exception as error:  # noqa: BLE001 - lgpio's own error derives from Exception alone
        raise DeviceMissing(f"no pins here: {error}") from None
    return gpiozero.Device.pin_factory


def clock_offset_ns(factory: Factory, clock_ns: Callable[[], int]) -> int:
    """Return what to add to the ticks of pins, in ns, to have our clock.

    One number for all pins and permanently: were it measured again for each edge, two edges could change their order.
    """
    trials: list[tuple[int, int]] = []
    for _ in range(5):
        before, ticks, after = clock_ns(), factory.ticks(), clock_ns()
        trials.append((after - before, (before + after) // 2 - round(ticks * NS)))
    _, offset = min(trials)
    return offset


class InputLine:
    """One contact between a pin and ground: closed is low, the Pi's own resistor pulls up."""

    def __init__(self, pin: int, factory: Factory, offset: int, on_edge: OnEdge) -> None:
        self._offset, self._on_edge = offset, on_edge
        self._device = gpiozero.InputDevice(pin, pull_up=True, pin_factory=factory)
        self._device.pin.edges = "both"
        self._device.pin.when_changed = self._changed

    def _changed(self, ticks: float, level: int) -> None:
        self._on_edge(round(ticks * NS) + self._offset, not level)

    @property
    def is_closed(self) -> bool:
        """Where the contact is now. An edge may be on its way that was not told yet."""
        return bool(self._device.is_active)

    def close(self) -> None:
        """Let the pin go; may be called twice."""
        if not self._device.closed:
            self._device.pin.when_changed = None
            self._device.close()


BLINK_S: Final = 0.5
"""On for so long, then off for so long."""


class SeatLamps:
    """A lamp for each seat that has one. A lamp between pin and ground is lit when the pin is high."""

    def __init__(self, pins: Mapping[Seat, int], factory: Factory) -> None:
        """Raise what gpiozero and lgpio raise where a pin is not to be had; nothing is kept open then."""
        self._shown: dict[Seat, Lamp] = {}
        self._leds: dict[Seat, gpiozero.LED] = {}
        try:
            for seat, pin in pins.items():
                self._leds[seat] = gpiozero.LED(pin, pin_factory=factory)
        except BaseException:
            self.close()
            raise

    def show(self, seat: Seat, lamp: Lamp) -> None:
        """Show something. What is shown already goes on as it is: a lamp that blinks keeps its beat."""
        led = self._leds.get(seat)
        if led is None or self._shown.get(seat) == lamp:
            return
        self._shown[seat] = lamp
        if lamp == "blink":
            led.blink(BLINK_S, BLINK_S)
        else:
            led.value = lamp == "on"

    def close(self) -> None:
        """Put all lamps out and let their pins go; may be called twice."""
        for led in self._leds.values():
            if not led.closed:
                led.off()
                led.close()


_RETRY_S: Final = 0.001
"""What is due and was not done is tried again after this: an edge was on its way."""


class Ticker:
    """Calls `pass_time` when `due` says so. Who has changed what is due calls `look`."""

    def __init__(
        self, name: str, due: Callable[[], int | None], pass_time: Callable[[], None], clock_ns: Callable[[], int]
    ) -> None:
        self._due, self._pass_time, self._clock_ns = due, pass_time, clock_ns
        self._changed = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def look(self) -> None:
        """Look again at what is due."""
        self._changed.set()

    def stop(self) -> None:
        """End, and wait for the thread unless this is it; may be called twice, and before the start."""
        self._stopped = True
        self._changed.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            self._changed.clear()
            self._changed.wait(self._left())

    def _left(self) -> float | None:
        """Do what is due, and give for how many seconds there is nothing to do. None: until `look`."""
        when = self._due()
        while when is not None and when <= self._clock_ns() and not self._stopped:
            self._pass_time()
            done, when = when, self._due()
            if when == done:
                return _RETRY_S
        return None if when is None else max(0.0, (when - self._clock_ns()) / NS)


EDGE_DELAY_NS: Final = 20 * MS
"""A pin is not where its edges have left it: the edge is on its way to us for this long, or else was lost."""


def ignore_pulse(_: TooShort) -> None:
    """Leave pulses that were no finger's to nobody."""


class SeatButtons(Closing):
    """Four buttons, one a seat.

    `tell` is called from the threads of pins and time, one report after the other; it must neither wait nor raise.
    """

    def __init__(
        self,
        wiring: Wiring,
        tell: OnReport,
        *,
        on_short: Callable[[TooShort], None] = ignore_pulse,
        limits: ContactLimits | None = None,
        factory: Factory | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        ticking: bool = True,
    ) -> None:
        """Raise DeviceMissing if there are no such pins or they belong to somebody else.

        `on_short` is told pulses that were no finger's: for who looks after the wiring, never for who plays. Without
        `ticking`, whoever has opened the buttons calls `pass_time`.
        """
        self._tell_report, self._on_short, self._clock_ns = tell, on_short, clock_ns
        self._presses = Presses(limits)
        self._changeovers: dict[Seat, Changeover] = {}
        self._lines: dict[Seat, InputLine] = {}
        self._second: dict[Seat, InputLine] = {}
        self._lamps: SeatLamps | None = None
        self._awaited_since: int | None = None
        """Since when a pin is not where its edges have left it."""
        self._lock = threading.RLock()
        self._ticker = Ticker("hu buttons", self.due, self.pass_time, clock_ns)
        with self._lock:  # edges wait until all lines have been looked at
            self._kernel = kernel_pins() if factory is None else None
            self._open(wiring, factory or kernel_pins())
            self._begin()
        if ticking:
            self._ticker.start()

    def _open(self, wiring: Wiring, factory: Factory) -> None:
        offset = clock_offset_ns(factory, self._clock_ns)
        what = ""
        try:
            for seat, pins in wiring.items():
                what = f"{seat}'s button at GPIO{pins.closes}"
                self._lines[seat] = InputLine(pins.closes, factory, offset, partial(self._edge, seat))
                if pins.opens is not None:
                    what = f"{seat}'s second contact at GPIO{pins.opens}"
                    self._second[seat] = InputLine(pins.opens, factory, offset, partial(self._second_edge, seat))
            what = "the lamps"
            lamps = {seat: pins.lamp for seat, pins in wiring.items() if pins.lamp is not None}
            self._lamps = SeatLamps(lamps, factory)
        except Exception as error:  # noqa: BLE001 - lgpio's own error (a busy pin) derives from Exception alone
            self.close()
            raise DeviceMissing(f"{what}: {error}") from None

    def _begin(self) -> None:
        now = self._clock_ns()
        closed = {seat: line.is_closed for seat, line in self._lines.items()}
        for seat, line in self._second.items():
            self._changeovers[seat] = Changeover(seat, closes=closed[seat], opens=line.is_closed, since=now)
        self._tell(self._presses.begin(closed))

    def _edge(self, seat: Seat, at: int, closed: bool) -> None:  # noqa: FBT001 - a line's callback
        """Take in an edge of the contact that closes when pressed."""
        with self._lock:
            self._tell(self._presses.edge(seat, closed=closed, at=at))
            if changeover := self._changeovers.get(seat):
                self._tell(changeover.edge(closes=closed, at=at))
        self._ticker.look()

    def _second_edge(self, seat: Seat, at: int, closed: bool) -> None:  # noqa: FBT001 - a line's callback
        """Take in an edge of the contact that opens when pressed."""
        with self._lock:
            self._tell(self._changeovers[seat].edge(opens=closed, at=at))
        self._ticker.look()

    def due(self) -> int | None:
        """When must `pass_time` be called, in ns of the clock? None: nothing is due."""
        with self._lock:
            dues = [self._presses.due(), *(one.due() for one in self._changeovers.values())]
        return min((when for when in dues if when is not None), default=None)

    def pass_time(self) -> None:
        """Let the time pass until now, unless an edge is on its way that must be heard first."""
        with self._lock:
            now = self._clock_ns()
            for seat, changeover in self._changeovers.items():
                self._pass_time_of(seat, changeover, now)
            if not self._is_on_its_way(now):
                self._tell(self._presses.pass_time(now))

    def _is_on_its_way(self, now: int) -> bool:
        """Return whether to wait for an edge. One that has not come for long is lost: by then it had moved."""
        when = self._presses.due()
        moved = self._moved() if when is not None and when <= now else []
        if when is None or not moved:
            self._awaited_since = None
            return False
        if self._awaited_since is None:
            self._awaited_since = now
        if now < self._awaited_since + EDGE_DELAY_NS:
            return True
        for seat in moved:
            self._tell(self._presses.edge(seat, closed=self._lines[seat].is_closed, at=when - 1))
        return False

    def _pass_time_of(self, seat: Seat, changeover: Changeover, now: int) -> None:
        """Let the time pass for two contacts; before a fault is told, the pins themselves are asked."""
        if (when := changeover.due()) is not None and when <= now:
            closes, opens = self._lines[seat].is_closed, self._second[seat].is_closed
            self._tell(changeover.edge(closes=closes, opens=opens, at=when - 1))
        self._tell(changeover.pass_time(now))

    def _moved(self) -> list[Seat]:
        return [seat for seat, line in self._lines.items() if line.is_closed != self._presses.is_closed(seat)]

    def _tell(self, outcomes: list[ContactOutcome] | list[Health]) -> None:
        for outcome in outcomes:
            if isinstance(outcome, TooShort):
                self._on_short(outcome)
            else:
                self._tell_report(outcome)

    def show(self, seat: Seat, lamp: Lamp) -> None:
        """Show something on a seat's lamp; a button without one shows nothing."""
        if self._lamps:
            self._lamps.show(seat, lamp)

    def close(self) -> None:
        """Put the lamps out and let the pins go; may be called twice."""
        self._ticker.stop()
        for line in (*self._lines.values(), *self._second.values()):
            line.close()
        if self._lamps:
            self._lamps.close()
        if self._kernel is not None:  # gpiozero holds the lines of closed devices: no other program could open them
            self._kernel.close()
            if gpiozero.Device.pin_factory is self._kernel:
                gpiozero.Device.pin_factory = None
            self._kernel = None
