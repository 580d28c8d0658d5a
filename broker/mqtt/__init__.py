"""MQTT brokers as child processes (nats-server or Mosquitto), with their permissions and passwords."""

from broker.mqtt.access import OFFICES, PROBER, Credentials, hall_user
from broker.mqtt.certificates import (
    ANEW_BEFORE,
    CA,
    NODE_FILE,
    TLS_FOLDER,
    Certificates,
    TableCertificate,
    device_user,
    utc_now,
)
from broker.mqtt.nats import NatsCluster, NatsNode
from broker.mqtt.process import Broker, Cluster, MqttBrokerSettings, find_setpriv, probe_broker
from broker.mqtt.programs import (
    BrokerChoice,
    Kind,
    broker_of,
    broker_program,
    choose_broker,
    kind_of_event,
    remember_kind,
)
