"""The button box as the table sees it: four buttons and their lamps, at the other end of a USB cable."""

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
    """A box, there or not: one that comes later, or comes back, works then. `tell` is called from its line's thread."""

    def __init__(
        self,
        path: str,
        tell: OnReport,
        *,
        on_short: Callable[[TooShort], None] = lambda _: None,
    ) -> None:
        """Open the serial device at a path; best one of `/dev/serial/by-id`, which stays the same.

        `on_short` is told pulses that were no finger's: for who looks after the wiring, never for who plays.
        """
        self._tell, self._on_short = tell, on_short
        self._link = BoxLink()
        self._lock = threading.Lock()
        """Held at the start, so that nothing is heard before there is a line to answer on."""
        opener = partial(SerialPort, SerialSettings(path, baud=115_200))
        with self._lock:
            self._line = HotPlugged(path, opener, self._heard, self._changed)

    def show(self, seat: Seat, lamp: Lamp) -> None:
        """Show something on a seat's lamp, within a fifth of a second. Called from one thread only."""
        at = 2 * SEATS.index(seat)
        self._link.lamps = self._link.lamps & ~(3 << at) | _LAMP_MODES[lamp] << at

    def _heard(self, chunk: bytes, at: int) -> None:
        """Take in bytes, with a time after they were read: a reply must never seem quicker than it was."""
        with self._lock:
            self._do(self._link.received(chunk, at))

    def _changed(self, error: FirmwareError | None) -> None:
        with self._lock:
            self._do(self._link.closed(error.code, str(error)) if error else self._link.opened(time.monotonic_ns()))

    def _do(self, said: LinkOutput) -> None:
        """Tell first: what is acknowledged has been told."""
        for one in said.reports:
            if isinstance(one, TooShort):
                self._on_short(one)
            else:
                self._tell(one)
        if said.outgoing:
            with contextlib.suppress(DeviceMissing):  # whoever reads the line notices, and the box asks again
                self._line.write(said.outgoing)

    def close(self) -> None:
        """Put the lamps out and let the line go; may be called twice."""
        with contextlib.suppress(DeviceMissing):
            self._line.write(encode_frame("L", 0))
        self._line.close()
