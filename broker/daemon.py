"""What every long-running program needs: ending on signals, notifying systemd, and preparing structs for threads.

Only two messages of sd_notify(3) are needed.
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

INTERVAL_S: Final = 1.0
"""Seconds between two messages. The watchdog's timeout is many times longer."""


def stop_on_signals() -> Event:
    """Return an event that is set when this process receives SIGTERM or SIGINT."""
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


class ServiceNotifier:
    """Notifies systemd that a service is alive. If anything else started the service, nothing is sent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, address: str | None = None) -> None:
        """`address`: the socket on which systemd listens [default: $NOTIFY_SOCKET, which systemd sets]."""
        self._address = os.environ.get("NOTIFY_SOCKET", "") if address is None else address
        self._clock, self._last = clock, -INTERVAL_S
        self._message = b"READY=1\nWATCHDOG=1"

    def alive(self) -> None:
        """Notify systemd. Call this from the loop that does the work: if it hangs, systemd restarts the service."""
        now = self._clock()
        if not self._address or now < self._last + INTERVAL_S:
            return
        self._last = now
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as channel:
            channel.sendto(self._message, self._address.replace("@", "\0", 1))
            self._message = b"WATCHDOG=1"


def examine_structs() -> None:
    """Let msgspec analyse every imported struct type, which it otherwise does when a type is first decoded.

    Two threads that decode a type for the first time at the same moment crash the process (msgspec 0.22). A program
    calls this before it starts threads; it takes about 15 ms.
    """
    for struct in _struct_types(msgspec.Struct):
        with suppress(TypeError):  # types that are only encoded
            msgspec.json.Decoder(struct)


def _struct_types(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for struct in base.__subclasses__():
        yield struct
        yield from _struct_types(struct)
