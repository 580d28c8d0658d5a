"""All tables of a hall in one process and one thread, so that generating the load uses little of the machine.

Each table has its own MQTT session with a last will, like its kiosk: `... crowd FOLDER PORT RATE SECONDS [FIRST]`.
Prints `connected SECONDS` when all are connected, and finally the bytes in each direction. With FIRST, all tables first
play round by round, FIRST plays in as many seconds, and then at RATE; each part begins after a line on standard input.
"""

import math
import select
import selectors
import socket
import ssl
import struct
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from broker.event import open_event
from broker.protocol import topics
from broker.protocol.tls import event_context
from tests.benchmarks.scorer.large import NAME, table_address
from tests.benchmarks.scorer.playing import ROUND_S, Step, hello, lost, steps

KEEPALIVE_S: Final = 10
"""The keepalive of a kiosk."""

LOOKED_AFTER_S: Final = 1.0
AT_ONCE: Final = 50
"""Connections being opened at one time; devices that are switched on together are no more simultaneous than that."""


class Crowd:
    """Clients on one selector."""

    def __init__(self, folder: Path, port: int, tables: Iterable[int]) -> None:
        self._folder, self._port = folder, port
        self._selector = selectors.DefaultSelector()
        self._to_come = list(tables)[::-1]
        self._clients: dict[int, mqtt.Client] = {}
        self._listening: set[int] = set()
        self._look = 0.0

    @property
    def all_here(self) -> bool:
        """Whether every table has its subscriptions."""
        return not self._to_come and len(self._listening) == len(self._clients)

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes that all sessions have sent and received."""
        each = [wire_bytes(client.socket()) for client in self._clients.values()]
        return sum(sent for sent, _ in each), sum(received for _, received in each)

    def go_on(self, until: float) -> None:
        """Serve all sessions for some seconds, or until a time of the monotonic clock."""
        served = False
        while not served or time.monotonic() < until:
            while self._to_come and len(self._clients) - len(self._listening) < AT_ONCE:
                self._begin(self._to_come.pop())
            self._serve(max(0.0, min(until - time.monotonic(), LOOKED_AFTER_S)))
            served = True

    def _serve(self, at_most_s: float) -> None:
        for key, mask in self._selector.select(at_most_s):
            if mask & selectors.EVENT_READ:
                key.data.loop_read()
                while isinstance(key.fileobj, ssl.SSLSocket) and key.fileobj.fileno() >= 0 and key.fileobj.pending():
                    key.data.loop_read()  # data that TLS has already read does not wake the selector
            if mask & selectors.EVENT_WRITE:
                key.data.loop_write()
        if time.monotonic() >= self._look:
            self._look = time.monotonic() + LOOKED_AFTER_S
            for client in self._clients.values():
                if client.loop_misc() == mqtt.MQTT_ERR_NO_CONN:  # a busy broker has closed it
                    client.reconnect()

    def wait_for_line(self) -> None:
        """Serve all sessions until a line arrives on standard input."""
        while not select.select([sys.stdin], [], [], 0)[0]:
            self.go_on(time.monotonic() + 0.05)
        sys.stdin.readline()

    def play(self, steps: Iterable[tuple[float, Step]]) -> None:
        """Publish all messages at their times."""
        begun = time.monotonic()
        for after, step in steps:
            self.go_on(begun + after)
            self.say(step)

    def say(self, step: Step) -> None:
        """Publish one message."""
        self._clients[step.table].publish(step.topic, step.payload(), qos=1, retain=step.retain)

    def _begin(self, table: int) -> None:
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2, f"homologue-{NAME}-table-{table}", clean_session=False, protocol=mqtt.MQTTv311
        )
        address = table_address(self._folder, self._port, table)
        if address.ca:
            client.tls_set_context(event_context(address.ca.read_text("ascii"), address.identity))
        else:
            client.username_pw_set(address.user, address.password)
        client.will_set(topics.STATE.at(NAME, table=table), lost(table), qos=1, retain=True)
        read = [topic.at(NAME, table=table) for topic in (topics.RECEIPT, topics.ASSIGNMENT, topics.ORDER)]
        client.on_connect = lambda client, *_: client.subscribe([(topic, 1) for topic in read])
        client.on_subscribe = lambda *_: self._heard(table)
        client.on_socket_open = self._opened
        client.on_socket_close = self._closed
        client.on_socket_register_write = self._writes
        client.on_socket_unregister_write = self._has_written
        self._clients[table] = client
        client.connect("127.0.0.1", self._port, KEEPALIVE_S)

    def _heard(self, table: int) -> None:
        self._listening.add(table)
        self.say(hello(table))

    def _opened(self, client: mqtt.Client, _data: Any, opened: Any) -> None:  # noqa: ANN401 - paho's own types
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(opened, selectors.EVENT_READ, client)

    def _closed(self, _client: mqtt.Client, _data: Any, gone: Any) -> None:  # noqa: ANN401 - paho's own types
        self._selector.unregister(gone)

    def _writes(self, client: mqtt.Client, _data: Any, opened: Any) -> None:  # noqa: ANN401 - paho's own types
        self._selector.modify(opened, selectors.EVENT_READ | selectors.EVENT_WRITE, client)

    def _has_written(self, client: mqtt.Client, _data: Any, opened: Any) -> None:  # noqa: ANN401 - paho's own types
        self._selector.modify(opened, selectors.EVENT_READ, client)


def wire_bytes(connection: Any) -> tuple[int, int]:  # noqa: ANN401 - paho declares a socket as Any
    """Return the bytes that a connection has received and sent, including TLS."""
    sent, received = struct.unpack_from("=QQ", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136), 120)
    return int(sent), int(received)


def main(folder: str, port: str, rate: str, seconds: str, first: str = "") -> None:
    """Connect all tables, then play a number of results a second, each table's play in steps."""
    begun, event = time.monotonic(), open_event(Path(folder))
    crowd = Crowd(Path(folder), int(port), event.tables)
    while not crowd.all_here:
        crowd.go_on(time.monotonic() + 0.1)
    print(f"connected {time.monotonic() - begun:.1f}", flush=True)
    crowd.go_on(time.monotonic() + 3)  # until the initial messages are over
    print("playing", flush=True)
    before, most = crowd.bytes, float(rate)
    if first:
        early, late = int(first), len(event.plan.plays) - int(first)
        for part in (
            steps(event, early / float(seconds), early, math.inf),
            steps(event, most, late, math.inf, early),
        ):
            crowd.wait_for_line()
            crowd.play(part)
    else:
        crowd.play(steps(event, most, int(most * float(seconds)), most * ROUND_S))
    crowd.go_on(time.monotonic() + 3)
    print("played", *(now - had for now, had in zip(crowd.bytes, before, strict=True)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
