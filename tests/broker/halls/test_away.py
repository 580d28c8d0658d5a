"""While the centre's scorer is away, its brokers store nothing that halls send, and halls lose nothing."""

import queue
from contextlib import ExitStack
from pathlib import Path

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from broker.mqtt.access import Credentials
from broker.mqtt.nats import NatsBroker
from broker.mqtt.process import MqttBrokerSettings
from broker.protocol.link import Address, end_loop, session_id
from tests.broker.halls.places import CENTRE, HALLS, places, start
from tests.patience import PATIENCE_S


def test_the_broker_stores_no_session_for_an_absent_scorer_of_the_centre(tmp_path: Path) -> None:
    known = Credentials.create(4, [one.name for one in HALLS])
    settings = MqttBrokerSettings(
        folder=tmp_path / "broker",
        event="cup",
        credentials=known,
        tables=4,
        halls=lambda: tuple(one.name for one in HALLS),
    )
    with places(tmp_path) as made, ExitStack() as leaving, NatsBroker(settings) as broker:
        made.centre.scorer._journal.close()
        scorer = start(tmp_path / CENTRE, made.clock, leaving).scorer
        scorer.publisher.connect(
            Address("127.0.0.1", broker.port, "scorer", known.password("scorer")), scorer._inbox.put
        )
        while not scorer.live.connected:
            scorer.step(timeout=PATIENCE_S)
        scorer.publisher.close()
        again = paho.Client(
            CallbackAPIVersion.VERSION2, session_id("homologue-cup-scorer", tmp_path / CENTRE), clean_session=False
        )
        again.username_pw_set("scorer", known.password("scorer"))
        was_kept: queue.SimpleQueue[bool] = queue.SimpleQueue()
        again.on_connect = lambda _client, _data, flags, *_: was_kept.put(flags.session_present)
        again.connect("127.0.0.1", broker.port)
        again.loop_start()
        assert not was_kept.get(timeout=PATIENCE_S)
        end_loop(again)
