"""Test a broker on a disk that is full for a while: `python -m tests.broker.mqtt.full_disk KIND`.

It runs in its own process, which mounts a disk, and prints `carried` or `lost` for a message before the disk is full
and one afterwards; or `no mounts` if it may not mount a disk.
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
"""How long to wait for an acknowledgement, which a broker with a full disk never sends, in seconds."""


def carried(broker: Broker, known: Credentials, answer_s: float = ANSWER_S) -> bool:
    """Return whether the broker acknowledges a message within so many seconds."""
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
    """Return whether the broker acknowledges messages again, calling its `check` meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        broker.check()
        if carried(broker, known):
            return True
    return False


def main(kind: str) -> None:
    """Run the test and print the results."""
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
