"""Microseconds that do not wrap, from MicroPython's that do. Runs on the Pico.

`time.ticks_us()` of MicroPython's 32-bit ports counts from 0 to 2**30 - 1 and begins again: every 17.9 minutes.
"""

PERIOD = 1 << 30
"""Of `ticks_us`."""


class Microseconds:
    """The time since the start. Has to be asked at least every 8.9 minutes; the main loop asks every millisecond."""

    def __init__(self, ticks: int) -> None:
        self._ticks, self._us = ticks, 0

    def now(self, ticks: int) -> int:
        """Return the time, by what `ticks_us` says now."""
        self._us += (ticks - self._ticks) % PERIOD
        self._ticks = ticks
        return self._us

    def of(self, ticks: int) -> int:
        """Return the time at which `ticks_us` said this: less than half a period before or after the last `now`."""
        half = PERIOD // 2
        return self._us + (ticks - self._ticks + half) % PERIOD - half
