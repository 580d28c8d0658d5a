"""The four silent hu buttons on the pins of a Pi, and the lamps in them.

Edges come on the pins' own thread, with the kernel's time; `presses.py` makes presses of them, and a `Ticker` lets time
pass for it. At rest nothing runs.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
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
"""A pin is not where its edges have left it: the edge is on its way to us for this long, or else was lost."""


def ignore(_: TooShort) -> None:
    """Leave pulses that were no finger's to nobody."""


class SeatButtons:
    """Four buttons, one a seat.

    `tell` is called from the threads of pins and time, one report after the other; it must neither wait nor raise.
    """

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
        self._awaited_since: int | None = None
        """Since when a pin is not where its edges have left it."""
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
                self._lines[seat] = Line(pins.closes, factory, offset, partial(self._edge, seat))
                if pins.opens is not None:
                    what = f"{seat}'s second contact at GPIO{pins.opens}"
                    self._second[seat] = Line(pins.opens, factory, offset, partial(self._second_edge, seat))
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
        """Say whether to wait for an edge. One that has not come for long is lost: by then it had moved."""
        when = self._presses.due()
        moved = self._moved() if when is not None and when <= now else []
        if when is None or not moved:
            self._awaited_since = None
            return False
        if self._awaited_since is None:
            self._awaited_since = now
        if now < self._awaited_since + ON_ITS_WAY_NS:
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
