"""A reader that has no time, as a scorer on a busy machine: it is not buried in what it has, and not cut off."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import paho.mqtt.client as paho
import pytest

from broker.halls.link import MAX_TIMEOUT_S
from broker.mqtt.access import Credentials
from broker.mqtt.nats import ACK_WAIT_OF_HALLS, NatsBroker, nats_configuration
from broker.mqtt.process import MqttBrokerSettings
from broker.protocol import LOG
from broker.protocol.topics import HALL_ROW, SCORER
from tests.broker.mqtt.client import Client
from tests.broker.mqtt.hall import EVENT
from tests.patience import PATIENCE_S

ROW: Final = HALL_ROW.at(EVENT, hall="paris")
MUCH: Final = 60
"""Messages of the greatest length: more than the buffers of two sockets hold."""

Make = Callable[..., tuple[NatsBroker, Credentials]]


def settings(folder: Path, known: Credentials, *, at_centre: bool) -> MqttBrokerSettings:
    halls = (lambda: ("paris",)) if at_centre else (lambda: None)
    return MqttBrokerSettings(folder=folder, event=EVENT, credentials=known, tables=1, halls=halls)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stopping:

        def start(name: str, *, at_centre: bool) -> tuple[NatsBroker, Credentials]:
            known = Credentials.create(1, ["paris"] if at_centre else None)
            broker = NatsBroker(settings(tmp_path / name, known, at_centre=at_centre), ready_s=PATIENCE_S)
            return stopping.enter_context(broker), known

        yield start


def test_a_centre_s_broker_waits_for_its_scorer_at_least_as_long_as_halls_do(tmp_path: Path) -> None:
    """Halls send again by what the scorer has said; a broker that is hastier doubles what it has to do."""
    written = json.loads(nats_configuration(settings(tmp_path, Credentials.create(1, ["paris"]), at_centre=True), 1883))
    assert int(written["mqtt"]["ack_wait"].removesuffix("s")) >= MAX_TIMEOUT_S
    assert int(written["write_deadline"].removesuffix("s")) >= MAX_TIMEOUT_S


@pytest.mark.slow
def test_a_centre_s_broker_sends_nothing_again_while_its_scorer_has_no_time(make: Make) -> None:
    """One in a hall does after two seconds, since it keeps what tables say over a restart."""
    began = time.monotonic()
    with ExitStack() as leaving:
        centre, hall = (
            busy_reader(make(name, at_centre=at_centre), *words, leaving)
            for name, at_centre, words in (
                ("centre", True, ("hall-paris", ROW)),
                ("hall", False, ("table-1", LOG.at(EVENT, table=1))),
            )
        )
        assert [hall.get(timeout=PATIENCE_S) for _ in range(3)] == [b"said"] * 3
        assert centre.get(timeout=PATIENCE_S) == b"said"
        again = int(time.monotonic() - began) // int(ACK_WAIT_OF_HALLS.removesuffix("s"))
        assert centre.qsize() <= again


def busy_reader(
    made: tuple[NatsBroker, Credentials], writer: str, topic: str, leaving: ExitStack
) -> "queue.SimpleQueue[bytes]":
    """Say something to a scorer that acknowledges nothing; return what comes to it, each time that it comes."""
    broker, known = made
    heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    reader = leaving.enter_context(Client(broker, "scorer", known.password("scorer"), acknowledges=False))
    reader._paho.on_message = lambda _client, _data, message: heard.put(bytes(message.payload))
    assert reader.connect()
    assert all(reader.subscribe(topic))
    with Client(broker, writer, known.password(writer)) as said:
        assert said.connect()
        said.say(topic, b"said")
    return heard


@pytest.mark.slow
def test_a_scorer_that_reads_nothing_for_longer_than_nats_server_waits_by_itself_is_not_cut_off(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as leaving:
        has_time = threading.Event()
        ours = make("ours", at_centre=True)
        monkeypatch.setattr("broker.mqtt.nats.WRITE_DEADLINE", "10s")
        as_it_comes = make("as it comes", at_centre=True)  # which may take as long as ours has patience
        reader, told = slow_reader(ours, has_time, leaving)
        _, cut_off = slow_reader(as_it_comes, has_time, leaving)
        assert cut_off.hear().payload == b"lost"
        assert told.heard.empty()
        has_time.set()
        assert [one.payload for one in reader.hear_until(b"last", ROW)] == [bytes(HALL_ROW.limit)] * MUCH
        assert reader.gone.empty()


def slow_reader(
    made: tuple[NatsBroker, Credentials], has_time: threading.Event, leaving: ExitStack
) -> tuple[Client, Client]:
    """Say much to a scorer that reads nothing of it yet; return that, and who hears when it is gone."""
    broker, known = made
    reader = leaving.enter_context(
        Client(broker, "scorer", known.password("scorer"), will=SCORER.at(EVENT), session="scorer")
    )
    assert reader.connect()
    assert all(reader.subscribe(ROW))

    def hear_later(client: paho.Client, data: object, message: paho.MQTTMessage) -> None:
        has_time.wait()
        reader._on_message(client, data, message)

    reader._paho.on_message = hear_later
    leaving.callback(has_time.set)
    desk = leaving.enter_context(Client(broker, "desk", known.password("desk")))
    assert desk.connect()
    assert all(desk.subscribe(SCORER.at(EVENT)))
    with Client(broker, "hall-paris", known.password("hall-paris")) as hall:
        assert hall.connect()
        for _ in range(MUCH):
            hall.say(ROW, bytes(HALL_ROW.limit))
        hall.say(ROW, b"last")
    return reader, desk
