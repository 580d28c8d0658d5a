"""One client's connection to the broker. It reconnects by itself and acknowledges a message only when asked to.

A PUBACK proves neither storage nor permission, so this module never reports a message as safe. Only the scorer's
receipt does (DESIGN, "Wire").
"""

import re
import secrets
import socket
import ssl
import stat
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

from broker.errors import CodedError
from broker.files import write_private
from broker.logs import get_logger
from broker.protocol.tls import Identity, event_context
from broker.protocol.topics import parse_topic

log = get_logger("homologue.link")

LONGEST_RETRY_S: Final = 3
"""The longest pause between two attempts to reach the broker."""

RESUBSCRIBE_S: Final = 1.0
"""How long after subscribing a client subscribes again. nats-server may deliver the previous retained message, and
never the new one, if it is replaced at that instant (4 of 450 times)."""


@dataclass(frozen=True, slots=True)
class Address:
    """The broker's address and the client's credentials. The `repr` omits the password."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    ca: Path | None = None
    """Certificate authority of a broker with TLS; None for a plain connection."""
    keepalive_s: int = 10
    identity: Identity | None = None
    """The client's certificate, issued by the event's authority, which `ca` then is. No password is sent."""


Place = tuple[str, int]
"""Host and port of a broker."""


@dataclass(frozen=True, slots=True)
class Will:
    """The message that the broker publishes when the client's connection is lost."""

    topic: str
    payload: bytes


SESSION_FILE: Final = "session.key"
"""File among a program's own files: the secret part of its session id."""

SECRET: Final = re.compile(r"[0-9a-f]{32}")


def session_id(name: str, folder: Path) -> str:
    """Return the id of a program's broker session: the same at each start, and impossible for others to guess.

    A broker hands a session to any client that presents its id, and disconnects the previous one. A guessable id would
    let any user take over the session, so it contains a secret that is stored in the folder. If it cannot be stored,
    each start uses a new one.
    """
    file = folder / SESSION_FILE
    try:
        if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) == 0 and SECRET.fullmatch(
            known := file.read_text("ascii")
        ):
            return f"{name}-{known}"
    except (OSError, UnicodeError):
        pass  # a new one is made below
    secret = secrets.token_hex(16)
    with suppress(OSError):
        write_private(file, secret.encode("ascii"))
    return f"{name}-{secret}"


def transient_session_id(name: str) -> str:
    """Return the id of a session that ends with its connection."""
    return f"{name}-{secrets.token_hex(16)}"


class LinkDown(CodedError, code="broker_unreachable"):
    """There is no connection. The client keeps trying."""


class LinkRefused(LinkDown, code="broker_refused"):
    """The broker is reachable but refuses the login or a subscription. The client keeps trying."""


Acknowledge = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as received, before any check."""

    topic: str
    payload: bytes
    acknowledge: Acknowledge
    received_at: float = field(default_factory=time.monotonic, compare=False)
    """Time of receipt on the monotonic clock, in s."""


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The connection came up or went down; `why` gives the reason if it is known."""

    up: bool
    why: LinkDown | None = None


