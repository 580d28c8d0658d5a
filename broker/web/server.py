"""The desk's web server: in a thread beside the scorer, or awaited in a loop of its own.

It limits who may hold connections, how many, and for how long without asking for anything: else a thousand idle
connections from one laptop would leave no room for the arbiters.
"""

import asyncio
import errno
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import uvicorn
from starlette.concurrency import run_in_threadpool
from uvicorn.protocols.http.h11_impl import H11Protocol

from broker.errors import reason
from broker.logs import get_logger
from broker.people import Authentication, is_loopback
from broker.protocol import DESK_PORT
from broker.scorer import ViewFeed
from broker.web import errors, live
from broker.web.app import LOOPBACK, create_app
from broker.web.render import compile_pages
from broker.web.services import NO_SERVICES, Services

ANYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - recognised here, never a default
LOOK_S: Final = 0.1
STOP_S: Final = 10.0
"""On a busy machine; else two seconds are enough."""
FAREWELL_S: Final = 0.5


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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        super().connection_made(cast("asyncio.Transport", transport))  # uvicorn serves no other kind
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


@dataclass(frozen=True, slots=True)
class Certificate:
    """Paths of the desk's certificate, with those between it and its authority, and of its key (PEM)."""

    certificate: Path
    key: Path
    ca: Path | None = None
    """The event's authority, if that has signed it."""

    def check(self) -> None:
        """Raise CertificateRefused unless it can be served with."""
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                self.certificate,
                self.key,
                password="",
            )
        except (ssl.SSLError, ValueError):
            raise errors.CertificateRefused(f"{self.certificate}, {self.key}: no certificate with its key") from None
        except OSError as error:
            raise errors.CertificateRefused(f"{self.certificate}, {self.key}: {reason(error)}") from None

    @property
    def anchor(self) -> str:
        """What vouches for the desk (PEM): the event's authority, or its own certificate. Raises CertificateRefused."""
        path = self.ca or self.certificate
        try:
            first, end, _ = path.read_text(encoding="ascii").partition("-----END CERTIFICATE-----")
            pem = first[first.index("-----BEGIN CERTIFICATE-----") :] + end
            ssl.PEM_cert_to_DER_cert(pem)
        except ValueError:  # of Unicode and base 64 too
            raise errors.CertificateRefused(f"{path} holds no certificate") from None
        except OSError as error:
            raise errors.CertificateRefused(f"{path}: {reason(error)}") from None
        return f"{pem}\n"


class DeskServer:
    """Serves one feed. Stopped within seconds, however many pages are open; it may be started again."""

    def __init__(  # noqa: PLR0913 - each is said by its name
        self,
        feed: ViewFeed,
        host: str = "127.0.0.1",
        port: int = DESK_PORT,
        *,
        hosts: Sequence[str] = (),
        auth: Authentication | None = None,
        tls: Certificate | None = None,
        services: Services = NO_SERVICES,
        limits: ConnectionLimits | None = None,
    ) -> None:
        """`port` 0 takes a free one; `hosts` are further names under which readers may ask for the desk.

        `auth` knows who may see and do what. Where it knows nobody yet, who reaches the desk may look if that can only
        be somebody on this machine: it listens on loopback, and under no other name (as a proxy's). `limits`: how many
        connections there may be. Raises CertificateRefused.
        """
        if tls:
            tls.check()
        self._auth, self._tls, self._services = auth, tls, services
        self.connections = Connections(limits or ConnectionLimits())
        self._open_room = is_loopback(host) and not hosts
        self._feed = feed
        self._host = host
        self._port = port
        self._hosts = (*LOOPBACK, _bracketed(host), *hosts)
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "DeskServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The page's port; with port 0 it is known once the server has been started."""
        return self._port

    @property
    def url(self) -> str:
        """Where the page is. With port 0 it is known once the server has been started."""
        host = "localhost" if self._host in ANYWHERE else _bracketed(self._host)
        return f"{'https' if self._tls else 'http'}://{host}:{self._port}/"

    def start(self) -> None:
        """Serve in a thread; return when the page can be asked for. Raises PortTaken, AddressRefused, StartFailed."""
        if self._server is not None:
            return
        server, listener = self._prepare()
        # A daemon, so that a scorer that fails without calling stop() still ends.
        self._thread = threading.Thread(target=server.run, args=([listener],), name="desk", daemon=True)
        self._thread.start()
        while not server.up.wait(LOOK_S):  # as long as it takes: a machine that starts with a hall is busy
            if not self._thread.is_alive():
                self.stop()
                listener.close()
                raise errors.DeskStartFailed(f"the desk has ended while it was started on {self.url}")

    async def serve(self) -> None:
        """Serve in the running loop until `stop()`, SIGINT or SIGTERM. Raises PortTaken, AddressRefused."""
        server, listener = self._prepare()
        try:
            await server.serve([listener])
        finally:
            self._server = None

    def stop(self) -> None:
        """End the server, open event streams first. From any thread; may be called twice."""
        server, thread = self._server, self._thread
        if server is not None:
            server.should_exit = True
        if thread is not None:
            thread.join(STOP_S)
            self._server = self._thread = None

    def read_certificate(self) -> None:
        """Show who connects from now on the certificate that lies there now. Raises CertificateRefused."""
        context = self._server.config.ssl if self._server else None
        if self._tls and context:
            self._tls.check()
            context.load_cert_chain(self._tls.certificate, self._tls.key)

    def _prepare(self) -> "tuple[_Server, socket.socket]":
        listener = CountingListener(_listen(self._host, self._port), self.connections)
        self._port = listener.getsockname()[1]
        streams = live.EventStreams()
        config = uvicorn.Config(
            create_app(
                self._feed,
                hosts=self._hosts,
                streams=streams,
                auth=self._auth,
                open_room=self._open_room,
                services=self._services,
            ),
            ssl_certfile=self._tls.certificate if self._tls else None,
            ssl_keyfile=self._tls.key if self._tls else None,
            http=TimedProtocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,  # logging is set up by the program, not by its server
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config, streams)
        return self._server, listener


class _Server(uvicorn.Server):
    """Says when it is up; ends its event streams before it waits for its connections."""

    def __init__(self, config: uvicorn.Config, streams: live.EventStreams) -> None:
        super().__init__(config)
        self.up = threading.Event()
        self._streams = streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # The first reader shall not wait for half a second until pages are compiled and threads are there.
        await run_in_threadpool(compile_pages)
        await super().startup(sockets)
        self.up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.end()
        dropping = asyncio.create_task(self._drop())
        await super().shutdown(sockets)
        dropping.cancel()

    async def _drop(self) -> None:
        """Cut off those who take nothing any more (a device that sleeps): they cannot be told."""
        await asyncio.sleep(FAREWELL_S)
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise errors.DeskPortTaken(errno.EADDRINUSE, f"port {port} on {host} is taken by another program") from None
        raise errors.AddressRefused(error.errno, f"cannot listen on {host} port {port}: {error.strerror}") from None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
