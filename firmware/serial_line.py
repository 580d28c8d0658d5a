"""One serial line that stays open: pulled out, it says so; put back, it goes on (see hot_plug.py)."""

import contextlib
import select
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import serial

from firmware.hot_plug import IDLE_S, HotPlugged, OnBytes, OnLine, check_there

WRITE_S: Final = 0.2
"""A device that takes nothing for so long takes nothing at all; the kernel buffers 4 KB."""

CHUNK: Final = 4096
"""Bytes that are given at once, at most."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where a line is (a device's path, or pyserial's `loop://`) and how it talks."""

    path: str
    baud: int = 9600
    bits: Literal[7, 8] = 8
    parity: Literal["N", "E", "O"] = "N"
    stop_bits: Literal[1, 2] = 1


class SerialLine(HotPlugged):
    """Opens a line and keeps it open until `close`. Callbacks come from its own thread and must not raise."""

    def __init__(
        self, line: Line, on_bytes: OnBytes, on_line: OnLine, *, clock_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        super().__init__(line.path, lambda: SerialPort(line), on_bytes, on_line, clock_ns=clock_ns)


class SerialPort:
    """A line that is open, by us alone."""

    def __init__(self, line: Line) -> None:
        """Raise OSError, termios.error."""
        self._path = line.path
        self._serial = serial.serial_for_url(
            line.path,
            baudrate=line.baud,
            bytesize=line.bits,
            parity=line.parity,
            stopbits=line.stop_bits,
            timeout=IDLE_S,
            write_timeout=WRITE_S,
            exclusive=None if "://" in line.path else True,
        )

    def read(self) -> bytes:
        """Give at most CHUNK bytes; nothing after IDLE_S, or soon after `cancel`."""
        first: bytes = self._serial.read(1)
        if first:
            return first + bytes(self._serial.read(min(self._serial.in_waiting, CHUNK - 1)))
        if self._is_device:
            check_there(self._path, self._serial.fd)
        return b""

    def write(self, content: bytes) -> None:
        """Send all. Where there is no room pyserial would try again and again without a pause, so wait for room."""
        if self._is_device and not select.select([], [self._serial.fd], [], WRITE_S)[1]:
            raise serial.SerialTimeoutException("takes no bytes")
        self._serial.write(content)

    @property
    def _is_device(self) -> bool:
        """A loop has no file."""
        return isinstance(self._serial, serial.Serial)

    def cancel(self) -> None:
        """End a read that waits, or the next one."""
        self._serial.cancel_read()

    def close(self) -> None:
        """Let the device go."""
        with contextlib.suppress(OSError, termios.error):
            self._serial.reset_output_buffer()  # or the kernel may wait 30 s for a device that takes nothing
        self._serial.close()
