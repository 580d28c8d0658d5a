"""The two kinds of brokers: `make_broker` gives the embedded one (nats-server) or Mosquitto."""

from pathlib import Path
from typing import Literal

from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.mosquitto import MosquittoBroker
from broker.mqtt.nats import NatsBroker
from broker.mqtt.process import Broker, MqttBrokerSettings

Kind = Literal["embedded", "mosquitto"]


def make_broker(  # noqa: PLR0913 - each is said by its name
    kind: Kind,
    folder: Path,
    event: str,
    credentials: Credentials,
    *,
    tables: int,
    host: str = "127.0.0.1",
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
        host=host,
        port=port,
        certificates=certificates,
    )
    return broker_of(kind, settings)


def broker_of(kind: Kind, settings: MqttBrokerSettings) -> Broker:
    """Return a broker of these settings, not yet started."""
    return NatsBroker(settings) if kind == "embedded" else MosquittoBroker(settings)
