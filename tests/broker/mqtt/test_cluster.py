"""A cluster of nodes acts as one broker. Messages acknowledged by one node survive the failure of any node."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.nats import STORE_FAILURES, NatsBroker, NatsCluster, NatsNode
from broker.mqtt.process import Cluster, MqttBrokerSettings
from broker.protocol import LOG
from broker.protocol.tls import Identity, event_context
from tests.broker.mqtt.client import Client
from tests.broker.mqtt.hall import EVENT
from tests.patience import PATIENCE_S
from tests.ports import reserve_two_ports
from tests.small_disk import Ballast, small_disk


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[NatsCluster, Credentials]]:
    known = Credentials.create(4, ["paris", "osaka"])
    settings = MqttBrokerSettings(
        folder=tmp_path / "broker", event=EVENT, credentials=known, tables=4, halls=lambda: ("paris", "osaka")
    )
    with NatsCluster(settings, 3) as made:
        yield made, known


@pytest.mark.slow
def test_a_halls_messages_arrive_through_another_node_after_one_has_restarted(
    cluster: tuple[NatsCluster, Credentials],
) -> None:
    nodes, known = cluster
    assert len({node.port for node in nodes.nodes}) == len(nodes.nodes) == 3
    scorer = Client(nodes.nodes[0], "scorer", known.password("scorer"), session="scorer")
    with scorer:
        assert scorer.connect()
        assert all(scorer.subscribe(f"hm/{EVENT}/hall/+/row"))
        for number, node in enumerate((nodes.nodes[1], nodes.nodes[2], nodes.nodes[1])):
            say_at(node, known, b"row %d" % number)
            scorer.hear_until(b"row %d" % number, f"hm/{EVENT}/hall/paris/row")
            if number == 0:
                end(node)
                nodes.check()


def say_at(node: NatsBroker, known: Credentials, row: bytes) -> None:
    """Publish a row until it is acknowledged, as a hall does. Nodes acknowledge nothing until they have connected."""
    deadline = time.monotonic() + PATIENCE_S
    said = ""
    while said != "acknowledged":
        assert time.monotonic() < deadline, said
        with hall_at(node, known) as hall:
            said = hall.attempt(f"hm/{EVENT}/hall/paris/row", row)


def hall_at(node: NatsBroker, known: Credentials) -> Client:
    """Return a hall's connection to a node, which may have to connect to the others first."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        client = Client(node, "hall-paris", known.password("hall-paris"))
        if client.connect():
            return client
        client.close()
    raise AssertionError("the node lets nobody in")


HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[list[NatsNode], Certificates]]:
    """Return a node for each of three machines, not yet started. The last machine only has the files for a node."""
    known, port = Certificates.ensure(tmp_path / "event"), reserve_two_ports()
    known.hand_to_node(tmp_path / "alone", HOSTS)
    routes = tuple(f"{host}:{port + 1}" for host in HOSTS)
    made = []
    for number, host in enumerate(HOSTS, 1):
        own = known if number < 3 else Certificates.of_event(tmp_path / "alone")
        settings = MqttBrokerSettings(
            folder=tmp_path / str(number),
            event=EVENT,
            credentials=Credentials({}),
            tables=1,
            host=host,
            port=port,
            certificates=own,
            halls=lambda: ("paris",),
            cluster=Cluster(number, routes, certificate=own.folder / "node.pem"),
        )
        made.append(NatsNode(settings))
    yield made, known
    for node in made:
        node.stop()


def wait_until(node: NatsNode, *, lets_in: bool) -> None:
    """Wait until a node accepts clients, or rejects them."""
    deadline = time.monotonic() + PATIENCE_S
    while node.lets_in() != lets_in:
        assert time.monotonic() < deadline, node.log.read_text("utf-8")[-2000:]


@pytest.mark.slow
def test_a_node_accepts_clients_while_more_than_half_run_and_reports_missing_ones(
    machines: tuple[list[NatsNode], Certificates],
) -> None:
    nodes, _ = machines
    nodes[0].start()
    assert not nodes[0].lets_in()
    for node in nodes[1:]:
        node.start()
    for node in nodes:
        wait_until(node, lets_in=True)
    nodes[0].stop()
    wait_until(nodes[2], lets_in=True)
    for node in nodes[1:]:
        while node.news.get(timeout=PATIENCE_S) != (1, False):
            pass  # earlier reports of nodes that were slow to start or answer
    nodes[1].stop()
    wait_until(nodes[2], lets_in=False)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[NatsCluster, Credentials, Ballast]]:
    """Return working nodes on a small disk, and a file that can fill it."""
    known = Credentials.create(1)
    with small_disk(tmp_path / "disk", 64) as disk:
        settings = MqttBrokerSettings(folder=disk / "broker", event=EVENT, credentials=known, tables=1)
        with NatsCluster(settings, 3) as nodes:
            wait_until_carried(nodes, known)
            yield nodes, known, Ballast(disk)


def attempt_at(node: NatsBroker, known: Credentials) -> str:
    """Return the result of a table's attempt to publish through this node."""
    with Client(node, "table-1", known.password("table-1")) as table:
        return table.attempt(LOG.at(EVENT, table=1), bytes(LOG.limit)) if table.connect() else "not let in"


