"""Brokers of both kinds for tests and benchmarks."""

from pathlib import Path

import pytest

from broker.mqtt import process
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.process import Broker, MqttBrokerSettings
from broker.mqtt.programs import Kind, broker_of
from tests.patience import PATIENCE_S

# A broker whose parent was killed holds the folder's lock until it has ended, which takes more than three seconds on a
# busy machine.
pytest.MonkeyPatch().setattr(process, "LOCK_S", PATIENCE_S)


def make_broker(
    kind: Kind,
    folder: Path,
    event: str,
    credentials: Credentials,
    *,
    tables: int,
    port: int = 0,
    certificates: Certificates | None = None,
) -> Broker:
    """Return a broker, not yet started, that has its store, settings and log in `folder`.

    With port 0, a free one is chosen at the first start. With certificates the broker uses TLS and requires one from
    each client. Raises SettingRefused, and UserUnknown if the credentials lack a user.
    """
    settings = MqttBrokerSettings(
        folder=folder,
        event=event,
        credentials=credentials,
        tables=tables,
        port=port,
        certificates=certificates,
    )
    made = broker_of(kind, settings)
    made._ready_s = PATIENCE_S
    return made
