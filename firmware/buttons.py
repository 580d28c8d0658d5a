"""The four silent hu buttons on the pins of a Pi, and the lamps in them.

Edges come on the pins' own thread, with the kernel's time; `presses.py` makes presses of them, and a `Ticker` lets time
pass for it. At rest nothing runs.
"""

import threading
import time
from collections.abc import Callable
from typing import Final, Self

from gpiozero.pins import Factory

from firmware.changeover import Changeover
from firmware.contact import MS, Limits, Outcome, TooShort
from firmware.errors import DeviceMissing
from firmware.lamps import Lamps
from firmware.lines import Line, kernel_pins, offset_ns
from firmware.presses import Presses
from firmware.reports import Health, Lamp, Seat, Tell
from firmware.ticker import Ticker
from firmware.wiring import Wiring

ON_ITS_WAY_NS: Final = 20 * MS
"""If a pin is not where its edges have left it, an edge is on its way to us for this long, or else was lost."""


def ignore(_: TooShort) -> None:
    """Leave pulses that were no finger's to nobody."""


class SeatButtons:
    """Four buttons, one a seat. `tell` is called from threads of ours, one report after the other; it must not wait."""

    def __init__(
        self,
        wiring: Wiring,
        tell: Tell,
        *,
        on_short: Callable[[TooShort], None] = ignore,
        limits: Limits | None = None,
        factory: Factory | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        ticking: bool = True,
    ) -> None:
        """Raise DeviceMissing where there are no such pins or they belong to somebody else.

        `on_short` is told pulses that were no finger's: for who looks after the wiring, never for who plays. Without
        `ticking`, whoever has opened the buttons calls `pass_time`.
        """
        self._tell_report, self._on_short, self._clock_ns = tell, on_short, clock_ns
        self._presses = Presses(limits)
        self._changeovers: dict[Seat, Changeover] = {}
        self._lines: dict[Seat, Line] = {}
        self._second: dict[Seat, Line] = {}
        self._lamps: Lamps | None = None
        self._lock = threading.RLock()
        self._ticker = Ticker("hu buttons", self.due, self.pass_time, clock_ns)
        with self._lock:  # edges wait until all lines have been looked at
            self._open(wiring, factory or kernel_pins())
            self._begin()
        if ticking:
            self._ticker.start()

    def _open(self, wiring: Wiring, factory: Factory) -> None:
        offset = offset_ns(factory, self._clock_ns)
        what = ""
        try:
            for seat, pins in wiring.items():
                what = f"{seat}'s button at GPIO{pins.closes}"
                self._lines[seat] = Line(pins.closes, factory, offset, self._first(seat))
                if pins.opens is not None:
                    what = f"{seat}'s second contact at GPIO{pins.opens}"
                    self._second[seat] = Line(pins.opens, factory, offset, self._other(seat))
            what = "the lamps"
            lamps = {seat: pins.lamp for seat, pins in wiring.items() if pins.lamp is not None}
            self._lamps = Lamps(lamps, factory)
        except Exception as error:  # noqa: BLE001 - lgpio's own error (a busy pin) derives from Exception alone
            self.close()
            raise DeviceMissing(f"{what}: {error}") from None

    def _begin(self) -> None:
        now = self._clock_ns()
        closed = {seat: line.is_closed for seat, line in self._lines.items()}
        for seat, line in self._second.items():
            self._changeovers[seat] = Changeover(seat, closes=closed[seat], opens=line.is_closed, since=now)
        self._tell(self._presses.begin(closed))

    def _first(self, seat: Seat) -> Callable[[int, bool], None]:
        """Make what takes the edges of the contact that closes when pressed."""

        def edge(at: int, closed: bool) -> None:  # noqa: FBT001 - a line's callback
            with self._lock:
                told = self._presses.edge(seat, closed=closed, at=at)
                if changeover := self._changeovers.get(seat):
                    told += changeover.edge(closes=closed, at=at)
                self._tell(told)
            self._ticker.look()

        return edge

    def _other(self, seat: Seat) -> Callable[[int, bool], None]:
        """Make what takes the edges of the contact that opens when pressed."""

        def edge(at: int, closed: bool) -> None:  # noqa: FBT001 - a line's callback
            with self._lock:
                self._tell(self._changeovers[seat].edge(opens=closed, at=at))
            self._ticker.look()

        return edge

    def due(self) -> int | None:
        """When must `pass_time` be called, in ns of the clock? None: nothing is due."""
        with self._lock:
            dues = [self._presses.due(), *(one.due() for one in self._changeovers.values())]
        return min((when for when in dues if when is not None), default=None)

    def pass_time(self) -> None:
        """Let the time pass until now, unless an edge is on its way that must be heard first."""
        with self._lock:
            now = self._clock_ns()
            when = self._presses.due()
            if when is not None and when <= now and (moved := self._moved()):
                if now < when + ON_ITS_WAY_NS:
                    return
                for seat in moved:  # lost: by the time that something was due, the contact had moved
                    self._tell(self._presses.edge(seat, closed=self._lines[seat].is_closed, at=when - 1))
            self._tell(self._presses.pass_time(now))
            for changeover in self._changeovers.values():
                self._tell(changeover.pass_time(now))

    def _moved(self) -> list[Seat]:
        return [seat for seat, line in self._lines.items() if line.is_closed != self._presses.is_closed(seat)]

    def _tell(self, outcomes: list[Outcome] | list[Health]) -> None:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