def wait_until_carried(nodes: NatsCluster, known: Credentials) -> None:
    """Wait until each node accepts a message, calling the cluster's `check` meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    for node in nodes.nodes:
        while attempt_at(node, known) != "acknowledged":
            assert time.monotonic() < deadline, node.log.read_text("utf-8")[-2000:]
            nodes.check()


@pytest.mark.slow
def test_a_local_node_that_died_on_a_full_disk_restarts_once_there_is_space(
    small: tuple[NatsCluster, Credentials, Ballast],
) -> None:
    nodes, known, ballast = small
    ballast.fill()
    end(nodes.nodes[1])
    for _ in range(3):
        nodes.check()
    ballast.remove()
    wait_until_carried(nodes, known)


def end(node: NatsBroker) -> None:
    """Kill the node's process, as if it had ended by itself."""
    assert node._child is not None
    node._child.kill()


@pytest.mark.slow
def test_nodes_work_again_once_a_full_disk_has_space(
    small: tuple[NatsCluster, Credentials, Ballast],
) -> None:
    """Each node logs only once that it has stopped storing."""
    nodes, known, ballast = small
    deadline = time.monotonic() + PATIENCE_S
    ballast.fill()
    while attempt_at(nodes.nodes[0], known) == "acknowledged":
        assert time.monotonic() < deadline
    ballast.remove()
    wait_until_carried(nodes, known)


class Neighbour:
    """A fake second node: its address is reachable, or not."""

    def __init__(self, port: int) -> None:
        self._address = ("127.0.0.2", port)
        self.there()

    def there(self) -> None:
        """Make the address reachable."""
        self._listens = socket.create_server(self._address, backlog=4096)  # connections are never accepted

    def away(self) -> None:
        """Make the address unreachable."""
        self._listens.close()

    def wait_for_a_look(self, node: NatsNode) -> None:
        """Wait until the node has checked itself and then this neighbour at least once more."""
        while not node.news.empty():
            node.news.get()
        self.away()
        assert node.news.get(timeout=PATIENCE_S) == (2, False)  # its own check may have been earlier
        self.there()
        assert node.news.get(timeout=PATIENCE_S) == (2, True)


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    made = Neighbour(reserve_two_ports() + 1)
    yield made
    made.away()


@pytest.fixture
def lone(tmp_path: Path, neighbour: Neighbour, monkeypatch: pytest.MonkeyPatch) -> Iterator[NatsNode]:
    """Return one of two nodes, on a small disk, which checks itself continuously."""
    monkeypatch.setattr("broker.mqtt.nats.WATCH_S", 0.1)
    port = neighbour._address[1]
    with small_disk(tmp_path / "disk", 64) as disk:
        settings = MqttBrokerSettings(
            folder=disk / "broker",
            event=EVENT,
            credentials=Credentials.create(1),
            tables=1,
            port=port - 1,
            cluster=Cluster(1, (f"127.0.0.1:{port}", f"127.0.0.2:{port}"), "s" * 32),
        )
        with NatsNode(settings) as node:
            yield node


@pytest.mark.slow
def test_a_remote_node_that_died_on_a_full_disk_restarts_once_there_is_space(
    lone: NatsNode, neighbour: Neighbour, tmp_path: Path
) -> None:
    ballast = Ballast(tmp_path / "disk")
    ballast.fill()
    end(lone)
    neighbour.wait_for_a_look(lone)
    ballast.remove()
    neighbour.wait_for_a_look(lone)
    assert lone.alive()


@pytest.mark.slow
def test_a_node_that_stores_nothing_is_restarted_once(lone: NatsNode, neighbour: Neighbour) -> None:
    before = lone.pid
    with lone.log.open("ab") as log:
        log.write(STORE_FAILURES[0] + b"\n")
    neighbour.wait_for_a_look(lone)
    again = lone.pid
    neighbour.wait_for_a_look(lone)
    assert (again != before, lone.pid) == (True, again)


@pytest.mark.slow
def test_only_nodes_of_the_event_can_join_the_cluster(
    machines: tuple[list[NatsNode], Certificates], tmp_path: Path
) -> None:
    (node, *_), known = machines
    node.start()
    (hall := tmp_path / "hall.pem").write_bytes(known.issue_hall("paris"))
    other = Certificates.ensure(tmp_path / "other").ensure_node(HOSTS)
    assert b"-ERR 'Authorization Violation'" in speak_as_node(node, known.authority, hall)
    assert b"-ERR" not in speak_as_node(node, known.authority, known.ensure_node(HOSTS))
    with pytest.raises(OSError, match=r"unknown ca|certificate|reset|EOF|pipe"):
        speak_as_node(node, known.authority, other)


def line_for_nodes(node: NatsNode) -> socket.socket:
    """Return a connection to the port for other nodes, which a node opens after its port for clients."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with suppress(ConnectionRefusedError):
            return socket.create_connection((node.host, node.port + 1), PATIENCE_S)
        assert time.monotonic() < deadline, node.log.read_text("utf-8")[-2000:]


def speak_as_node(node: NatsNode, authority: str, certificate: Path) -> bytes:
    """Return a node's answer to a client that connects as another node with this certificate."""
    said = b""
    with (
        line_for_nodes(node) as plain,
        event_context(authority, Identity(certificate)).wrap_socket(plain) as line,
    ):
        line.sendall(b'CONNECT {"name":"another","cluster":"homologue-%b"}\r\nPING\r\n' % EVENT.encode())
        while b"-ERR" not in said and b"PONG" not in said and (more := line.recv(4096)):
            said += more
    return said