class Link:
    """An MQTT session (3.1.1, QoS 1). If `persistent`, the broker stores it while the client is away.

    `on_event` is called on paho's thread and must only put items on a queue.
    """

    def __init__(
        self,
        address: Address,
        client_id: str,
        topics: Iterable[str],
        on_event: Callable[[Incoming | LinkChanged], None],
        will: Will | None = None,
        *,
        persistent: bool = True,
    ) -> None:
        self._topics = [(topic, 1) for topic in topics]
        self._on_event = on_event
        self._up = threading.Event()
        self._connection_number = 0
        self._moving = False
        """Whether this broker is being left for another one."""
        self._answered = False
        """Whether the broker has answered since this connection attempt began."""
        self._last: mqtt.MQTTMessageInfo | None = None
        self._resubscription: threading.Timer | None = None
        """Timer that repeats the subscription."""
        self._stopping = threading.Event()
        self._client = _Client(
            CallbackAPIVersion.VERSION2,
            client_id=client_id,
            clean_session=not persistent,
            protocol=mqtt.MQTTv311,
            manual_ack=True,
        )
        self._client.on_loop_error = self._reconnect_after_error
        if address.ca and address.identity:
            self._client.tls_set_context(event_context(address.ca.read_text("ascii"), address.identity))
        else:
            self._client.username_pw_set(address.user, address.password)
            if address.ca:
                try:
                    self._client.tls_set(ca_certs=str(address.ca), tls_version=ssl.PROTOCOL_TLS_CLIENT)
                except ssl.SSLError as error:
                    error.filename = str(address.ca)  # OpenSSL does not name the file
                    raise
        if will:
            self._client.will_set(will.topic, will.payload, qos=1, retain=True)
        self._client.on_socket_open = self._opened
        self._client.on_connect = self._connected
        self._client.on_connect_fail = self._unreachable
        self._client.on_subscribe = self._subscribed
        self._client.on_disconnect = self._disconnected
        self._client.on_message = self._arrived
        self._address = address
        self._broker, self._other_brokers = (address.host, address.port), list[Place]()
        self._retry_soon()

    @property
    def up(self) -> bool:
        """Whether the broker has accepted the client and its subscriptions."""
        return self._up.is_set()

    def start(self) -> None:
        """Start connecting in the background, and keep trying."""
        self._client.connect_async(*self._broker, keepalive=self._address.keepalive_s)
        self._client.loop_start()

    def stop(self) -> None:
        """Disconnect for good, without sending the will. May be called twice."""
        self._stopping.set()
        end_loop(self._client)
        if self._resubscription:
            self._resubscription.cancel()
            self._resubscription.join()  # it may be sending on the sockets that are closed next
        self._client.reinitialise()  # closes the socket pair that wakes its thread
        self._up.clear()

    @property
    def place(self) -> Place:
        """Host and port of the broker that is connected or being tried."""
        return self._broker

    def set_brokers(self, first: Place, *others: Place) -> None:
        """Set the brokers to try, in this order, before the link is started."""
        self._broker = first
        self.set_other_brokers(*others)

    def set_other_brokers(self, *places: Place) -> None:
        """Try these places in turn from now on if the connection is lost. The present connection is left alone."""
        self._other_brokers = [place for place in dict.fromkeys((self._broker, *places)) if place != self._broker]
        self._retry_soon()

    def _retry_soon(self) -> None:
        self._client.reconnect_delay_set(1, 1 if self._other_brokers else LONGEST_RETRY_S)

    def move(self, place: Place) -> None:
        """Switch to the broker at `place`; the present one is tried again if that cannot be reached."""
        if place == self._broker or self._moving:
            return
        self.set_other_brokers(place, *self._other_brokers)
        self._moving = self._hang_up()

    def _hang_up(self) -> bool:
        """Close the connection, so that the client's thread opens the next one; return whether there was one."""
        found = self._client.socket()
        if not isinstance(found, socket.socket):
            return False
        with suppress(OSError):  # not TLS's own `shutdown`, which would wait for an answer
            socket.socket.shutdown(found, socket.SHUT_RDWR)
        return True

    def _try_next_broker(self) -> None:
        """Switch to the next place. Called on the client's thread, without a connection."""
        if self._other_brokers:
            self._other_brokers.append(self._broker)
            self._broker = self._other_brokers.pop(0)
            self._client.connect_async(*self._broker, keepalive=self._address.keepalive_s)

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if connected. Otherwise it is dropped, and the sender has to send it again."""
        if self.up:
            place = parse_topic(topic)
            qos = place.topic.qos if place else 1
            sent = self._client.publish(topic, payload, qos=qos, retain=retain)
            if qos:  # QoS 0 is not acknowledged and would end `flush` too early
                self._last = sent

    def flush(self, timeout_s: float) -> bool:
        """Wait until the broker has acknowledged the last QoS 1 message; return whether it did so in time."""
        if self._last is None or not self.up:
            return self._last is None
        self._last.wait_for_publish(timeout_s)
        return self._last.is_published()

    def _connected(self, client: mqtt.Client, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        self._connection_number += 1
        self._answered, self._moving = True, False
        if reason.is_failure:
            self._on_event(LinkChanged(up=False, why=LinkRefused(str(reason))))
        else:
            client.subscribe(self._topics)

    def _opened(self, _client: mqtt.Client, _data: object, opened: object) -> None:
        """Disable Nagle's algorithm, which delays small messages by up to 40 ms each way.

        Raises ConnectionAbortedError if the link was stopped meanwhile: without a CONNECT, the broker has no will to
        publish.
        """
        if self._stopping.is_set():
            raise ConnectionAbortedError("stopped while it connected")
        if isinstance(opened, socket.socket):  # also true of TLS and proxy sockets
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _reconnect_after_error(self, error: Exception) -> None:
        """Reconnect after an error as after a lost connection. Called on the client's thread."""
        self._client.connect_async(*self._broker, keepalive=self._address.keepalive_s)
        self._connection_number += 1
        self._up.clear()
        with suppress(Exception):  # a failing `on_event` may be the error that led here
            self._on_event(LinkChanged(up=False, why=LinkDown(f"the connection failed and is opened again: {error!r}")))
        self._stopping.wait(LONGEST_RETRY_S)

    def _unreachable(self, *_: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        where = "{}:{}".format(*self._broker)
        self._on_event(LinkChanged(up=False, why=LinkDown(f"no broker answers at {where}; trying again")))
        self._try_next_broker()

    def _subscribed(self, _client: mqtt.Client, _data: Any, _mid: int, reasons: list[Any], _properties: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        """Report the link as up, or hang up if a subscription was refused: the client would receive nothing.

        The broker may only be too busy: nats-server refuses a subscription that it could not write within some seconds.
        """
        if any(reason.is_failure for reason in reasons):
            self._on_event(LinkChanged(up=False, why=LinkRefused("a subscription was refused; trying again")))
            self._client.reconnect_delay_set(LONGEST_RETRY_S, LONGEST_RETRY_S)
            self._hang_up()
        elif not self._up.is_set():
            self._retry_soon()
            self._up.set()
            self._on_event(LinkChanged(up=True))
            self._resubscription = threading.Timer(RESUBSCRIBE_S, self._resubscribe, (self._connection_number,))
            self._resubscription.daemon = True
            self._resubscription.start()

    def _resubscribe(self, connection_number: int) -> None:
        """Subscribe once more, so that retained messages are delivered again in their latest version."""
        if connection_number == self._connection_number and self._up.is_set():
            self._client.subscribe(self._topics)

    def _disconnected(self, _client: mqtt.Client, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        """Report a lost connection, or one that the broker closed without an answer (wrong certificate)."""
        answered, self._answered = self._answered, False
        if self._moving or not self._up.is_set() or reason == "Keep alive timeout":
            self._try_next_broker()  # otherwise the broker may only be restarting
        if self._up.is_set():
            self._up.clear()
            self._on_event(LinkChanged(up=False))
        elif reason.is_failure and not answered:
            self._on_event(LinkChanged(up=False, why=LinkRefused("the broker ended the connection without an answer")))

    def _arrived(self, client: mqtt.Client, _data: Any, message: mqtt.MQTTMessage) -> None:  # noqa: ANN401 - paho's own
        mid, qos, connection_number = message.mid, message.qos, self._connection_number

        def acknowledge() -> None:
            """Acknowledge on the same connection only: on the next one the broker sends the message again."""
            if connection_number == self._connection_number:
                client.ack(mid, qos)

        self._on_event(Incoming(_text(message), bytes(message.payload), acknowledge))


class _Client(mqtt.Client):
    """paho's client, whose thread would otherwise end silently on an error and never reconnect."""

    on_loop_error: Callable[[Exception], None]

    def loop_forever(self, timeout: float = 1.0, retry_first_connection: int = 0) -> MQTTErrorCode:
        """Run the network loop until the client is stopped."""
        while True:
            try:
                return super().loop_forever(timeout, bool(retry_first_connection))
            except Exception as error:
                log.exception("link_failed")
                self.on_loop_error(error)


def end_loop(client: mqtt.Client) -> None:
    """Disconnect a client and wait for its thread to end."""
    client.disconnect()
    with suppress(AttributeError):  # a race in paho: the thread may end just before it is joined
        client.loop_stop()


def _text(message: mqtt.MQTTMessage) -> str:
    """Return a message's topic, or an empty text if it is not valid UTF-8 and therefore not one of ours."""
    try:
        return message.topic
    except UnicodeDecodeError:
        return ""
