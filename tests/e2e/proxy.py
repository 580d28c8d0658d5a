"""A failing network: a TCP proxy that can cut connections, drop bytes silently, or lose an answer.

It can also delay data and, for MQTT, deliver messages twice and out of order.
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
"""Direction: to the server, from it, or both."""

LONGEST_S: Final = 2.0
"""A peer that accepts no data for so long, because it is frozen, is disconnected, in seconds."""

LONGEST_HELD_S: Final = 0.3
"""How long a message is held back at most, in seconds, even if no other overtakes it."""

PUBLISH_QOS_1: Final = 0x32
KIND_AND_QOS: Final = 0xF6
SUBACK: Final = 0x90
REFUSED: Final = 0x80
"""Code in a SUBACK for a refused subscription."""
AGAIN: Final = 0x08
"""The DUP flag of a PUBLISH."""


@dataclass(slots=True, eq=False)
class _Flow:
    """One direction of one connection."""

    source: socket.socket
    target: socket.socket
    up: bool
    unread: bytes = b""
    """The beginning of an incomplete MQTT packet."""
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    """Data in transit, and when it arrives."""
    held: tuple[float, bytes] | None = None
    """A message held back for others to overtake, and its latest time of delivery."""


class Proxy:
    """A proxy in front of a server, listening on a loopback port or a Unix socket."""

    def __init__(self, target: int | Path | tuple[str, int], *, mqtt: bool = False) -> None:
        """Start. `target` is a port on loopback, a Unix socket, or host and port.

        `mqtt` says that the data is MQTT without TLS, which `repeat_and_reorder` requires."""
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
        """Keep connections open but drop all data, in both directions or one: the worst kind of failure."""
        self._swallowed = way

    def lose_answer_to(self, words: bytes) -> None:
        """Forward the next message with these bytes, and close the connection instead of forwarding its answer."""
        self._last_words = words

    def cut(self) -> None:
        """Close all connections and refuse new ones."""
        self._refusing = True
        with self._lock:
            for pair in list(self._pairs):
                self._close(pair)

    def delay(self, seconds: float) -> None:
        """Delay all data by so many seconds."""
        self._delay_s = seconds

    def repeat_and_reorder(self, chance: random.Random, share: float) -> None:
        """Deliver this share of QoS 1 messages twice, and the same share after the messages that follow."""
        assert self._mqtt, "only who reads MQTT can tell messages apart"
        self._chance, self._share = chance, share

    def refuse_subscriptions(self, count: int) -> None:
        """Change the broker's next answers to SUBSCRIBE into refusals, which nats-server sends when it is too busy."""
        assert self._mqtt, "only who reads MQTT can tell messages apart"
        self._refusals = count

    def heal(self) -> None:
        """Work again. Connections that lost data are closed."""
        with self._lock:
            for pair in list(self._pairs) if self._swallowed else []:
                self._close(pair)
        self._swallowed, self._refusing, self._delay_s, self._chance = None, False, 0.0, None

    def close(self) -> None:
        """Close the proxy and all connections."""
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
        """Return the time until the next delivery, in seconds."""
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
            self._last_words = b"answered"  # the server's next data is the answer
        if not read:
            pair = next((pair for pair in self._pairs if flow.source in pair), None)
            if pair:
                self._close(pair)
        elif self._swallowed not in ("both", "up" if flow.up else "down"):
            self._take(flow, read)

    def _take(self, flow: _Flow, read: bytes) -> None:
        """Schedule received data for delivery."""
        due = time.monotonic() + self._delay_s
        if not self._mqtt:
            flow.waiting.append((due, read))
            return
        packets, flow.unread = split_packets(flow.unread + read)
        for packet in packets:
            flow.waiting.extend((due, one) for one in self._mixed(flow, packet))

    def _mixed(self, flow: _Flow, packet: bytes) -> Iterator[bytes]:
        """Yield what is delivered for a packet: the packet, nothing yet, or it twice; then one that it overtook."""
        chance = self._chance
        if self._refusals and packet[0] == SUBACK:
            self._refusals -= 1
            yield packet[:4] + bytes([REFUSED]) * len(packet[4:])  # keeps header, length (one byte) and packet number
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
    """Return when the next data of a direction is due."""
    if flow.waiting:
        yield flow.waiting[0][0]
    if flow.held is not None:
        yield flow.held[0]


def split_packets(stream: bytes) -> tuple[list[bytes], bytes]:
    """Split data into MQTT packets; return them and the beginning of an incomplete one."""
    packets, at = list[bytes](), 0
    while (end := _packet_end(stream, at)) is not None:
        packets.append(stream[at:end])
        at = end
    return packets, stream[at:]


def _packet_end(stream: bytes, at: int) -> int | None:
    """Return the end of the packet that begins here; None if it is incomplete."""
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
