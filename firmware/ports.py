"""Devices that stay open: they report when they are unplugged, and continue when they are plugged in again.

`SerialPort` is a serial line through pyserial, `KeyboardPort` a keyboard, or a scanner that types like one.
"""

import contextlib
import errno
import fcntl
import os
import select
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

import serial

from broker.closing import Closing
from firmware.errors import DeviceForbidden, DeviceInUse, DeviceMissing, DeviceUnplugged, FirmwareError
from firmware.keyboard_layouts import LAYOUTS, UNREADABLE, KeyTranslator

OnBytes = Callable[[bytes, int], None]
"""Callback with received bytes and the time of reading, in ns; empty bytes if nothing came for IDLE_S."""

OnLine = Callable[[FirmwareError | None], None]
"""Callback with the device's error, None when it is open. Called on changes, and once at the start."""

IDLE_S: Final = 0.125
"""How long to wait for bytes before checking that the path still leads to the same device."""

RETRY_S: Final = 0.5
"""Time between two attempts to open: short enough that a returned device works within the promised 2 s."""

_ERRORS: Final[dict[int | None, type[DeviceMissing]]] = {
    errno.EACCES: DeviceForbidden,
    errno.EPERM: DeviceForbidden,
    errno.EBUSY: DeviceInUse,
    errno.EAGAIN: DeviceInUse,  # from a failed lock
}


class OpenPort(Protocol):
    """An open device. All methods but `cancel` raise OSError or termios.error if it has disappeared."""

    def read(self) -> bytes:
        """Return received bytes; empty after IDLE_S, or soon after `cancel`."""

    def write(self, content: bytes) -> None:
        """Send all bytes."""

    def cancel(self) -> None:
        """End the read that is waiting, or the next one. Called from another thread."""

    def close(self) -> None:
        """Close the device."""


