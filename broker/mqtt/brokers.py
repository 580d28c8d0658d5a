"""The two kinds of brokers: the embedded one (nats-server), and Mosquitto."""

from typing import Literal

from broker.mqtt.mosquitto import MosquittoBroker
from broker.mqtt.nats import NatsBroker
from broker.mqtt.process import Broker, MqttBrokerSettings

Kind = Literal["embedded", "mosquitto"]


def broker_of(kind: Kind, settings: MqttBrokerSettings) -> Broker:
    """Return a broker of these settings, not yet started. Raises SettingRefused, UserUnknown."""
    return NatsBroker(settings) if kind == "embedded" else MosquittoBroker(settings)
