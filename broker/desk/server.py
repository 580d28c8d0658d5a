"""The desk's web server: in a thread beside the scorer, or awaited in a loop of its own."""

import asyncio
import errno
import socket
import threading
from collections.abc import Sequence
from typing import Final

import uvicorn

from broker.desk.app import LOOPBACK, create_app
from broker.desk.errors import AddressRefused, PortTaken, StartFailed
from broker.desk.stream import Streams
from broker.scorer.view import ViewFeed

PORT: Final = 8136
ANYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - recognised here, never a default
START_S: Final = 10.0
STOP_S: Final = 2.0
FAREWELL_S: Final = 0.5


class DeskServer:
    """Serves one feed. Stopped within two seconds, however many pages are open; it may be started again."""

    def __init__(self, feed: ViewFeed, host: str = "127.0.0.1", port: int = PORT, *, hosts: Sequence[str] = ()) -> None:
        """`port` 0 takes a free one; `hosts` are further names under which readers may ask for the desk."""
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
    def url(self) -> str:
        """Where the page is. With port 0 it is known once the server has been started."""
        host = "localhost" if self._host in ANYWHERE else _bracketed(self._host)
        return f"http://{host}:{self._port}/"

    def start(self) -> None:
        """Serve in a thread; return when the page can be asked for. Raises PortTaken, AddressRefused, StartFailed."""
        if self._server is not None:
            return
        server, listener = self._prepare()
        # A daemon, so that a scorer that fails without calling stop() still ends.
        self._thread = threading.Thread(target=server.run, args=([listener],), name="desk", daemon=True)
        self._thread.start()
        if not server.up.wait(START_S):
            self.stop()
            raise StartFailed(f"the desk did not come up on {self.url} within {START_S:.0f} s")

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

    def _prepare(self) -> "tuple[_Server, socket.socket]":
        listener = _listen(self._host, self._port)
        self._port = listener.getsockname()[1]
        streams = Streams()
        config = uvicorn.Config(
            create_app(self._feed, hosts=self._hosts, streams=streams),
            http="h11",
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

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self.up = threading.Event()
        self._streams = streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
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
            raise PortTaken(errno.EADDRINUSE, f"port {port} on {host} is taken by another program") from None
        raise AddressRefused(error.errno, f"cannot listen on {host} port {port}: {error.strerror}") from None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
