"""The desk's web server: in a thread beside the scorer, or awaited in a loop of its own."""

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.concurrency import run_in_threadpool

from broker.errors import reason
from broker.people import Authentication
from broker.people.webhooks import is_loopback
from broker.protocol.pairing import DESK_PORT
from broker.scorer import ViewFeed
from broker.web.app import LOOPBACK, create_app
from broker.web.connections import ConnectionLimits, Connections, CountingListener, TimedProtocol
from broker.web.errors import AddressRefused, CertificateRefused, DeskPortTaken, DeskStartFailed
from broker.web.live import EventStreams
from broker.web.render import compile_pages
from broker.web.services import NO_SERVICES, Services

ANYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - recognised here, never a default
LOOK_S: Final = 0.1
STOP_S: Final = 10.0
"""On a busy machine; else two seconds are enough."""
FAREWELL_S: Final = 0.5


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
            raise CertificateRefused(f"{self.certificate}, {self.key}: no certificate with its key") from None
        except OSError as error:
            raise CertificateRefused(f"{self.certificate}, {self.key}: {reason(error)}") from None

    @property
    def anchor(self) -> str:
        """What vouches for the desk (PEM): the event's authority, or its own certificate. Raises CertificateRefused."""
        path = self.ca or self.certificate
        try:
            first, end, _ = path.read_text(encoding="ascii").partition("-----END CERTIFICATE-----")
            pem = first[first.index("-----BEGIN CERTIFICATE-----") :] + end
            ssl.PEM_cert_to_DER_cert(pem)
        except ValueError:  # of Unicode and base 64 too
            raise CertificateRefused(f"{path} holds no certificate") from None
        except OSError as error:
            raise CertificateRefused(f"{path}: {reason(error)}") from None
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
                raise DeskStartFailed(f"the desk has ended while it was started on {self.url}")

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
        streams = EventStreams()
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

    def __init__(self, config: uvicorn.Config, streams: EventStreams) -> None:
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
            raise DeskPortTaken(errno.EADDRINUSE, f"port {port} on {host} is taken by another program") from None
        raise AddressRefused(error.errno, f"cannot listen on {host} port {port}: {error.strerror}") from None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
