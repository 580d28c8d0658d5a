"""A broker on a disk that is full for a while: `python -m tests.broker.mqtt.full_disk KIND`.

In a process of its own, which may mount a disk; where it may not, it says so. It says `carried` before, while and after
the disk is full, or `lost`.
"""

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.mqtt.programs import Kind
from broker.protocol import topics
from broker.protocol.link import end_loop
from tests.broker.mqtt.brokers import make_broker
from tests.chaos import disks
from tests.patience import PATIENCE_S

EVENT = "cup"
TOPIC = topics.LOG.at(EVENT, table=1)
ANSWER_S = 10.0
"""Of a broker whose disk is full none comes."""


def carried(broker: Broker, known: Credentials, answer_s: float = ANSWER_S) -> bool:
    """Return whether the broker acknowledges a message in so many seconds."""
    client = paho.Client(CallbackAPIVersion.VERSION2, reconnect_on_failure=False)
    client.username_pw_set(*known.table(1))
    try:
        client.connect(broker.host, broker.port)
        client.loop_start()
        message = client.publish(TOPIC, bytes(10_000), qos=1)
        message.wait_for_publish(answer_s)
        return message.is_published()
    except (OSError, RuntimeError):
        return False
    finally:
        end_loop(client)


def carried_again(broker: Broker, known: Credentials) -> bool:
    """Return whether it does so within a while, with who has started it looking after it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        broker.check()
        if carried(broker, known):
            return True
    return False


def main(kind: str) -> None:
    """Say how it goes."""
    disks.enter_namespace([sys.executable, "-m", "tests.broker.mqtt.full_disk", kind])
    if not disks.can_mount():
        print("no mounts")
        return
    with ExitStack() as leaving:
        base = Path(leaving.enter_context(tempfile.TemporaryDirectory()))
        disk, known = base / "disk", Credentials.create(1)
        leaving.enter_context(disks.mounted(disk))
        broker = leaving.enter_context(make_broker(cast("Kind", kind), disk / "broker", EVENT, known, tables=1))
        said = [carried(broker, known, PATIENCE_S)]
        disks.fill(disk)
        carried(broker, known)
        disks.empty(disk)
        said.append(carried_again(broker, known))
        print("broker:", *("carried" if one else "lost" for one in said))


if __name__ == "__main__":
    main(*sys.argv[1:])
