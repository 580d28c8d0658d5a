"""Three nodes are one broker: what one has acknowledged another gives, whichever of them dies."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from broker.mqtt.access import Credentials
from broker.mqtt.nats import NatsBroker, NatsCluster
from broker.mqtt.process import MqttBrokerSettings
from tests.broker.mqtt.client import PATIENCE_S, Client
from tests.broker.mqtt.hall import EVENT


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[NatsCluster, Credentials]]:
    known = Credentials.create(4, ["paris", "osaka"])
    settings = MqttBrokerSettings(
        folder=tmp_path / "broker", event=EVENT, credentials=known, tables=4, halls=lambda: ("paris", "osaka")
    )
    with NatsCluster(settings, 3) as made:
        yield made, known


@pytest.mark.slow
def test_a_hall_is_heard_through_another_node_after_one_has_died_and_come_back(
    cluster: tuple[NatsCluster, Credentials],
) -> None:
    nodes, known = cluster
    assert len(nodes.ports) == len(set(nodes.ports)) == 3
    scorer = Client(nodes.nodes[0], "scorer", known.password("scorer"), session="scorer")
    with scorer:
        assert scorer.connect()
        assert all(scorer.subscribe(f"hm/{EVENT}/hall/+/row"))
        for number, node in enumerate((nodes.nodes[1], nodes.nodes[2], nodes.nodes[1])):
            with hall_at(node, known) as hall:
                hall.say(f"hm/{EVENT}/hall/paris/row", b"row %d" % number)
            scorer.hear_until(b"row %d" % number, f"hm/{EVENT}/hall/paris/row")
            if number == 0:
                assert node._child is not None
                node._child.kill()
                nodes.check()


def hall_at(node: NatsBroker, known: Credentials) -> Client:
    """Return a hall's connection with a node, which may have to find the others first."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        client = Client(node, "hall-paris", known.password("hall-paris"))
        with suppress(ConnectionError):
            if client.connect():
                return client
        client.close()
    raise AssertionError("the node lets nobody in")
