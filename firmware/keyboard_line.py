"""One scanner that types like a keyboard, which stays open as a serial line does (see hot_plug.py).

The device is grabbed: what the scanner types reaches neither the console nor the kiosk's own keyboard.
"""

import contextlib
import errno
import os
import select
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Final, Protocol, cast

from firmware.errors import EvdevMissing
from firmware.hot_plug import IDLE_S, HotPlugged, OnBytes, OnLine, check_there
from firmware.scan_keys import LAYOUTS, UNREADABLE, Typed

EV_SYN: Final = 0
EV_KEY: Final = 1
SYN_DROPPED: Final = 3
"""The kernel had more events than room for them."""


class KeyEvent(Protocol):
    """What evdev's InputEvent has."""

    type: int
    code: int
    value: int


class InputDevice(Protocol):
    """What we use of evdev's InputDevice. All raise OSError."""

    fd: int

    def grab(self) -> None:
        """Let nobody else have its events."""

    def read(self) -> Iterable[KeyEvent]:
        """Give what has happened."""

    def close(self) -> None:
        """Let it go."""


OpenInput = Callable[[str], InputDevice]


def evdev_opener() -> OpenInput:
    """Give what opens input devices. Raises EvdevMissing where the library is not installed."""
    try:
        evdev = import_module("evdev")
    except ImportError as error:
        raise EvdevMissing(f"a scanner that types needs the Python package evdev: {error}") from None
    return cast("OpenInput", evdev.InputDevice)


class KeyboardLine(HotPlugged):
    """Opens a keyboard and keeps it open until `close`; what is typed is given as Latin-1."""

    def __init__(
        self,
        path: str,
        layout: str,
        on_bytes: OnBytes,
        on_line: OnLine,
        *,
        open_input: OpenInput | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Raise EvdevMissing where that library is not installed, and nothing else is given that opens."""
        opener = open_input or evdev_opener()
        super().__init__(path, lambda: KeyboardPort(path, layout, opener), on_bytes, on_line, clock_ns=clock_ns)


class KeyboardPort:
    """A keyboard that is open, by us alone."""

    def __init__(self, path: str, layout: str, open_input: OpenInput) -> None:
        """Raise OSError."""
        self._path, self._typed = path, Typed(LAYOUTS[layout])
        self._device = open_input(path)
        try:
            self._device.grab()
        except OSError:
            self._device.close()
            raise
        self._cancelled, self._cancel = os.pipe()

    def read(self) -> bytes:
        """Give what has been typed; nothing after IDLE_S, or soon after `cancel`."""
        ready, _, _ = select.select([self._device.fd, self._cancelled], [], [], IDLE_S)
        if self._device.fd in ready:
            return self._text().encode("latin-1")
        if not ready:
            check_there(self._path, self._device.fd)
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
        """Raise OSError: a keyboard takes nothing."""
        raise OSError(errno.EOPNOTSUPP, f"a keyboard takes no {len(content)} bytes")

    def cancel(self) -> None:
        """End a read that waits, and all that come."""
        os.write(self._cancel, b"x")

    def close(self) -> None:
        """Let the device go, and with it the grab."""
        with contextlib.suppress(OSError):
            self._device.close()
        os.close(self._cancelled)
        os.close(self._cancel)
