"""A network that fails: a TCP proxy that can cut connections, swallow bytes without a word, or lose an answer.

It can also be slow, and, where it carries MQTT, bring messages twice and out of their order.
"""

import contextlib
import random
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

Way = Literal["up", "down", "both"]
"""To the server, from it, or both."""

LONGEST_S: Final = 2.0
"""Who takes nothing for so long, because it is frozen, loses the connection."""

LONGEST_HELD_S: Final = 0.3
"""After so long what was held back is sent, whether or not something has overtaken it."""

PUBLISH_QOS_1: Final = 0x32
KIND_AND_QOS: Final = 0xF6
SUBACK: Final = 0x90
REFUSED: Final = 0x80
"""In the place of the QoS that a broker grants."""
AGAIN: Final = 0x08
"""The flag of a PUBLISH that is sent a second time."""


@dataclass(slots=True, eq=False)
class _Flow:
    """One direction of one connection."""

    source: socket.socket
    target: socket.socket
    up: bool
    unread: bytes = b""
    """The beginning of an MQTT packet that is not complete."""
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    """What is on its way, and when it arrives."""
    held: tuple[float, bytes] | None = None
    """A message that others overtake, and when it goes on at the latest."""


class Proxy:
    """Stands between a client and a server: a port on loopback, or a Unix socket."""

    def __init__(self, target: int | Path | tuple[str, int], *, mqtt: bool = False) -> None:
        """`target`: a port on loopback, a Unix socket, or host and port.

        `mqtt`: what it carries is MQTT without TLS, which `repeat_and_reorder` needs."""
        self._target, self._mqtt = target, mqtt
        self._last_words = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._pairs: dict[tuple[socket.socket, socket.socket], tuple[_Flow, _Flow]] = {}
        self._swallowed: Way | None = None
        self._refusing = False
        self._delay_s = 0.0
        self._chance: random.Random | None = None
        self._share = 0.0
        self._refusals = 0
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def swallow(self, way: Way = "both") -> None:
        """Keep connections open and lose everything, both ways or one: the worst kind of network."""
        self._swallowed = way

    def lose_answer_to(self, words: bytes) -> None:
        """Let the next message with these words through, and close the connection in the place of its answer."""
        self._last_words = words

    def cut(self) -> None:
        """Close all connections and refuse new ones."""
        self._refusing = True
        with self._lock:
            for pair in list(self._pairs):
                self._close(pair)

    def delay(self, seconds: float) -> None:
        """Let everything take so long."""
        self._delay_s = seconds

    def repeat_and_reorder(self, chance: random.Random, share: float) -> None:
        """Of messages at QoS 1 bring so large a share twice, and as large a one after those that follow it."""
        assert self._mqtt, "only who reads MQTT can tell messages apart"
        self._chance, self._share = chance, share

    def refuse_subscriptions(self, count: int) -> None:
        """Let the broker's next answers to a SUBSCRIBE refuse all of it, as nats-server's do when it is too busy."""
        assert self._mqtt, "only who reads MQTT can tell messages apart"
        self._refusals = count

    def heal(self) -> None:
        """Work again. What was swallowed is lost: the connections it belonged to are closed."""
        with self._lock:
            for pair in list(self._pairs) if self._swallowed else []:
                self._close(pair)
        self._swallowed, self._refusing, self._delay_s, self._chance = None, False, 0.0, None

    def close(self) -> None:
        """End."""
        self._closed.set()
        self._thread.join()
        with self._lock:
            for pair in list(self._pairs):
                self._close(pair)
        self._selector.close()
        self._listener.close()

    def _run(self) -> None:
        while not self._closed.is_set():
            for key, _ in self._selector.select(self._pause()):
                with self._lock:
                    if key.data is None:
                        self._accept()
                    elif key.data.source.fileno() >= 0:
                        self._carry(key.data)
            with self._lock:
                for pair, flows in list(self._pairs.items()):
                    self._send_due(pair, flows)

    def _pause(self) -> float:
        """Return for how long nothing is due."""
        due = [at for flows in list(self._pairs.values()) for flow in flows for at in _due(flow)]
        return max(0.0, min(0.1, min(due, default=0.1 + time.monotonic()) - time.monotonic()))

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
        client.settimeout(LONGEST_S)
        flows = _Flow(client, server, up=True), _Flow(server, client, up=False)
        self._pairs[client, server] = flows
        for flow in flows:
            self._selector.register(flow.source, selectors.EVENT_READ, flow)

    def _carry(self, flow: _Flow) -> None:
        try:
            read = flow.source.recv(65_536)
        except OSError:
            read = b""
        if self._last_words == b"answered":
            self._last_words, read = b"", b""
        elif self._last_words and self._last_words in read:
            self._last_words = b"answered"  # what comes next, from the server
        if not read:
            pair = next((pair for pair in self._pairs if flow.source in pair), None)
            if pair:
                self._close(pair)
        elif self._swallowed not in ("both", "up" if flow.up else "down"):
            self._take(flow, read)

    def _take(self, flow: _Flow, read: bytes) -> None:
        """Put what was read on its way."""
        due = time.monotonic() + self._delay_s
        if not self._mqtt:
            flow.waiting.append((due, read))
            return
        packets, flow.unread = split_packets(flow.unread + read)
        for packet in packets:
            flow.waiting.extend((due, one) for one in self._mixed(flow, packet))

    def _mixed(self, flow: _Flow, packet: bytes) -> Iterator[bytes]:
        """Return what arrives in the place of one packet: it, nothing yet, or it twice; and what it has overtaken."""
        chance = self._chance
        if self._refusals and packet[0] == SUBACK:
            self._refusals -= 1
            yield packet[:4] + bytes([REFUSED]) * len(packet[4:])  # after the length, in one byte, and the number
        elif chance is None or packet[0] & KIND_AND_QOS != PUBLISH_QOS_1:
            yield packet
        elif flow.held is None and chance.random() < self._share:
            flow.held = time.monotonic() + LONGEST_HELD_S, packet
            return
        else:
            yield packet
            if chance.random() < self._share:
                yield bytes([packet[0] | AGAIN]) + packet[1:]
        if flow.held is not None and packet[0] & KIND_AND_QOS == PUBLISH_QOS_1:
            yield flow.held[1]
            flow.held = None

    def _send_due(self, pair: tuple[socket.socket, socket.socket], flows: tuple[_Flow, _Flow]) -> None:
        now = time.monotonic()
        for flow in flows:
            if flow.held is not None and flow.held[0] <= now:
                flow.waiting.append((now, flow.held[1]))
                flow.held = None
            due = b""
            while flow.waiting and flow.waiting[0][0] <= now:
                due += flow.waiting.popleft()[1]
            try:
                if due:
                    flow.target.sendall(due)
            except OSError:
                self._close(pair)
                return

    def _close(self, pair: tuple[socket.socket, socket.socket]) -> None:
        self._pairs.pop(pair, None)
        for one in pair:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(one)
            one.close()


def _due(flow: _Flow) -> Iterator[float]:
    """Return when the next thing of a direction is due."""
    if flow.waiting:
        yield flow.waiting[0][0]
    if flow.held is not None:
        yield flow.held[0]


def split_packets(stream: bytes) -> tuple[list[bytes], bytes]:
    """Cut what was read into MQTT packets; return them, and the beginning of one that is not complete."""
    packets, at = list[bytes](), 0
    while (end := _packet_end(stream, at)) is not None:
        packets.append(stream[at:end])
        at = end
    return packets, stream[at:]


def _packet_end(stream: bytes, at: int) -> int | None:
    """Return where the packet that begins here ends; None where that is not known yet, or it is not complete."""
    length = 0
    for place, byte in enumerate(stream[at + 1 : at + 5]):
        length |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            end = at + 2 + place + length
            return end if end <= len(stream) else None
    return None


def _connected(target: int | Path | tuple[str, int]) -> socket.socket:
    if not isinstance(target, Path):
        place = ("127.0.0.1", target) if isinstance(target, int) else target
        return socket.create_connection(place, timeout=LONGEST_S)
    server = socket.socket(socket.AF_UNIX)
    server.settimeout(LONGEST_S)
    server.connect(str(target))
    return server
