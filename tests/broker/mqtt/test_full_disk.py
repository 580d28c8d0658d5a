"""Brokers work again once a full disk has space."""

import subprocess
import sys
from pathlib import Path

import pytest

from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.mosquitto import MosquittoBroker
from broker.mqtt.process import MqttBrokerSettings
from tests.broker.mqtt.hall import EVENT
from tests.patience import PATIENCE_S
from tests.small_disk import Ballast, small_disk


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["embedded", "mosquitto"])
def test_a_broker_works_again_once_a_full_disk_has_space(kind: str) -> None:
    command = [sys.executable, "-m", "tests.broker.mqtt.full_disk", kind]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    if said.stdout == "no mounts\n":
        pytest.skip("disks cannot be mounted here")
    assert said.stdout.splitlines()[-1] == "broker: carried carried", said


@pytest.mark.slow
def test_a_mosquitto_whose_disk_was_full_is_reloaded_by_a_later_check(tmp_path: Path) -> None:
    """No thread waits for a reload meanwhile; otherwise each check would start another one for a hundred seconds."""
    known = Certificates.ensure(tmp_path / "event")
    with small_disk(tmp_path / "disk", 32) as disk:
        settings = MqttBrokerSettings(
            folder=disk / "broker", event=EVENT, credentials=Credentials({}), tables=1, certificates=known
        )
        with MosquittoBroker(settings, ready_s=PATIENCE_S) as broker:
            ballast = Ballast(disk)
            ballast.fill()
            known.ensure_node(("127.0.0.1",))
            broker.check()
            assert broker._reloading is None
            ballast.remove()
            broker.check()
            assert broker._stamp == broker._certificates_stamp()
