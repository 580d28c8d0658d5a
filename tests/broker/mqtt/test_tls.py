"""TLS, and the configuration for a hall as `python -m broker.mqtt.mosquitto` writes it."""

import socket
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.mqtt.access import Credentials
from broker.mqtt.mosquitto import MosquittoBroker, find_mosquitto, this_user, write_hall_files
from broker.mqtt.nats import NatsBroker
from broker.mqtt.process import BrokerTls, ChildBroker, MqttBrokerSettings, probe_broker
from tests.broker.mqtt.authority import make_tls
from tests.broker.mqtt.client import Client, Heard
from tests.broker.mqtt.hall import EVENT, TABLES


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> BrokerTls:
    return make_tls(tmp_path_factory.mktemp("authority"))


@dataclass
class Written(MosquittoBroker):
    """A Mosquitto that runs from files already written, as a service does."""

    configuration: Path
    settings: MqttBrokerSettings

    def __post_init__(self) -> None:
        super().__init__(self.settings)

    def _command(self, port: int) -> list[str]:
        assert port == self.settings.port
        return [find_mosquitto(), "-c", str(self.configuration)]


def say_and_hear(made: ChildBroker, settings: MqttBrokerSettings, authority: Path) -> None:
    """Send one message over TLS."""
    table = Client(made, *settings.credentials.table(3))
    scorer = Client(made, "scorer", settings.credentials.password("scorer"))
    for client in (table, scorer):
        client.trust(authority)
    with table, scorer:
        assert table.connect()
        assert scorer.connect()
        scorer.subscribe(f"hm/{EVENT}/table/+/log")
        table.say(f"hm/{EVENT}/table/3/log", b"over TLS")
        assert scorer.hear() == Heard(f"hm/{EVENT}/table/3/log", b"over TLS")


@pytest.mark.parametrize("type_", [NatsBroker, MosquittoBroker])
def test_both_brokers_speak_tls(
    type_: type[ChildBroker], folder: Path, credentials: Credentials, tls: BrokerTls
) -> None:
    settings = MqttBrokerSettings(folder=folder, event=EVENT, credentials=credentials, tables=TABLES, tls=tls)
    with type_(settings) as made:
        say_and_hear(made, settings, tls.authority)


@pytest.mark.parametrize("type_", [NatsBroker, MosquittoBroker])
def test_without_tls_or_with_another_authority_nobody_comes_in(
    type_: type[ChildBroker], folder: Path, credentials: Credentials, tls: BrokerTls, tmp_path: Path
) -> None:
    settings = MqttBrokerSettings(folder=folder, event=EVENT, credentials=credentials, tables=TABLES, tls=tls)
    foreign = replace(tls, authority=make_tls(tmp_path).authority)
    user, password = credentials.table(3)
    with type_(settings) as made:
        assert probe_broker(made.host, made.port, user, password)
        assert "verify failed" in str(probe_broker(made.host, made.port, user, password, tls=foreign))
        assert probe_broker(made.host, made.port, user, password, tls=tls) is None


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as trial:
        port: int = trial.getsockname()[1]
        return port


def generate(tmp_path: Path, tls: BrokerTls, port: int, *more: str) -> Result:
    """Run the command."""
    arguments = {
        "--event": EVENT,
        "--tables": TABLES,
        "--folder": tmp_path / "etc",
        "--store": tmp_path / "var",
        "--passwords": tmp_path / "credentials.json",
        "--certificate": tls.certificate,
        "--key": tls.key,
        "--authority": tls.authority,
        "--host": "127.0.0.1",
        "--port": port,
    }
    words = [str(word) for pair in arguments.items() for word in pair]
    return CliRunner().invoke(write_hall_files, [*words, *more], catch_exceptions=False)


def test_mosquitto_runs_from_the_configuration_for_a_hall(tmp_path: Path, tls: BrokerTls) -> None:
    port = free_port()
    said = generate(tmp_path, tls, port, "--owner", this_user())
    assert said.exit_code == 0, said.output
    credentials = Credentials.load(tmp_path / "credentials.json")
    settings = MqttBrokerSettings(
        folder=tmp_path / "run", event=EVENT, credentials=credentials, tables=TABLES, tls=tls, port=port
    )
    with Written(tmp_path / "etc" / "homologue.conf", settings) as made:
        say_and_hear(made, settings, tls.authority)
    assert (tmp_path / "var" / "homologue.db").is_file()


def test_made_again_everybody_keeps_his_password(tmp_path: Path, tls: BrokerTls) -> None:
    generate(tmp_path, tls, 8883)
    first = Credentials.load(tmp_path / "credentials.json")
    generate(tmp_path, tls, 8883)
    assert Credentials.load(tmp_path / "credentials.json") == first


def test_the_files_for_a_hall_are_for_the_owner_alone(tmp_path: Path, tls: BrokerTls) -> None:
    generate(tmp_path, tls, 8883)
    files = sorted((tmp_path / "etc").iterdir())
    assert [path.name for path in files] == ["acl", "homologue.conf", "passwords"]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_what_cannot_be_is_told_in_one_line(tmp_path: Path, tls: BrokerTls) -> None:
    said = generate(tmp_path, tls, 8883, "--event", "no event")
    assert said.exit_code == 1
    assert said.output.startswith("Error: broker_setting_refused: ")
    nobody = generate(tmp_path, tls, 8883, "--owner", "nobody-of-that-name")
    assert nobody.exit_code == 1
    assert "nobody-of-that-name" in nobody.output


def test_the_command_explains_itself() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "broker.mqtt.mosquitto", "--help"], check=True, capture_output=True, text=True
    )
    assert "--authority" in said.stdout
