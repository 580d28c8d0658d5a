"""Four buttons on mock pins, and a clock that only the test advances."""

from collections.abc import Iterator
from contextlib import contextmanager

from gpiozero.pins.mock import MockFactory

from firmware.buttons import SeatButtons
from firmware.presses import MS, ContactLimits
from firmware.reports import Pressed, Report, Seat, TooShort
from firmware.sim.buttons import KernelPin
from firmware.wiring import Wiring, read_wiring

__all__ = ["BOOT", "PLAIN", "Clock", "SimulatedTable", "simulated_table"]

PLAIN = read_wiring("east=5,south=6,west=13,north=19")

BOOT = 1_000_000_000_000
"""Offset of the pins' clock from ours, in ns."""


class Clock:
    """A monotonic clock that the test controls."""

    def __init__(self) -> None:
        self.ns = 4_000_000_000_000

    def now(self) -> int:
        """Return the time in ns."""
        return self.ns

    def seconds(self) -> float:
        """Return the time of the pins' clock, in s."""
        return (self.ns - BOOT) / 1e9

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.ns += round(seconds * 1e9)


class SimulatedTable:
    """The pins as driven by a test, and the reports."""

    def __init__(
        self, wiring: Wiring = PLAIN, limits: ContactLimits | None = None, closed: tuple[Seat, ...] = ()
    ) -> None:
        self.clock, self.wiring = Clock(), wiring
        self.told, self.short = list[Report](), list[TooShort]()
        self.factory = MockFactory(pin_class=KernelPin)
        self.factory.ticks = self.clock.seconds
        for seat, pins in wiring.items():
            low = pins.closes if seat in closed else pins.opens
            if low is not None:
                self.factory.pin(low).deliver([(0.0, False)])
        self.buttons = SeatButtons(
            wiring,
            self.told.append,
            on_short=self.short.append,
            limits=limits,
            factory=self.factory,
            clock_ns=self.clock.now,
            ticking=False,
        )

    @property
    def pressed(self) -> list[tuple[Seat, int]]:
        """The presses reported so far."""
        return [(one.seat, one.at) for one in self.told if isinstance(one, Pressed)]

    def drive(self, seat: Seat, *edges: tuple[float, int]) -> None:
        """Drive a pin to each level (0: pressed), each after a delay in ms."""
        for after_ms, level in edges:
            self.wait(after_ms)
            self.pin(seat).deliver([(self.clock.seconds(), bool(level))])

    def pin(self, seat: Seat) -> KernelPin:
        """Return the pin of a seat's button."""
        pin = self.factory.pin(self.wiring[seat].closes)
        assert isinstance(pin, KernelPin)
        return pin

    def wait(self, ms: float) -> None:
        """Let time pass, running what is due on time."""
        end = self.clock.ns + round(ms * MS)
        while (due := self.buttons.due()) is not None and due <= end and self.clock.ns <= end:
            self.clock.ns = max(due, self.clock.ns)
            self.buttons.pass_time()
            if self.buttons.due() == due:
                self.clock.ns += MS
        self.clock.ns = end


@contextmanager
def simulated_table(
    wiring: Wiring = PLAIN, limits: ContactLimits | None = None, closed: tuple[Seat, ...] = ()
) -> Iterator[SimulatedTable]:
    """Yield a table, and release its pins afterwards."""
    made = SimulatedTable(wiring, limits, closed)
    with made.buttons:
        yield made
