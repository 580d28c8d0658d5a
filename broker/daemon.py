"""What a program does that runs on: it ends when told to, tells systemd that it is up, has its structs examined first.

Of sd_notify(3) two messages are needed.
"""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event
from typing import Final

import msgspec

EACH_S: Final = 1.0
"""Between two messages: a watchdog waits for many of these."""


def stop_on_signals() -> Event:
    """Return what is set once this process is told to end."""
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


class ServiceNotifier:
    """One service's line to systemd; where it was started by anything else, nothing is sent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, address: str | None = None) -> None:
        """`address`: where systemd listens, which it says in the environment."""
        self._address = os.environ.get("NOTIFY_SOCKET", "") if address is None else address
        self._clock, self._last = clock, -EACH_S
        self._message = b"READY=1\nWATCHDOG=1"

    def alive(self) -> None:
        """Say so, from the loop that does the work: a loop that hangs says nothing, and the service is restarted."""
        now = self._clock()
        if not self._address or now < self._last + EACH_S:
            return
        self._last = now
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as line:
            line.sendto(self._message, self._address.replace("@", "\0", 1))
            self._message = b"WATCHDOG=1"


def examine_structs() -> None:
    """Let msgspec examine every kind of struct that is imported, which it otherwise does when one is first read.

    Two threads that read one kind for the first time at the same moment crash the process (msgspec 0.22). A program
    calls this before it starts threads; it takes some 15 ms.
    """
    for kind in _kinds(msgspec.Struct):
        with suppress(TypeError):  # kinds that are only written
            msgspec.json.Decoder(kind)


def _kinds(of: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)
