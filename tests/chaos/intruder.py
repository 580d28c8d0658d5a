"""Somebody with one table's password: rubbish on every topic, and others' client ids taken."""

import contextlib
import queue
import random
from collections.abc import Iterator
from typing import Final

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from broker.mqtt.access import Credentials
from broker.protocol import TOPICS, topics
from broker.sim.demo_event import NAME

PATIENCE_S: Final = 5.0
MESSAGES: Final = 60
LARGEST: Final = 40_000
TAKEN: Final = 5
"""How often another's id is taken."""


@contextlib.contextmanager
def _connected(port: int, known: Credentials, table: int, client_id: str) -> Iterator[mqtt.Client]:
    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=client_id, reconnect_on_failure=False)
    client.username_pw_set(*known.table(table))
    answered: queue.SimpleQueue[object] = queue.SimpleQueue()
    client.on_connect = lambda *_: answered.put("now")
    client.on_connect_fail = lambda *_: answered.put("never")
    with contextlib.suppress(OSError, queue.Empty):
        client.connect("127.0.0.1", port, keepalive=5)
        client.loop_start()
        answered.get(timeout=PATIENCE_S)
    try:
        yield client
    finally:
        client.disconnect()
        client.loop_stop()
        client.reinitialise()  # it lets go of the two sockets by which its thread was woken


def rubbish(port: int, known: Credentials, table: int, chance: random.Random) -> None:
    """Say what nobody can mean on topics of all kinds, its own and others'."""
    with _connected(port, known, table, f"rubbish-{chance.randrange(1 << 30)}") as client:
        for _ in range(MESSAGES):
            topic = chance.choice(TOPICS).at(NAME, table=chance.choice((table, table % 9 + 1)), deal=1)
            client.publish(topic, _payload(chance), qos=1)


def _payload(chance: random.Random) -> bytes:
    log = topics.LOG.at(NAME, table=1)
    match chance.randrange(5):
        case 0:
            return chance.randbytes(chance.randrange(200))
        case 1:
            return b'{"schema": 1, "id": "' + bytes(chance.choices(b'abc\\"{}', k=chance.randrange(60)))
        case 2:
            return b"[" * chance.randrange(LARGEST)
        case 3:
            return f'{{"schema":1,"id":"rubbish-1","event":"{NAME}","table":{chance.randrange(99)},"seq":-1}}'.encode()
    return log.encode() + b"\0" * chance.randrange(50)


def take_client_ids(port: int, known: Credentials, table: int) -> None:
    """Connect under the scorer's client id, again and again."""
    for _ in range(TAKEN):
        with _connected(port, known, table, f"homologue-{NAME}-scorer"):
            pass
