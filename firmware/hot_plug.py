"""A device that stays open: pulled out, it says so; put back, it goes on.

A thread reads and gives what came to `on_bytes`, with the time of arrival. A device that is not there yet is no error
to the caller: it is opened when it comes.
"""

import errno
import os
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol, Self

from firmware.errors import DeviceForbidden, DeviceInUse, DeviceMissing, DeviceUnplugged, FirmwareError

OnBytes = Callable[[bytes, int], None]
"""Some bytes and when they were read, in ns; no bytes where nothing came for IDLE_S."""

OnLine = Callable[[FirmwareError | None], None]
"""What is wrong with the device, None where it is open; called when that changes, and once at the start."""

IDLE_S: Final = 0.125
"""How long to wait for bytes before looking whether the device is still the one behind its path."""

RETRY_S: Final = 0.5
"""Between two tries to open: a device that is back works well within the 2 s that are promised."""

WHY: Final[dict[int | None, type[DeviceMissing]]] = {
    errno.EACCES: DeviceForbidden,
    errno.EPERM: DeviceForbidden,
    errno.EBUSY: DeviceInUse,
    errno.EAGAIN: DeviceInUse,  # what a lock says
}


class Port(Protocol):
    """An open device. All but `cancel` raise OSError or termios.error where it is gone."""

    def read(self) -> bytes:
        """Give what has come; nothing after IDLE_S, or soon after `cancel`."""

    def write(self, content: bytes) -> None:
        """Send all."""

    def cancel(self) -> None:
        """End a read that waits, or the next one; from another thread."""

    def close(self) -> None:
        """Let the device go."""


class HotPlugged:
    """Opens a device and keeps it open until `close`. Callbacks come from its own thread and must not raise."""

    def __init__(
        self,
        path: str,
        open_port: Callable[[], Port],
        on_bytes: OnBytes,
        on_line: OnLine,
        *,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._path, self._open_port = path, open_port
        self._on_bytes, self._on_line, self._clock_ns = on_bytes, on_line, clock_ns
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        """Held to write and to exchange the port: its file descriptor may be another's once it is closed."""
        self._port: Port | None = None
        self._told: str | None = ""
        """The code that was told last; none yet."""
        self._thread = threading.Thread(target=self._run, name=f"line {path}", daemon=True)
        self._thread.start()

    def write(self, content: bytes) -> None:
        """Send all. Raises DeviceMissing where the device is not open, or does not take all of it soon."""
        with self._lock:
            if self._port is None:
                raise DeviceMissing(f"{self._path} is not open")
            try:
                self._port.write(content)
            except (OSError, termios.error) as error:
                raise DeviceMissing(f"{self._path}: {error}") from None

    def close(self) -> None:
        """Stop reading and let the device go; may be called twice, and from the callbacks."""
        self._stopped.set()
        with self._lock:
            if self._port is not None:
                self._port.cancel()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            port: Port | None = None
            try:
                port = self._open_port()
                self._exchange(port)
                self._tell(None)
                self._read(port)
            except (OSError, termios.error) as error:
                self._tell(self._coded(error, was_open=port is not None))
            finally:
                self._exchange(None)
                if port is not None:
                    port.close()
            self._stopped.wait(RETRY_S)

    def _exchange(self, port: Port | None) -> None:
        with self._lock:
            self._port = port

    def _read(self, port: Port) -> None:
        """Read until stopped. Raises OSError where the device is gone."""
        while not self._stopped.is_set():
            content = port.read()
            if not self._stopped.is_set():
                self._on_bytes(content, self._clock_ns())

    def _tell(self, error: FirmwareError | None) -> None:
        """Tell what is new; a device that stays away is told once."""
        code = error.code if error else None
        away = self._told == DeviceUnplugged.code and code == DeviceMissing.code
        if code != self._told and not away and not self._stopped.is_set():
            self._told = code
            self._on_line(error)

    def _coded(self, error: Exception, *, was_open: bool) -> FirmwareError:
        """Give the error with its code."""
        kind = DeviceUnplugged if was_open else WHY.get(getattr(error, "errno", None), DeviceMissing)
        return kind(f"{self._path}: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_there(path: str, descriptor: int) -> None:
    """Raise OSError where a path leads to another device by now, or nowhere: not every driver ends a read."""
    if not os.path.samestat(Path(path).stat(), os.fstat(descriptor)):
        raise OSError(errno.ENODEV, "the path leads to another device")
