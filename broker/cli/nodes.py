"""One node of the centre's broker, whose others are on other machines: beside a scorer, or alone."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click

from broker.cli.encryption import Logins
from broker.cli.standby import SharedBroker
from broker.daemon import stop_on_signals
from broker.event import NODES, HallsFile, Nodes, read_halls, read_nodes, write_halls, write_nodes
from broker.i18n import N_
from broker.mqtt import NODE_FILE, Certificates, Cluster, Credentials, MqttBrokerSettings, NatsNode
from broker.rules import RuleError
from broker.scorer.alerts import Concern

POLL_S: Final = 0.2

COUNTS: Final = (3, 5)
"""Of nodes: more than half of them must be there, and no broker keeps more than five copies."""


def make_node(folder: Path, number: int, host: str, certificates: Certificates | None) -> NatsNode:
    """Return a node, not yet started. `folder`: the event's, or what was handed over. Raises BrokerError, RuleError."""
    nodes = nodes_of(folder)
    if not 1 <= number <= len(nodes.nodes):
        text = N_("{file} has no node {number}: it lists {count}", file=NODES, number=number, count=len(nodes.nodes))
        raise RuleError("nodes_wrong", text)
    if certificates is None:
        raise RuleError("nodes_wrong", N_("nodes on several machines need certificates: start without --plain"))
    settings = MqttBrokerSettings(
        folder=folder / "broker",
        event=nodes.event,
        credentials=Credentials({}),
        tables=1,
        host=host,
        port=int(nodes.nodes[number - 1].rpartition(":")[2]),
        certificates=certificates,
        halls=HallsFile(folder).connecting,
        cluster=Cluster(number, nodes.routes, certificate=certificates.folder / NODE_FILE),
    )
    return NatsNode(settings)


def nodes_of(folder: Path) -> Nodes:
    """Return where the nodes are. Raises BadEvent, and RuleError where there is one machine."""
    nodes = read_nodes(folder)
    if nodes is None:
        raise RuleError("nodes_wrong", N_("{folder} lists no nodes: run homologue hall nodes", folder=folder))
    return nodes


class OneNode:
    """The node on this machine, and what is told of the others."""

    def __init__(self, folder: Path, number: int, host: str, logins: Logins, running: ExitStack) -> None:
        """Start it; it runs until `running` is closed. Raises BrokerError, RuleError."""
        nodes = nodes_of(folder)
        self._names = nodes.nodes
        self._node = running.enter_context(make_node(folder, number, host, logins.certificates))
        self.host, self.port = nodes.hosts[number - 1], self._node.port
        told = N_("Halls are connected through {count} nodes on as many machines.", count=len(self._names))
        started = logins.scorer(self._node.host, self.port), lambda: None, told
        self.broker = SharedBroker(started, self._node.lets_in)
        click.echo(f"Broker: node {number} of {len(self._names)}, port {self.port}")

    def wait(self, stop: threading.Event) -> bool:
        """Wait until clients are let in; return whether they are."""
        while not stop.is_set():
            if self._node.lets_in():
                return True
            self.look(lambda news: click.echo(news.text))
            stop.wait(POLL_S)
        return False

    def look(self, tell: Callable[[Concern], None]) -> None:
        """Tell which nodes are away, and which are back."""
        while not self._node.news.empty():
            number, there = self._node.news.get()
            tell(node_concern(number, self._names[number - 1], there=there))


def node_concern(number: int, node: str, *, there: bool) -> Concern:
    """Return what arbiters are told of another node."""
    return Concern("node_back" if there else "node_lost", values={"number": number, "node": node})


def run_node_alone(folder: Path, number: int, host: str) -> None:
    """Run a node on a machine that has nothing else of the event, until told to stop."""
    stop = stop_on_signals()
    with ExitStack() as running:
        node = running.enter_context(make_node(folder, number, host, Certificates.of_event(folder)))
        click.echo(f"Broker: node {number}, port {node.port}, alone: this folder has no event")
        stop.wait()


def hand_over_nodes(folder: Path, event: str, places: tuple[str, ...], target: Path) -> list[Path]:
    """Write `nodes.toml`, and for each machine but the first a folder with what it needs to run a node alone.

    Raises RuleError, BrokerError.
    """
    if len(set(places)) not in COUNTS or len(set(places)) != len(places):
        raise RuleError("nodes_wrong", N_("different addresses: {count}; give 3 or 5", count=len(set(places))))
    try:
        nodes = Nodes(event, places)
    except ValueError as error:
        raise RuleError("nodes_wrong", str(error)) from None
    certificates = Certificates.ensure(folder, nodes.hosts)
    written = []
    for host in nodes.hosts[1:]:
        certificates.hand_to_node(target / host, nodes.hosts)
        written.append(target / host)
    for place in (folder, *written):
        write_halls(place, read_halls(folder))
        write_nodes(place, nodes)
    return written
