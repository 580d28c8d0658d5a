"""One serial line that stays open: pulled out, it says so; put back, it goes on.

A thread reads and gives what came to `on_bytes`, with the time of arrival. No line is an error to the caller: a device
that is not there yet is opened when it comes.
"""

import contextlib
import errno
import os
import select
import termios
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self

import serial

from firmware.errors import DeviceForbidden, DeviceInUse, DeviceMissing, DeviceUnplugged, FirmwareError

OnBytes = Callable[[bytes, int], None]
"""At most CHUNK bytes and when the first of them was read, in ns; no bytes where nothing came for IDLE_S."""

OnLine = Callable[[FirmwareError | None], None]
"""What is wrong with the line, None where it is open; called when that changes, and once at the start."""

IDLE_S: Final = 0.25
"""How long to wait for bytes before looking whether the device is still the one behind its path."""

RETRY_S: Final = 0.5
"""Between two tries to open: a device that is back works well within the 2 s that are promised."""

WRITE_S: Final = 0.2
"""A device that takes nothing for so long takes nothing at all; the kernel buffers 4 KB."""

CHUNK: Final = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """Where a line is (a device's path, or pyserial's `loop://`) and how it talks."""

    path: str
    baud: int = 9600
    bits: Literal[7, 8] = 8
    parity: Literal["N", "E", "O"] = "N"
    stop_bits: Literal[1, 2] = 1


class SerialLine:
    """Opens a line and keeps it open until `close`. Callbacks come from its own thread and must not raise."""

    def __init__(
        self, line: Line, on_bytes: OnBytes, on_line: OnLine, *, clock_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._line, self._on_bytes, self._on_line, self._clock_ns = line, on_bytes, on_line, clock_ns
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        """Held to write and to exchange the port: its file descriptor may be another's once it is closed."""
        self._port: serial.SerialBase | None = None
        self._told: str | None = ""
        """The code that was told last; none yet."""
        self._thread = threading.Thread(target=self._run, name=f"line {line.path}", daemon=True)
        self._thread.start()

    def write(self, content: bytes) -> None:
        """Send all. Raises DeviceMissing where the line is not open, or took not all of it within WRITE_S."""
        with self._lock:
            if self._port is None:
                raise DeviceMissing(f"{self._line.path} is not open")
            try:
                _wait_for_room(self._port)
                self._port.write(content)
            except (OSError, termios.error) as error:
                raise DeviceMissing(f"{self._line.path}: {error}") from None

    def close(self) -> None:
        """Stop reading and let the device go; may be called twice, and from the callbacks."""
        self._stopped.set()
        with self._lock:
            if self._port is not None:
                self._port.cancel_read()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._open()
                self._tell(None)
                self._read()
            except (OSError, termios.error) as error:
                self._tell(_coded(error, self._line.path, was_open=self._port is not None))
            self._let_go()
            self._stopped.wait(RETRY_S)

    def _open(self) -> None:
        port = serial.serial_for_url(
            self._line.path,
            baudrate=self._line.baud,
            bytesize=self._line.bits,
            parity=self._line.parity,
            stopbits=self._line.stop_bits,
            timeout=IDLE_S,
            write_timeout=WRITE_S,
            exclusive=None if "://" in self._line.path else True,
        )
        with self._lock:
            self._port = port

    def _read(self) -> None:
        """Read until stopped. Raises OSError where the device is gone."""
        port = self._port
        while port is not None and not self._stopped.is_set():
            first: bytes = port.read(1)
            at = self._clock_ns()
            if first:
                self._on_bytes(first + port.read(min(port.in_waiting, CHUNK - 1)), at)
            elif not self._stopped.is_set():
                _check_there(port, self._line.path)
                self._on_bytes(b"", at)

    def _let_go(self) -> None:
        with self._lock:
            port, self._port = self._port, None
        if port is not None:
            with contextlib.suppress(OSError, termios.error):
                port.reset_output_buffer()  # or the kernel may wait 30 s for a device that takes nothing
            port.close()

    def _tell(self, error: FirmwareError | None) -> None:
        """Tell what is new; a line that stays away is told once."""
        code = error.code if error else None
        gone = self._told == DeviceUnplugged.code and code == DeviceMissing.code
        if code != self._told and not gone and not self._stopped.is_set():
            self._told = code
            self._on_line(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _wait_for_room(port: Any) -> None:  # noqa: ANN401 - pyserial ships no types
    """Wait until a device takes bytes: pyserial itself would try again and again without a pause."""
    if hasattr(port, "fd") and not select.select([], [port.fd], [], WRITE_S)[1]:
        raise serial.SerialTimeoutException("takes no bytes")


def _check_there(port: Any, path: str) -> None:  # noqa: ANN401 - pyserial ships no types
    """Raise OSError where the path leads to another device by now, or nowhere: not every driver ends a read."""
    if hasattr(port, "fd") and not os.path.samestat(Path(path).stat(), os.fstat(port.fd)):
        raise OSError(errno.ENODEV, "the path leads to another device")


def _coded(error: Exception, path: str, *, was_open: bool) -> FirmwareError:
    """Give the error with its code."""
    kind: type[DeviceMissing] = DeviceUnplugged
    if not was_open:
        number = getattr(error, "errno", None)
        kind = {
            errno.EACCES: DeviceForbidden,
            errno.EPERM: DeviceForbidden,
            errno.EBUSY: DeviceInUse,
            errno.EAGAIN: DeviceInUse,
        }.get(number or 0, DeviceMissing)
    return kind(f"{path}: {error}")
