"""The button box on a serial port: four buttons and their lamps at the other end of a USB cable."""

import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final, get_args

from broker.closing import Closing
from firmware.box.codec import encode_frame
from firmware.box.link import BoxLink, LinkOutput
from firmware.errors import DeviceMissing, FirmwareError
from firmware.ports import HotPlugged, SerialPort, SerialSettings
from firmware.reports import SEATS, Lamp, OnReport, Seat, TooShort

_LAMP_MODES: Final[dict[Lamp, int]] = {mode: at for at, mode in enumerate(get_args(Lamp))}


class ButtonBox(Closing):
    """A button box, which may also be plugged in later or come back. `on_report` is called from the line's thread."""

    def __init__(
        self,
        path: str,
        on_report: OnReport,
        *,
        on_short: Callable[[TooShort], None] = lambda _: None,
    ) -> None:
        """Open the serial device at a path, preferably one in `/dev/serial/by-id`, which stays the same.

        `on_short` receives pulses too short for a finger. They are for whoever maintains the wiring, never for the
        players.
        """
        self._on_report, self._on_short = on_report, on_short
        self._link = BoxLink()
        self._lock = threading.Lock()
        """Held during construction, so that nothing is received before there is a line to answer on."""
        opener = partial(SerialPort, SerialSettings(path, baud=115_200))
        with self._lock:
            self._line = HotPlugged(path, opener, self._on_bytes, self._on_line)

    def show(self, seat: Seat, lamp: Lamp) -> None:
        """Set a seat's lamp, within a fifth of a second. Called from one thread only."""
        at = 2 * SEATS.index(seat)
        self._link.lamps = self._link.lamps & ~(3 << at) | _LAMP_MODES[lamp] << at

    def _on_bytes(self, chunk: bytes, at: int) -> None:
        """Process received bytes. `at` is taken after reading, as a reply must never seem faster than it was."""
        with self._lock:
            self._handle(self._link.received(chunk, at))

    def _on_line(self, error: FirmwareError | None) -> None:
        with self._lock:
            self._handle(self._link.closed(error.code, str(error)) if error else self._link.opened(time.monotonic_ns()))

    def _handle(self, output: LinkOutput) -> None:
        """Deliver reports before sending, because whatever is acknowledged must have been reported."""
        for one in output.reports:
            if isinstance(one, TooShort):
                self._on_short(one)
            else:
                self._on_report(one)
        if output.outgoing:
            with contextlib.suppress(DeviceMissing):  # the reading thread reports it, and the box repeats itself
                self._line.write(output.outgoing)

    def close(self) -> None:
        """Switch the lamps off and close the line. May be called twice."""
        with contextlib.suppress(DeviceMissing):
            self._line.write(encode_frame("L", 0))
        self._line.close()