class HotPlugged(Closing):
    """Opens a device and keeps it open until `close`. Callbacks come from its own thread and must not raise."""

    def __init__(
        self,
        path: str,
        open_port: Callable[[], OpenPort],
        on_bytes: OnBytes,
        on_line: OnLine,
        *,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._path, self._open_port = path, open_port
        self._on_bytes, self._on_line, self._clock_ns = on_bytes, on_line, clock_ns
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        """Held while writing and while replacing the port: a closed file descriptor may be reused for another file."""
        self._port: OpenPort | None = None
        self._reported_code: str | None = ""
        """The code that was reported last; empty before the first report."""
        self._thread = threading.Thread(target=self._run, name=f"line {path}", daemon=True)
        self._thread.start()

    def write(self, content: bytes) -> None:
        """Send all bytes. Raises DeviceMissing if the device is not open, or does not accept all of them soon."""
        with self._lock:
            if self._port is None:
                raise DeviceMissing(f"{self._path} is not open")
            try:
                self._port.write(content)
            except (OSError, termios.error) as error:
                raise DeviceMissing(f"{self._path}: {error}") from None

    def close(self) -> None:
        """Stop reading and close the device. May be called twice, and from the callbacks."""
        self._stopped.set()
        with self._lock:
            if self._port is not None:
                self._port.cancel()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            port: OpenPort | None = None
            try:
                port = self._open_port()
                self._replace_port(port)
                self._report(None)
                self._read(port)
            except (OSError, termios.error) as error:
                self._report(self._firmware_error(error, was_open=port is not None))
            finally:
                self._replace_port(None)
                if port is not None:
                    port.close()
            self._stopped.wait(RETRY_S)

    def _replace_port(self, port: OpenPort | None) -> None:
        with self._lock:
            self._port = port

    def _read(self, port: OpenPort) -> None:
        """Read until stopped. Raises OSError if the device has disappeared."""
        while not self._stopped.is_set():
            content = port.read()
            if not self._stopped.is_set():
                self._on_bytes(content, self._clock_ns())

    def _report(self, error: FirmwareError | None) -> None:
        """Report a change. A device that stays away is reported once."""
        code = error.code if error else None
        away = self._reported_code == DeviceUnplugged.code and code == DeviceMissing.code
        if code != self._reported_code and not away and not self._stopped.is_set():
            self._reported_code = code
            self._on_line(error)

    def _firmware_error(self, error: Exception, *, was_open: bool) -> FirmwareError:
        """Return the error with its code."""
        kind = DeviceUnplugged if was_open else _ERRORS.get(getattr(error, "errno", None), DeviceMissing)
        return kind(f"{self._path}: {error}")


def check_same_device(path: str, descriptor: int) -> None:
    """Raise OSError if a path leads to a different device or to none, because not every driver ends a read then."""
    if not os.path.samestat(Path(path).stat(), os.fstat(descriptor)):
        raise OSError(errno.ENODEV, "the path leads to another device")


WRITE_S: Final = 0.2
"""A device that accepts nothing for this long, with the kernel buffering 4 KB, will accept nothing at all."""

CHUNK: Final = 4096
"""Most bytes returned by one read."""


@dataclass(frozen=True, slots=True)
class SerialSettings:
    """A serial line: a device's path, or pyserial's `loop://`, and its parameters."""

    path: str
    baud: int = 9600
    bits: Literal[7, 8] = 8
    parity: Literal["N", "E", "O"] = "N"
    stop_bits: Literal[1, 2] = 1


class SerialPort:
    """A serial line opened for exclusive use."""

    def __init__(self, line: SerialSettings) -> None:
        """Open the line. Raises OSError, termios.error."""
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
        """Return at most CHUNK bytes; none after IDLE_S, or soon after `cancel`."""
        first: bytes = self._serial.read(1)
        if first:
            return first + bytes(self._serial.read(min(self._serial.in_waiting, CHUNK - 1)))
        if self._is_device:
            check_same_device(self._path, self._serial.fd)
        return b""

    def write(self, content: bytes) -> None:
        """Send all bytes. Waits for room first, as pyserial would retry in a busy loop."""
        if self._is_device and not select.select([], [self._serial.fd], [], WRITE_S)[1]:
            raise serial.SerialTimeoutException("takes no bytes")
        self._serial.write(content)

    @property
    def _is_device(self) -> bool:
        """Whether the line is a device; a loop has no file descriptor."""
        return isinstance(self._serial, serial.Serial)

    def cancel(self) -> None:
        """End the read that is waiting, or the next one."""
        self._serial.cancel_read()

    def close(self) -> None:
        """Close the device."""
        with contextlib.suppress(OSError, termios.error):
            self._serial.reset_output_buffer()  # otherwise the kernel may wait 30 s for a device that accepts nothing
        self._serial.close()


EV_SYN: Final = 0
EV_KEY: Final = 1
SYN_DROPPED: Final = 3
"""The kernel's buffer overflowed and events were lost."""


class KeyEvent(NamedTuple):
    """The kernel's `struct input_event`, without its time."""

    type: int
    code: int
    value: int


EVENT: Final = struct.Struct("@llHHi")
"""The kernel's binary form: seconds and microseconds in the machine's native words, type, code, value."""

EVENTS_AT_ONCE: Final = 64
EVIOCGRAB: Final = 0x40044590
"""From <linux/input.h>: takes exclusive access, so that neither the console nor another program receives the events."""


class InputDevice:
    """An input device of the kernel, `/dev/input/event...`. All methods raise OSError."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def grab(self) -> None:
        """Take exclusive access to its events."""
        fcntl.ioctl(self.fd, EVIOCGRAB, 1)

    def read(self) -> Iterator[KeyEvent]:
        """Return the pending events."""
        content = os.read(self.fd, EVENT.size * EVENTS_AT_ONCE)
        return (KeyEvent(*fields[2:]) for fields in EVENT.iter_unpack(content))

    def close(self) -> None:
        """Close the device."""
        os.close(self.fd)


OpenInput = Callable[[str], InputDevice]


class KeyboardPort:
    """A keyboard opened for exclusive use; what is typed is returned as Latin-1."""

    def __init__(self, path: str, layout: str, open_input: OpenInput = InputDevice) -> None:
        """Open the keyboard. Raises OSError."""
        self._path, self._typed = path, KeyTranslator(LAYOUTS[layout])
        self._device = open_input(path)
        try:
            self._device.grab()
        except OSError:
            self._device.close()
            raise
        self._cancelled, self._cancel = os.pipe()

    def read(self) -> bytes:
        """Return what was typed; empty after IDLE_S, or soon after `cancel`."""
        ready, _, _ = select.select([self._device.fd, self._cancelled], [], [], IDLE_S)
        if self._device.fd in ready:
            return self._text().encode("latin-1")
        if not ready:
            check_same_device(self._path, self._device.fd)
        return b""

    def _text(self) -> str:
        events = list(self._device.read())
        if not events:
            raise OSError(errno.ENODEV, "ready to read, but nothing there")
        return "".join(map(self._character, events))

    def _character(self, event: KeyEvent) -> str:
        if event.type == EV_KEY:
            return self._typed.take(event.code, event.value)
        return UNREADABLE if (event.type, event.code) == (EV_SYN, SYN_DROPPED) else ""

    def write(self, content: bytes) -> None:
        """Raise OSError, because a keyboard accepts no bytes."""
        raise OSError(errno.EOPNOTSUPP, f"a keyboard takes no {len(content)} bytes")

    def cancel(self) -> None:
        """End the read that is waiting, and all later ones."""
        os.write(self._cancel, b"x")

    def close(self) -> None:
        """Close the device, which ends exclusive access."""
        with contextlib.suppress(OSError):
            self._device.close()
        os.close(self._cancelled)
        os.close(self._cancel)
