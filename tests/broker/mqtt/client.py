"""A paho client that tests can wait for: every answer of the broker goes into a queue, no test sleeps."""

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
"""Whoever has no time to say anything for so long, as in a test that waits, is still there for the broker."""


@dataclass(frozen=True)
class Heard:
    """One message as it came."""

    topic: str
    payload: bytes
    retain: bool = False


class Client:
    """One connection. A context manager that leaves nothing behind."""

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
        """Topics on which something may be retained of what was said here."""
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
        """Speak TLS with an event's server, whose authority this is (PEM); show who we are, if that is said."""
        self._paho.tls_set_context(event_context(authority, identity))

    def connect(self) -> bool:
        """Connect; tell whether the broker lets us in. Mosquitto hangs up on who is half in as it reads its files."""
        try:
            self._paho.connect(self._broker.host, self._broker.port, keepalive=SILENCE_S)
        except (ConnectionError, ssl.SSLEOFError):
            return False
        self._paho.loop_start()
        return self._answers.get(timeout=PATIENCE_S)[0]

    def subscribe(self, *filters: str) -> list[bool]:
        """Subscribe with QoS 1; tell for each filter whether it was granted."""
        self._paho.subscribe([(one, 1) for one in filters])
        return self._answers.get(timeout=PATIENCE_S)

    def attempt(self, topic: str, payload: bytes, *, retain: bool = False) -> Literal["acknowledged", "closed"]:
        """Publish with QoS 1 and wait for what the broker does: acknowledge, or close the connection."""
        if retain:
            self.retained.add(topic)
        number = self._paho.publish(topic, payload, qos=1, retain=retain).mid
        while (answer := self._acknowledged.get(timeout=PATIENCE_S)) != number:
            if answer == CLOSED:
                return "closed"
        return "acknowledged"

    def throw(self, topic: str, payload: bytes) -> None:
        """Publish with QoS 1 and wait for nothing."""
        self._paho.publish(topic, payload, qos=1)

    def say(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish and wait for the acknowledgement."""
        assert self.attempt(topic, payload, retain=retain) == "acknowledged"

    def hear(self) -> Heard:
        """Wait for one message."""
        return self.heard.get(timeout=PATIENCE_S)

    def hear_until(self, last: bytes, *topics: str) -> list[Heard]:
        """Wait for the payload `last` on each of the topics; return all else that came meanwhile."""
        missing, others = set(topics), []
        while missing:
            heard = self.hear()
            if heard.payload == last:
                missing.discard(heard.topic)
            else:
                others.append(heard)
        return others

    def vanish(self) -> None:
        """Break the connection as a power cut does: no DISCONNECT."""
        link = self._paho.socket()
        assert isinstance(link, socket.socket)
        link.shutdown(socket.SHUT_RDWR)
        self.gone.get(timeout=PATIENCE_S)

    def close(self) -> None:
        """Disconnect in good order."""
        end_loop(self._paho)
        self._paho.reinitialise()  # it lets go of the two sockets by which its thread was woken

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
        """Hear what is new: with QoS 1 a broker delivers again what was acknowledged late."""
        if message.dup and message.mid in self._numbers:
            return
        self._numbers.add(message.mid)
        self.heard.put(Heard(message.topic, bytes(message.payload), message.retain))
