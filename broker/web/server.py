"""The desk's web server: in a thread beside the scorer, or awaited in a running loop.

It limits the number of connections, per address and in all, and how long each may stay idle. Otherwise a thousand idle
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
POLL_S: Final = 0.1
STOP_S: Final = 10.0
"""Enough for a busy machine; otherwise two seconds suffice."""
GRACE_S: Final = 0.5


log = get_logger("homologue.desk")

LOG_INTERVAL_S: Final = 60.0
"""Minimum time between two log entries about refused connections, so that a flood cannot fill the disk."""

REQUEST_S: Final = 20.0
"""Time for a whole request to arrive before its connection is closed. Pages and requests are small."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The most connections open at one time, per address and in all.

    A browser holds at most six, and one more per live page. A reverse proxy connects for everybody behind it, so it
    needs `of_address` as high as `in_all`, and limits of its own.
    """

    of_address: int = 120
    in_all: int = 1_200


class Connections:
    """Counts open connections. The server's thread opens and closes them; `open` may be read from any thread."""

    def __init__(self, limits: ConnectionLimits, seconds: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._seconds = limits, seconds
        self._of: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._turned_away = 0
        self._log_at = float("-inf")

    @property
    def open(self) -> int:
        """The number of open connections."""
        return self._of.total()

    def begin(self, address: str) -> bool:
        """Count a new connection from an address. Return False, and do not count it, if there are too many."""
        with self._lock:
            if self._of[address] >= self._limits.of_address or self._of.total() >= self._limits.in_all:
                self._turned_away += 1
                self._log_refusals(address)
                return False
            self._of[address] += 1
            return True

    def end(self, address: str) -> None:
        """Count a connection as closed."""
        with self._lock:
            self._of[address] -= 1
            if self._of[address] <= 0:
                del self._of[address]

    def _log_refusals(self, address: str) -> None:
        now = self._seconds()
        if now < self._log_at:
            return
        log.warning(
            "too_many_connections",
            address=address,
            of_address=self._of[address],
            in_all=self._of.total(),
            turned_away=self._turned_away,
        )
        self._log_at, self._turned_away = now + LOG_INTERVAL_S, 0


class _Counted(socket.socket):
    """An accepted connection that is counted until it is closed."""

    ended: Callable[[], None] | None = None

    def close(self) -> None:
        """Close the connection and stop counting it."""
        super().close()
        if self.ended is not None:
            self.ended()
            self.ended = None


class CountingListener(socket.socket):
    """A listening socket that accepts no more connections than the limits allow.

    They are counted when accepted, before the TLS handshake: until that has ended the server does not know of them.
    """

    def __init__(self, listener: socket.socket, connections: Connections) -> None:
        """Take over a listening socket."""
        super().__init__(listener.family, listener.type, listener.proto, fileno=listener.detach())
        self._connections = connections

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection within the limits, closing those beyond them. Raises OSError."""
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
    """uvicorn's HTTP protocol, with REQUEST_S for each request to arrive.

    uvicorn closes a connection that is idle after an answer. This also closes one that has not sent a whole request in
    time: nothing at all, headers byte by byte, or a body that never ends.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer for the first request."""
        super().connection_made(cast("asyncio.Transport", transport))  # uvicorn serves no other kind
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request, without restarting the request's timer."""
        super().data_received(data)
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._stop_timer()

    def on_response_complete(self) -> None:
        """Stop waiting for the rest of a body that was not needed; from here uvicorn closes idle connections."""
        self._stop_timer()
        super().on_response_complete()

    def _update_timer(self) -> None:
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._stop_timer()  # the whole request has arrived, so the client is no longer late
        elif self._timer is None:
            self._timer = self.loop.call_later(REQUEST_S, self._abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _abort(self) -> None:
        self._timer = None
        self.transport.abort()


@dataclass(frozen=True, slots=True)
class Certificate:
    """Paths of the desk's certificate, with its intermediate certificates, and of its key (PEM)."""

    certificate: Path
    key: Path
    ca: Path | None = None
    """The event's authority, if it has signed the certificate."""

    def check(self) -> None:
        """Raise CertificateRefused unless certificate and key can be used to serve."""
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
        """The PEM that devices trust: the event's authority or the desk's certificate. Raises CertificateRefused."""
        path = self.ca or self.certificate
        try:
            first, end, _ = path.read_text(encoding="ascii").partition("-----END CERTIFICATE-----")
            pem = first[first.index("-----BEGIN CERTIFICATE-----") :] + end
            ssl.PEM_cert_to_DER_cert(pem)
        except ValueError:  # includes errors of Unicode and base64
            raise errors.CertificateRefused(f"{path} holds no certificate") from None
        except OSError as error:
            raise errors.CertificateRefused(f"{path}: {reason(error)}") from None
        return f"{pem}\n"


class DeskServer:
    """Serves one feed. It stops within seconds, however many pages are open, and can be started again."""

    def __init__(  # noqa: PLR0913 - all but three are keyword-only
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
        """`port` 0 takes a free one; `hosts` are further names under which the desk may be requested.

        `auth` decides who may see and do what. While it has no account, anyone who reaches the desk may look, provided
        that it can only be reached from this machine: it listens on loopback and has no further names (such as a
        proxy's). `limits` restrict the number of connections. Raises CertificateRefused.
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
        """The port; if 0 was given, it is known once the server has started."""
        return self._port

    @property
    def url(self) -> str:
        """The address of the desk; if port 0 was given, it is known once the server has started."""
        host = "localhost" if self._host in ANYWHERE else _bracketed(self._host)
        return f"{'https' if self._tls else 'http'}://{host}:{self._port}/"

    def start(self) -> None:
        """Serve in a thread; return once the desk is up. Raises DeskPortTaken, AddressRefused, DeskStartFailed."""
        if self._server is not None:
            return
        server, listener = self._prepare()
        # A daemon thread, so that a scorer that fails without calling stop() still ends.
        self._thread = threading.Thread(target=server.run, args=([listener],), name="desk", daemon=True)
        self._thread.start()
        while not server.up.wait(POLL_S):  # no time limit: a machine that starts along with the hall is busy
            if not self._thread.is_alive():
                self.stop()
                listener.close()
                raise errors.DeskStartFailed(f"the desk has ended while it was started on {self.url}")

    async def serve(self) -> None:
        """Serve in the running loop until `stop()`, SIGINT or SIGTERM. Raises DeskPortTaken, AddressRefused."""
        server, listener = self._prepare()
        try:
            await server.serve([listener])
        finally:
            self._server = None

    def stop(self) -> None:
        """Stop the server, ending event streams first. May be called from any thread, and twice."""
        server, thread = self._server, self._thread
        if server is not None:
            server.should_exit = True
        if thread is not None:
            thread.join(STOP_S)
            self._server = self._thread = None

    def read_certificate(self) -> None:
        """Reload the certificate's files; new connections get it. Raises CertificateRefused."""
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
            log_config=None,  # the program sets up logging, not uvicorn
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config, streams)
        return self._server, listener


class _Server(uvicorn.Server):
    """Signals when it is up, and ends its event streams before it waits for open connections."""

    def __init__(self, config: uvicorn.Config, streams: live.EventStreams) -> None:
        super().__init__(config)
        self.up = threading.Event()
        self._streams = streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # Otherwise the first reader would wait half a second while pages are compiled and threads started.
        await run_in_threadpool(compile_pages)
        await super().startup(sockets)
        self.up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.end()
        dropping = asyncio.create_task(self._drop())
        await super().shutdown(sockets)
        dropping.cancel()

    async def _drop(self) -> None:
        """Drop connections that no longer read, such as a sleeping device's: they cannot be ended politely."""
        await asyncio.sleep(GRACE_S)
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
