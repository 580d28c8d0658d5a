"""A client for tests. Every answer of the broker goes into a queue, so that no test has to sleep."""

import queue
import socket
import ssl
import uuid
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Literal, Self

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from broker.mqtt.process import Broker
from broker.protocol.link import end_loop
from broker.protocol.tls import Identity, event_context
from tests.patience import PATIENCE_S

CLOSED = -1

SILENCE_S: Final = 3600
"""Keepalive in seconds: the broker must not disconnect a client whose test waits for something else."""


@dataclass(frozen=True)
class Heard:
    """A received message."""

    topic: str
    payload: bytes
    retain: bool = False


class Client:
    """One connection, as a context manager that closes it."""

    def __init__(
        self,
        broker: Broker,
        user: str | None = None,
        password: str | None = None,
        *,
        session: str | None = None,
        will: str | None = None,
        acknowledges: bool = True,
    ) -> None:
        self.heard: queue.Queue[Heard] = queue.Queue()
        self.gone: queue.Queue[str] = queue.Queue()
        self._answers: queue.Queue[list[bool]] = queue.Queue()
        self._acknowledged: queue.Queue[int] = queue.Queue()
        self.retained = {will} if will else set[str]()
        """Topics on which this client may have left a retained message."""
        self._broker = broker
        self._paho = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=session or f"test-{uuid.uuid4().hex[:12]}",
            clean_session=session is None,
            reconnect_on_failure=False,
            manual_ack=not acknowledges,
        )
        self._paho.connect_timeout = PATIENCE_S
        if user is not None:
            self._paho.username_pw_set(user, password)
        if will is not None:
            self._paho.will_set(will, b"lost", qos=1, retain=True)
        self._paho.on_connect = self._on_connect
        self._paho.on_disconnect = self._on_disconnect
        self._paho.on_subscribe = self._on_subscribe
        self._paho.on_publish = self._on_publish
        self._paho.on_message = self._on_message
        self._numbers = set[int]()
        self._answered = False

    def trust(self, authority: str, identity: Identity | None = None) -> None:
        """Use TLS with the event's authority (PEM) and, if given, a certificate of our own."""
        self._paho.tls_set_context(event_context(authority, identity))

    def connect(self) -> bool:
        """Connect; return whether the broker accepts us. Mosquitto drops connections in progress when it reloads."""
        try:
            self._paho.connect(self._broker.host, self._broker.port, keepalive=SILENCE_S)
        except (ConnectionError, ssl.SSLEOFError):
            return False
        self._paho.loop_start()
        return self._answers.get(timeout=PATIENCE_S)[0]

    def subscribe(self, *filters: str) -> list[bool]:
        """Subscribe with QoS 1; return for each filter whether it was granted."""
        self._paho.subscribe([(one, 1) for one in filters])
        return self._answers.get(timeout=PATIENCE_S)

    def attempt(self, topic: str, payload: bytes, *, retain: bool = False) -> Literal["acknowledged", "closed"]:
        """Publish with QoS 1 and wait until the broker acknowledges or closes the connection."""
        if retain:
            self.retained.add(topic)
        number = self._paho.publish(topic, payload, qos=1, retain=retain).mid
        while (answer := self._acknowledged.get(timeout=PATIENCE_S)) != number:
            if answer == CLOSED:
                return "closed"
        return "acknowledged"

    def throw(self, topic: str, payload: bytes) -> None:
        """Publish with QoS 1 without waiting for the acknowledgement."""
        self._paho.publish(topic, payload, qos=1)

    def say(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish and wait for the acknowledgement."""
        assert self.attempt(topic, payload, retain=retain) == "acknowledged"

    def hear(self) -> Heard:
        """Wait for one message."""
        return self.heard.get(timeout=PATIENCE_S)

    def hear_until(self, last: bytes, *topics: str) -> list[Heard]:
        """Wait for the payload `last` on each topic; return the other messages received meanwhile."""
        missing, others = set(topics), []
        while missing:
            heard = self.hear()
            if heard.payload == last:
                missing.discard(heard.topic)
            else:
                others.append(heard)
        return others

    def vanish(self) -> None:
        """Break the connection without DISCONNECT, like a power cut."""
        link = self._paho.socket()
        assert isinstance(link, socket.socket)
        link.shutdown(socket.SHUT_RDWR)
        self.gone.get(timeout=PATIENCE_S)

    def close(self) -> None:
        """Disconnect cleanly."""
        end_loop(self._paho)
        self._paho.reinitialise()  # closes the two sockets that wake its thread

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _on_connect(
        self, _c: paho.Client, _u: object, _f: paho.ConnectFlags, code: ReasonCode, _p: Properties | None
    ) -> None:
        self._answered = True
        self._answers.put([not code.is_failure])

    def _on_disconnect(
        self, _c: paho.Client, _u: object, _f: paho.DisconnectFlags, code: ReasonCode, _p: Properties | None
    ) -> None:
        self.gone.put(str(code))
        self._acknowledged.put(CLOSED)
        if not self._answered:
            self._answers.put([False])

    def _on_subscribe(
        self, _c: paho.Client, _u: object, _m: int, codes: list[ReasonCode], _p: Properties | None
    ) -> None:
        self._answers.put([not code.is_failure for code in codes])

    def _on_publish(self, _c: paho.Client, _u: object, number: int, _code: ReasonCode, _p: Properties | None) -> None:
        self._acknowledged.put(number)

    def _on_message(self, _c: paho.Client, _u: object, message: paho.MQTTMessage) -> None:
        """Store a message, unless the broker sent it again because it was acknowledged late."""
        if message.dup and message.mid in self._numbers:
            return
        self._numbers.add(message.mid)
        self.heard.put(Heard(message.topic, bytes(message.payload), message.retain))
