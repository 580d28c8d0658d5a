"""A broker for tests and benchmarks, of either kind."""

from pathlib import Path

import pytest

from broker.mqtt import process
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.process import Broker, MqttBrokerSettings
from broker.mqtt.programs import Kind, broker_of
from tests.patience import PATIENCE_S

# A broker whose master was killed holds its folder until it has died, which takes more than three seconds beside thirty
# busy processes.
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
    """Return a broker, not yet started, that keeps its store, settings and log in `folder`.

    Port 0 takes a free one at the first start. With the event's certificates it speaks TLS, and lets in who has one.
    Raises SettingRefused, and UserUnknown if the credentials lack a user.
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
