"""A network that fails: a TCP proxy that can cut connections, swallow every byte without a word, or lose an answer."""

import contextlib
import selectors
import socket
import threading
from pathlib import Path


class Proxy:
    """Stands between a client and a server: a port on loopback, or a Unix socket."""

    def __init__(self, target: int | Path) -> None:
        self._target = target
        self._last_words = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._swallowing = False
        self._refusing = False
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def swallow(self) -> None:
        """Keep connections open and lose everything, both ways: the worst kind of network."""
        self._swallowing = True

    def lose_answer_to(self, words: bytes) -> None:
        """Let the next message with these words through, and close the connection in the place of its answer."""
        self._last_words = words

    def cut(self) -> None:
        """Close all connections and refuse new ones."""
        self._refusing = True
        with self._lock:
            for pair in list(self._pairs):
                self._close(pair)

    def heal(self) -> None:
        """Work again. What was swallowed is lost: the connections it belonged to are closed."""
        with self._lock:
            for pair in list(self._pairs) if self._swallowing else []:
                self._close(pair)
        self._swallowing = self._refusing = False

    def close(self) -> None:
        """End."""
        self._closed.set()
        self._thread.join(5)
        with self._lock:
            for pair in list(self._pairs):
                self._close(pair)
        self._selector.close()
        self._listener.close()

    def _run(self) -> None:
        while not self._closed.is_set():
            for key, _ in self._selector.select(0.1):
                with self._lock:
                    if key.data is None:
                        self._accept()
                    elif key.data[0].fileno() >= 0:
                        self._carry(*key.data)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        if self._refusing:
            client.close()
            return
        try:
            server = _connected(self._target)
        except OSError:
            client.close()
            return
        self._pairs.add((client, server))
        self._selector.register(client, selectors.EVENT_READ, (client, server))
        self._selector.register(server, selectors.EVENT_READ, (server, client))

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        try:
            read = source.recv(65_536)
            if self._last_words == b"answered":
                self._last_words, read = b"", b""
            elif self._last_words and self._last_words in read:
                self._last_words = b"answered"  # what comes next, from the server
            if read and not self._swallowing:
                target.sendall(read)
        except OSError:
            read = b""
        if not read:
            pair = next((pair for pair in self._pairs if source in pair), None)
            if pair:
                self._close(pair)

    def _close(self, pair: tuple[socket.socket, socket.socket]) -> None:
        self._pairs.discard(pair)
        for one in pair:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(one)
            one.close()


def _connected(target: int | Path) -> socket.socket:
    if isinstance(target, int):
        return socket.create_connection(("127.0.0.1", target), timeout=2)
    server = socket.socket(socket.AF_UNIX)
    server.settimeout(2)
    server.connect(str(target))
    return server
