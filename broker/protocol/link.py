"""One client's connection with the broker: it comes back by itself, and acknowledges only when told to.

A PUBACK proves neither storage nor permission, so nothing here says that a message is safe: the scorer's
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
"""Between two tries to reach a broker that is away."""

LISTEN_AGAIN_S: Final = 1.0
"""After subscribing. Of a message that is retained in that instant, nats-server may send the one before it, and no more
(4 of 450 times)."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the broker is and who we are there. The password never shows."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    ca: Path | None = None
    """Certificate authority of a broker with TLS; None for a plain connection."""
    keepalive_s: int = 10
    identity: Identity | None = None
    """Who we are by a certificate of the event's authority, which `ca` is then: no password is sent."""


Place = tuple[str, int]
"""Host and port of a broker."""


@dataclass(frozen=True, slots=True)
class Will:
    """What the broker says when we are gone."""

    topic: str
    payload: bytes


SESSION_FILE: Final = "session.key"
"""Beside what a program keeps: the secret in the id of its session."""

SECRET: Final = re.compile(r"[0-9a-f]{32}")


def session_id(name: str, folder: Path) -> str:
    """Return the id of a program's session at the broker, the same at each start, that nobody else can know.

    A broker gives a session to whoever comes with its id, and cuts off who had it: any user may take any session whose
    id can be guessed. So it has a secret, which is kept in the folder; without room for it, it is new each time.
    """
    file = folder / SESSION_FILE
    try:
        if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) == 0 and SECRET.fullmatch(
            known := file.read_text("ascii")
        ):
            return f"{name}-{known}"
    except (OSError, UnicodeError):
        pass  # it is made
    made = secrets.token_hex(16)
    with suppress(OSError):
        write_private(file, made.encode("ascii"))
    return f"{name}-{made}"


def passing_id(name: str) -> str:
    """Return the id of a session that ends with its connection."""
    return f"{name}-{secrets.token_hex(16)}"


class LinkDown(CodedError, code="broker_unreachable"):
    """Why there is no connection. We go on trying."""


class LinkRefused(LinkDown, code="broker_refused"):
    """The broker is there, and does not let us in, or not listen. We go on trying."""


Acknowledge = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as it came; nothing is known of it yet."""

    topic: str
    payload: bytes
    acknowledge: Acknowledge
    came_at: float = field(default_factory=time.monotonic, compare=False)
    """By a clock that counts on, in s."""


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The broker accepted us, or not: `why` tells where that is known."""

    up: bool
    why: LinkDown | None = None


