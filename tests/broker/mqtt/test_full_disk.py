"""A broker goes on when a disk that was full has room again."""

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["embedded", "mosquitto"])
def test_a_broker_whose_disk_was_full_carries_messages_as_soon_as_there_is_room(kind: str) -> None:
    command = [sys.executable, "-m", "tests.broker.mqtt.full_disk", kind]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    if said.stdout == "no mounts\n":
        pytest.skip("nobody here may mount a disk")
    assert said.stdout.splitlines()[-1] == "broker: carried carried", said
