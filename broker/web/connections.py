"""Who may hold connections with the desk, how many, and for how long without asking for anything.

Without these limits a thousand idle connections from one laptop would leave no room for the arbiters.
"""

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from broker.logs import get_logger

log = get_logger("homologue.desk")

TOLD_EVERY_S: Final = 60.0
"""How often the log says that connections are turned away: a flood shall not fill the disk."""

REQUEST_S: Final = 20.0
"""A request has come whole by then, or its connection is closed. Pages are small, and so is all that is sent to us."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The most connections at one time: of one address, and of all.

    A browser holds six at most, and one more for each live page. A reverse proxy speaks for everybody behind it, so it
    needs `of_address` as high as `in_all`, and limits of its own.
    """

    of_address: int = 120
    in_all: int = 1_200


class Connections:
    """Counts the connections that are open. The server's thread opens and closes them; any may ask."""

    def __init__(self, limits: ConnectionLimits, seconds: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._seconds = limits, seconds
        self._of: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._turned_away = 0
        self._tell_at = float("-inf")

    @property
    def open(self) -> int:
        """How many there are."""
        return self._of.total()

    def begin(self, address: str) -> bool:
        """Count one more from an address; return False, and count nothing, where that would be too many."""
        with self._lock:
            if self._of[address] >= self._limits.of_address or self._of.total() >= self._limits.in_all:
                self._turned_away += 1
                self._tell(address)
                return False
            self._of[address] += 1
            return True

    def end(self, address: str) -> None:
        """Count one less."""
        with self._lock:
            self._of[address] -= 1
            if self._of[address] <= 0:
                del self._of[address]

    def _tell(self, address: str) -> None:
        now = self._seconds()
        if now < self._tell_at:
            return
        log.warning(
            "too_many_connections",
            address=address,
            of_address=self._of[address],
            in_all=self._of.total(),
            turned_away=self._turned_away,
        )
        self._tell_at, self._turned_away = now + TOLD_EVERY_S, 0


class _Counted(socket.socket):
    """An accepted connection that is counted until it is closed."""

    ended: Callable[[], None] | None = None

    def close(self) -> None:
        """Close it, and count it no longer."""
        super().close()
        if self.ended is not None:
            self.ended()
            self.ended = None


class CountingListener(socket.socket):
    """A listening socket that hands out no more connections than there may be.

    Counted where they are accepted, before any handshake of TLS: until that has ended the server knows nothing of them.
    """

    def __init__(self, listener: socket.socket, connections: Connections) -> None:
        """Take the place of a socket that listens."""
        super().__init__(listener.family, listener.type, listener.proto, fileno=listener.detach())
        self._connections = connections

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection that there is room for; those before it are closed. Raises OSError."""
        while True:
            accepted, peer = super().accept()
            address = str(peer[0])
            if not self._connections.begin(address):
                accepted.close()
                continue
            counted = _Counted(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
            counted.ended = partial(self._connections.end, address)
            return counted, peer


class TimedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, for clients who say what they want within REQUEST_S.

    uvicorn closes a connection that is idle after an answer. Here one is closed too that has not sent a whole request
    in time: nothing at all, headers one byte after the other, or a body that never ends.
    """

    _impatient: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request; the time that a request has does not start over with each part."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait no longer for the rest of a body that was not needed; uvicorn closes what is idle now."""
        self._stop_waiting()
        super().on_response_complete()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._stop_waiting()  # the whole request is there: it is our turn
        elif self._impatient is None:
            self._impatient = self.loop.call_later(REQUEST_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._impatient is not None:
            self._impatient.cancel()
            self._impatient = None

    def _give_up(self) -> None:
        self._impatient = None
        self.transport.abort()