class Link:
    """An MQTT session (3.1.1, QoS 1), `kept` by the broker while we are away or not.

    `tell` is called on the client's own thread: it must only put things on a queue.
    """

    def __init__(
        self,
        address: Address,
        client_id: str,
        topics: Iterable[str],
        tell: Callable[[Incoming | LinkChanged], None],
        will: Will | None = None,
        *,
        kept: bool = True,
    ) -> None:
        self._topics = [(topic, 1) for topic in topics]
        self._tell = tell
        self._up = threading.Event()
        self._generation = 0
        self._leaving = False
        """Whether this broker is left for another one."""
        self._answered = False
        """Whether the broker has answered since this connection was begun."""
        self._last: mqtt.MQTTMessageInfo | None = None
        self._again: threading.Timer | None = None
        """Subscribes once more."""
        self._stopping = threading.Event()
        self._client = _Client(
            CallbackAPIVersion.VERSION2,
            client_id=client_id,
            clean_session=not kept,
            protocol=mqtt.MQTTv311,
            manual_ack=True,
        )
        self._client.begin_anew = self._begin_anew
        if address.ca and address.identity:
            self._client.tls_set_context(event_context(address.ca.read_text("ascii"), address.identity))
        else:
            self._client.username_pw_set(address.user, address.password)
            if address.ca:
                try:
                    self._client.tls_set(ca_certs=str(address.ca), tls_version=ssl.PROTOCOL_TLS_CLIENT)
                except ssl.SSLError as error:
                    error.filename = str(address.ca)  # OpenSSL does not say in which file there is no certificate
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
        self._place, self._others = (address.host, address.port), list[Place]()
        self._retry_soon()

    @property
    def up(self) -> bool:
        """Whether the broker has accepted us and our subscriptions."""
        return self._up.is_set()

    def start(self) -> None:
        """Begin to connect, and go on trying."""
        self._client.connect_async(*self._place, keepalive=self._address.keepalive_s)
        self._client.loop_start()

    def stop(self) -> None:
        """Say good-bye, permanently; the will is not sent. May be called twice."""
        self._stopping.set()
        end_loop(self._client)
        if self._again:
            self._again.cancel()
            self._again.join()  # it may be sending, by the sockets that are closed next
        self._client.reinitialise()  # it lets go of the two sockets by which its thread was woken
        self._up.clear()

    @property
    def place(self) -> Place:
        """Host and port of the broker with which we are connected, or that is tried."""
        return self._place

    def begin_at(self, first: Place, *others: Place) -> None:
        """Begin at another place. Before it is started."""
        self._place = first
        self.reach(*others)

    def reach(self, *places: Place) -> None:
        """Try these places in turn from now on, where the event's broker may be; the present one is left for none."""
        self._others = [place for place in dict.fromkeys((self._place, *places)) if place != self._place]
        self._retry_soon()

    def _retry_soon(self) -> None:
        self._client.reconnect_delay_set(1, 1 if self._others else LONGEST_RETRY_S)

    def move(self, place: Place) -> None:
        """Leave the present broker for the one there; the present one is tried again where that is not."""
        if place == self._place or self._leaving:
            return
        self.reach(place, *self._others)
        self._leaving = self._hang_up()

    def _hang_up(self) -> bool:
        """End the connection, after which the client's thread makes the next one; return whether there was one."""
        found = self._client.socket()
        if not isinstance(found, socket.socket):
            return False
        with suppress(OSError):  # the base's: TLS's own would say good-bye, and wait for an answer
            socket.socket.shutdown(found, socket.SHUT_RDWR)
        return True

    def _turn(self) -> None:
        """Go on to the next place. On the client's thread, without a connection."""
        if self._others:
            self._others.append(self._place)
            self._place = self._others.pop(0)
            self._client.connect_async(*self._place, keepalive=self._address.keepalive_s)

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if we are connected; if not, it is the sender's to send again."""
        if self.up:
            place = parse_topic(topic)
            qos = place.topic.qos if place else 1
            sent = self._client.publish(topic, payload, qos=qos, retain=retain)
            if qos:  # no broker acknowledges the others: they would end a wait too early
                self._last = sent

    def flush(self, timeout_s: float) -> bool:
        """Wait until the broker has the last message that it acknowledges; return whether it has it in time."""
        if self._last is None or not self.up:
            return self._last is None
        self._last.wait_for_publish(timeout_s)
        return self._last.is_published()

    def _connected(self, client: mqtt.Client, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        self._generation += 1
        self._answered, self._leaving = True, False
        if reason.is_failure:
            self._tell(LinkChanged(up=False, why=LinkRefused(str(reason))))
        else:
            client.subscribe(self._topics)

    def _opened(self, _client: mqtt.Client, _data: object, opened: object) -> None:
        """Let small messages not wait (up to 40 ms each way) until the other side has confirmed those before them.

        Raises ConnectionAbortedError where it was stopped meanwhile: who never says hello has no will.
        """
        if self._stopping.is_set():
            raise ConnectionAbortedError("stopped while it connected")
        if isinstance(opened, socket.socket):  # TLS's and a proxy's are, too
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _begin_anew(self, error: Exception) -> None:
        """Go on after an error as with a broker that is away. On the client's thread."""
        self._client.connect_async(*self._place, keepalive=self._address.keepalive_s)
        self._generation += 1
        self._up.clear()
        with suppress(Exception):  # where it is this that fails, it was said
            self._tell(LinkChanged(up=False, why=LinkDown(f"the connection failed, and begins anew: {error!r}")))
        self._stopping.wait(LONGEST_RETRY_S)

    def _unreachable(self, *_: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        where = "{}:{}".format(*self._place)
        self._tell(LinkChanged(up=False, why=LinkDown(f"no broker answers at {where}; trying again")))
        self._turn()

    def _subscribed(self, _client: mqtt.Client, _data: Any, _mid: int, reasons: list[Any], _properties: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        """A broker that refuses a subscription would leave us deaf: that is not being connected, and tried again.

        It may have been too busy: nats-server refuses what it has not written within some seconds.
        """
        if any(reason.is_failure for reason in reasons):
            self._tell(LinkChanged(up=False, why=LinkRefused("no right to listen where we must; trying again")))
            self._client.reconnect_delay_set(LONGEST_RETRY_S, LONGEST_RETRY_S)
            self._hang_up()
        elif not self._up.is_set():
            self._retry_soon()
            self._up.set()
            self._tell(LinkChanged(up=True))
            self._again = threading.Timer(LISTEN_AGAIN_S, self._listen_again, (self._generation,))
            self._again.daemon = True
            self._again.start()

    def _listen_again(self, generation: int) -> None:
        """Subscribe once more: what is retained comes again, and is the latest by now."""
        if generation == self._generation and self._up.is_set():
            self._client.subscribe(self._topics)

    def _disconnected(self, _client: mqtt.Client, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:  # noqa: ANN401 - paho's own types differ by version
        """Tell it, also where a broker that wants another certificate ends the connection without an answer."""
        answered, self._answered = self._answered, False
        if self._leaving or not self._up.is_set() or reason == "Keep alive timeout":
            self._turn()  # else the broker may only have been restarted
        if self._up.is_set():
            self._up.clear()
            self._tell(LinkChanged(up=False))
        elif reason.is_failure and not answered:
            self._tell(LinkChanged(up=False, why=LinkRefused("the broker ended the connection without an answer")))

    def _arrived(self, client: mqtt.Client, _data: Any, message: mqtt.MQTTMessage) -> None:  # noqa: ANN401 - paho's own
        mid, qos, generation = message.mid, message.qos, self._generation

        def acknowledge() -> None:
            """Message numbers belong to one connection: after the next one the broker sends the message again."""
            if generation == self._generation:
                client.ack(mid, qos)

        self._tell(Incoming(_text(message), bytes(message.payload), acknowledge))


class _Client(mqtt.Client):
    """paho's client, whose thread an error would end without a word, and nobody would be connected any more."""

    begin_anew: Callable[[Exception], None]

    def loop_forever(self, timeout: float = 1.0, retry_first_connection: int = 0) -> MQTTErrorCode:
        """Carry messages until the client is stopped."""
        while True:
            try:
                return super().loop_forever(timeout, bool(retry_first_connection))
            except Exception as error:
                log.exception("link_failed")
                self.begin_anew(error)


def end_loop(client: mqtt.Client) -> None:
    """Disconnect a client, and wait for the end of its thread."""
    client.disconnect()
    with suppress(AttributeError):  # paho's: the thread may end just as it begins to wait for it
        client.loop_stop()


def _text(message: mqtt.MQTTMessage) -> str:
    """Return a topic as text; a topic that is no UTF-8 is not ours."""
    try:
        return message.topic
    except UnicodeDecodeError:
        return ""
