"""TLS with the event's own certificates on both brokers, and the files for a hall's Mosquitto."""

import json
import os
import queue
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.standby import reserve_port
from broker.mqtt import mosquitto
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates, device_user
from broker.mqtt.mosquitto import USERS_TOPIC, MosquittoBroker, find_mosquitto, this_user, write_hall_files
from broker.mqtt.process import Broker, MqttBrokerSettings, probe_broker
from broker.mqtt.programs import Kind
from broker.protocol import SigningKey
from broker.protocol.link import Address, Incoming, Link, LinkChanged, LinkDown
from broker.protocol.tls import Identity, event_context
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.client import Client, Heard
from tests.broker.mqtt.hall import EVENT, TABLES
from tests.e2e.proxy import Proxy
from tests.patience import PATIENCE_S, tries
from tests.systemd.units import unit, values

CONNECT = b"\x10\x10\0\4MQTT\4\2\0\x3c\0\4late"
"""A CONNECT packet: MQTT 3.1.1, clean session, 60 s keepalive, client `late`."""

CLIENT_HELLO = b"\x16\x03\x01"
"""The first bytes of a TLS connection."""

LOG = f"hm/{EVENT}/table/{{table}}/log"


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates.ensure(tmp_path / "event")


def device(certificates: Certificates, table: int, key: SigningKey | None = None) -> Identity:
    """Return a table's device with a certificate, as after pairing."""
    key = key or SigningKey.new()
    path = certificates.folder / f"given-{key.device}.crt"
    path.write_text(certificates.issue(table, key.public), "ascii")
    return Identity(path, key)


@dataclass
class TlsHall:
    """A broker with TLS, and its clients, which are closed at the end."""

    broker: Broker
    certificates: Certificates
    credentials: Credentials
    leaving: ExitStack

    def client(self, identity: Identity) -> Client:
        """Return a connected client. Like a device, it retries while the broker reloads its files."""
        for _ in tries():
            if self.refuses(identity) is not None:
                continue
            made = self.leaving.enter_context(Client(self.broker))
            made.trust(self.certificates.authority, identity)
            if made.connect():
                return made
        raise AssertionError("not let in")

    def scorer(self) -> Client:
        """Return a client that receives the facts of all tables."""
        made = self.client(self.certificates.office("scorer"))
        assert made.subscribe(LOG.format(table="+")) == [True]
        return made

    def refuses(self, identity: Identity | None, login: tuple[str, str] | None = None) -> str | None:
        """Return why the broker rejects a client, or None if it accepts it."""
        context = event_context(self.certificates.authority, identity)
        return probe_broker(self.broker.host, self.broker.port, login, context)


@pytest.fixture
def hall(kind: Kind, folder: Path, credentials: Credentials, certificates: Certificates) -> Iterator[TlsHall]:
    made = make_broker(kind, folder, EVENT, credentials, tables=TABLES, certificates=certificates)
    with made, ExitStack() as leaving:
        yield TlsHall(made, certificates, credentials, leaving)


def learn(hall: TlsHall) -> None:
    """Make the broker reload, as the scorer does. Mosquitto may be busy with an earlier reload."""
    pause, ends = threading.Event(), time.monotonic() + PATIENCE_S
    while hall.broker._stamp != hall.broker._certificates_stamp():
        assert time.monotonic() < ends
        hall.broker.check()
        pause.wait(0.01)


def test_a_device_connects_with_the_key_that_signs_its_facts(
    kind: Kind, folder: Path, credentials: Credentials, certificates: Certificates
) -> None:
    table = device(certificates, 3)
    broker = make_broker(kind, folder, EVENT, credentials, tables=TABLES, certificates=certificates)
    with broker, ExitStack() as leaving:
        hall = TlsHall(broker, certificates, credentials, leaving)
        scorer, client = hall.scorer(), hall.client(table)
        client.say(LOG.format(table=3), b"over TLS")
        assert scorer.hear() == Heard(LOG.format(table=3), b"over TLS")


def test_a_device_paired_while_the_broker_runs_is_accepted(hall: TlsHall) -> None:
    table = device(hall.certificates, 3)
    learn(hall)
    scorer = hall.scorer()
    hall.client(table).say(LOG.format(table=3), b"new")
    assert scorer.hear().payload == b"new"


@pytest.mark.parametrize("kind", ["mosquitto"])
def test_a_device_paired_while_mosquitto_reloads_is_accepted(hall: TlsHall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mosquitto drops a signal that arrives during a reload."""
    rights, kill = hall.broker.log.with_name("acl"), os.kill
    before = rights.read_bytes()

    def kill_and_hold(pid: int, number: int) -> None:
        monkeypatch.undo()
        rights.unlink()
        os.mkfifo(rights)
        kill(pid, number)

    monkeypatch.setattr(os, "kill", kill_and_hold)
    device(hall.certificates, 2)
    hall.broker.check()
    with (
        suppress(BrokenPipeError),
        rights.open("wb") as reading,
    ):  # blocks until Mosquitto opens it, which may also fail
        table = device(hall.certificates, 3)
        hall.broker.check()
        reading.write(before)
    learn(hall)
    say_until_heard(hall.scorer(), hall.client(table), 3)


def test_a_link_reconnects_after_an_interrupted_handshake(hall: TlsHall) -> None:
    scorer, changes = hall.certificates.office("scorer"), queue.SimpleQueue[Incoming | LinkChanged]()
    with closing(Proxy(hall.broker.port)) as network:
        network.lose_answer_to(CLIENT_HELLO)
        address = Address("127.0.0.1", network.port, "scorer", "", hall.certificates.ca, identity=scorer)
        link = Link(address, "link", [LOG.format(table="+")], changes.put, persistent=False)
        link.start()
        try:
            told = [changes.get(timeout=PATIENCE_S) for _ in range(2)]
        finally:
            link.stop()
    assert [isinstance(one, LinkChanged) and (one.up, type(one.why)) for one in told] == [
        (False, LinkDown),
        (True, type(None)),
    ]


def test_a_password_without_a_key_is_rejected(hall: TlsHall) -> None:
    login = hall.credentials.table(3)
    assert probe_broker(hall.broker.host, hall.broker.port, login) is not None
    assert hall.refuses(None, login) is not None


def test_a_certificate_of_another_authority_is_rejected(hall: TlsHall, tmp_path: Path) -> None:
    foreign = Certificates.ensure(tmp_path / "other")
    assert hall.refuses(device(foreign, 3)) is not None
    assert hall.refuses(foreign.office("scorer"), ("scorer", hall.credentials.password("scorer"))) is not None


def test_a_certificate_without_its_key_is_rejected(hall: TlsHall) -> None:
    stolen = device(hall.certificates, 3).certificate
    learn(hall)
    assert hall.refuses(Identity(stolen, SigningKey.new())) is not None


def test_a_stolen_password_is_useless_with_another_tables_certificate(hall: TlsHall) -> None:
    other, scorer = device(hall.certificates, 5), hall.scorer()
    learn(hall)
    thief = hall.leaving.enter_context(Client(hall.broker, *hall.credentials.table(3)))
    thief.trust(hall.certificates.authority, other)
    if thief.connect():  # Mosquitto uses the name in the certificate
        thief.attempt(LOG.format(table=3), b"forged")
        thief.say(LOG.format(table=5), b"own")
        assert scorer.hear() == Heard(LOG.format(table=5), b"own")


def test_a_client_rejects_a_server_of_another_authority(hall: TlsHall, tmp_path: Path) -> None:
    foreign = event_context(Certificates.ensure(tmp_path / "other").authority, None)
    assert "verify failed" in str(probe_broker(hall.broker.host, hall.broker.port, context=foreign))


def test_a_tables_certificate_cannot_be_used_by_a_server(certificates: Certificates) -> None:
    table = device(certificates, 3)
    assert table.key is not None
    pem = certificates.folder / "both.pem"
    pem.write_bytes(table.certificate.read_bytes() + table.key.to_pem())
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = event_context(certificates.authority).wrap_bio(here, there)
    server = serving.wrap_bio(there, here, server_side=True)
    with pytest.raises(ssl.SSLError, match="certificate purpose"):
        shake_hands(client, server)


def shake_hands(*sides: ssl.SSLObject) -> None:
    """Complete a handshake. Raises ssl.SSLError if it is refused."""
    for side in (*sides, *sides, *sides):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()


def test_a_revoked_device_is_disconnected_at_once_and_no_other(hall: TlsHall) -> None:
    lost, other = device(hall.certificates, 3), device(hall.certificates, 5)
    learn(hall)
    scorer, stolen, client = hall.scorer(), hall.client(lost), hall.client(other)
    stolen.say(LOG.format(table=3), b"before")
    assert scorer.hear().payload == b"before"
    hall.certificates.revoke(3)
    learn(hall)
    stolen.gone.get(timeout=PATIENCE_S)
    assert hall.refuses(lost)
    client.say(LOG.format(table=5), b"goes on")
    assert scorer.hear() == Heard(LOG.format(table=5), b"goes on")
    assert client.gone.empty()
    assert scorer.gone.empty()


def test_a_device_with_a_renewed_certificate_stays_connected_while_others_are_revoked(hall: TlsHall) -> None:
    key, lost = SigningKey.new(), device(hall.certificates, 5)
    device(hall.certificates, 3, key)
    hall.certificates.revoke(3)
    renewed = device(hall.certificates, 3, key)
    learn(hall)
    client, stolen = hall.client(renewed), hall.client(lost)
    hall.certificates.revoke(5)
    learn(hall)
    stolen.gone.get(timeout=PATIENCE_S)
    scorer = hall.scorer()
    client.say(LOG.format(table=3), b"goes on")
    assert scorer.hear() == Heard(LOG.format(table=3), b"goes on")
    assert client.gone.empty()


def test_closing_an_event_disconnects_all_devices(hall: TlsHall) -> None:
    everybody = [device(hall.certificates, table) for table in (1, 2, 3) for _ in range(40)]
    learn(hall)
    clients = [hall.client(everybody[at]) for at in (0, 55, 119)]
    hall.certificates.follow(lambda _table, _device: False, lambda _table, _device: True)
    learn(hall)
    for client in clients:
        client.gone.get(timeout=PATIENCE_S)


@pytest.mark.parametrize("kind", ["mosquitto"])
def test_a_device_revoked_while_connecting_does_not_stay_connected(
    hall: TlsHall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mosquitto, "UNFINISHED_S", 0.5)
    lost, other = device(hall.certificates, 3), device(hall.certificates, 5)
    learn(hall)
    client = hall.client(other)
    with socket.create_connection((hall.broker.host, hall.broker.port), timeout=PATIENCE_S) as begun:
        hall.client(hall.certificates.office("arbiter"))  # by now the broker has accepted the connection
        hall.certificates.revoke(3)
        learn(hall)
        until_refused(hall, lost)
        with suppress(OSError), event_context(hall.certificates.authority, lost).wrap_socket(begun) as line:
            line.sendall(CONNECT)
            while line.recv(100):
                pass
    assert client.gone.empty()


def test_only_the_scorer_can_close_connections(hall: TlsHall) -> None:
    table, other = device(hall.certificates, 3), device(hall.certificates, 5)
    learn(hall)
    scorer, client = hall.scorer(), hall.client(other)
    user = device_user(5, other.key.device if other.key else "")
    commands = [{"command": command, "username": user} for command in ("createClient", "deleteClient")]
    forged = json.dumps({"commands": commands}).encode()
    for role in ("desk", "arbiter", "display"):
        hall.client(hall.certificates.office(role)).attempt(USERS_TOPIC, forged)
    hall.client(table).attempt(USERS_TOPIC, forged)
    client.say(LOG.format(table=5), b"goes on")
    assert scorer.hear() == Heard(LOG.format(table=5), b"goes on")
    assert client.gone.empty()


def until_refused(hall: TlsHall, identity: Identity) -> None:
    """Wait until the broker rejects an identity, since it does not confirm a reload."""
    for _ in tries():
        if hall.refuses(identity):
            return
    raise AssertionError("still let in")


def test_a_revoked_device_receives_nothing_more(hall: TlsHall) -> None:
    lost, order = device(hall.certificates, 3), f"hm/{EVENT}/order/3"
    learn(hall)
    stolen, desk = hall.client(lost), hall.client(hall.certificates.office("desk"))
    stolen.subscribe(order)
    desk.say(order, b"before")
    assert stolen.hear().payload == b"before"
    hall.certificates.revoke(3)
    learn(hall)
    until_refused(hall, lost)
    desk.say(order, b"after")
    fresh = device(hall.certificates, 3)
    learn(hall)
    client = hall.client(fresh)
    client.subscribe(order)
    desk.say(order, b"to the new one")
    assert client.hear().payload == b"to the new one"
    assert stolen.heard.empty()


def test_a_device_accepted_again_can_connect_unless_it_was_revoked_by_command(hall: TlsHall) -> None:
    held, out = SigningKey.new(), SigningKey.new()
    devices = {key.device: device(hall.certificates, 3, key) for key in (held, out)}
    hall.certificates.revoke(3, out.device[:8])
    hall.certificates.follow(lambda _table, _device: False, lambda _table, _device: True)
    learn(hall)
    for one in devices.values():
        until_refused(hall, one)
    hall.certificates.follow(lambda _table, _device: True, lambda _table, _device: True)
    learn(hall)
    assert any(hall.refuses(devices[held.device]) is None for _ in tries())
    assert hall.refuses(devices[out.device]) is not None


def test_renewing_the_server_certificate_disconnects_nobody(hall: TlsHall) -> None:
    scorer, before = hall.scorer(), shown(hall.broker)
    hall.certificates.renew(["192.0.2.7"])
    learn(hall)
    assert any(shown(hall.broker) not in {b"", before} for _ in tries())
    assert scorer.gone.empty()
    hall.client(hall.certificates.office("arbiter"))


def shown(broker: Broker) -> bytes:
    """Return the broker's certificate; empty if it closes the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        suppress(ConnectionError, ssl.SSLEOFError),
        socket.create_connection((broker.host, broker.port)) as plain,
        context.wrap_socket(plain) as line,
    ):
        return line.getpeercert(binary_form=True) or b""
    return b""


def test_certificates_made_by_a_wrong_clock_are_accepted(
    kind: Kind, folder: Path, credentials: Credentials, tmp_path: Path
) -> None:
    for year in (2003, 2090):
        clock = partial(datetime, year, 1, 1, tzinfo=UTC)
        certificates = Certificates.ensure(tmp_path / str(year), now=clock)
        table = device(certificates, 3)
        broker = make_broker(kind, folder / str(year), EVENT, credentials, tables=TABLES, certificates=certificates)
        with broker, ExitStack() as leaving:
            TlsHall(broker, certificates, credentials, leaving).client(table).say(LOG.format(table=3), b"in")


# ---- the hall's Mosquitto ---------------------------------------------------------------------


@dataclass
class Written(MosquittoBroker):
    """A Mosquitto that runs with existing files, as a service does."""

    configuration: Path
    settings: MqttBrokerSettings

    def __post_init__(self) -> None:
        super().__init__(self.settings)

    def _command(self, port: int) -> list[str]:
        assert port == self.settings.port
        return [find_mosquitto(), "-c", str(self.configuration)]


def generate(tmp_path: Path, port: int, *more: str) -> Result:
    """Run the command that writes the files."""
    arguments = {
        "--event": EVENT,
        "--tables": TABLES,
        "--folder": tmp_path / "etc",
        "--store": tmp_path / "var",
        "--event-folder": tmp_path / "event",
        "--host": "127.0.0.1",
        "--port": port,
    }
    words = [str(word) for pair in arguments.items() for word in pair]
    return CliRunner().invoke(write_hall_files, [*words, *more], catch_exceptions=False)


def test_a_halls_mosquitto_follows_pairings_and_revocations(
    tmp_path: Path, credentials: Credentials, certificates: Certificates
) -> None:
    port = reserve_port()
    said = generate(tmp_path, port, "--owner", this_user())
    assert said.exit_code == 0, said.output
    settings = MqttBrokerSettings(
        folder=tmp_path / "run",
        event=EVENT,
        credentials=credentials,
        tables=TABLES,
        certificates=certificates,
        port=port,
    )
    with (
        Written(tmp_path / "etc" / "homologue.conf", settings) as made,
        following(tmp_path, port, made.pid),
        ExitStack() as leaving,
    ):
        hall = TlsHall(made, certificates, credentials, leaving)
        scorer, table, other = hall.scorer(), device(certificates, 3), device(certificates, 5)
        client, goes_on = hall.client(table), hall.client(other)
        say_until_heard(scorer, client, 3)
        certificates.revoke(3)
        client.gone.get(timeout=PATIENCE_S)
        until_refused(hall, table)
        say_until_heard(scorer, goes_on, 5)
        assert goes_on.gone.empty()
    assert (tmp_path / "var" / "homologue.db").is_file()


def say_until_heard(scorer: Client, table: Client, number: int) -> None:
    """Publish as a table until it arrives, because certificates become valid shortly before permissions."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        table.say(LOG.format(table=number), b"in")
        while not scorer.heard.empty():
            if scorer.hear() == Heard(LOG.format(table=number), b"in"):
                return
    raise AssertionError("not heard")


@contextmanager
def following(tmp_path: Path, port: int, pid: int | None) -> Iterator[None]:
    """Run the command of homologue-mosquitto-certificates.service, with a script instead of systemctl."""
    (reload,) = values(unit("homologue-mosquitto.service"), "ExecReload")
    (line,) = values(unit("homologue-mosquitto-certificates.service"), "ExecStart")
    interpreter, *words = line.split()
    assert Path(interpreter).name == "python3"
    assert words[-3:] == ["--follow", "homologue-mosquitto", "$HALL"]
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.parent.mkdir()
    asked = '[ "$*" = "reload-or-restart homologue-mosquitto" ] || exit 1'
    systemctl.write_text(f"#!/bin/sh\n{asked}\nMAINPID={pid}\n{reload}\n", encoding="ascii")
    systemctl.chmod(0o755)
    installed = {"/etc/homologue/mosquitto": tmp_path / "etc", "/var/lib/homologue/mosquitto": tmp_path / "var"}
    command = [str(installed.get(word, this_user() if word == "mosquitto" else word)) for word in words[:-1]]
    hall = ["--event", EVENT, "--tables", TABLES, "--event-folder", tmp_path / "event", "--port", port]
    process = subprocess.Popen(
        [sys.executable, *command, *map(str, hall), "--host", "127.0.0.1"],
        env=os.environ | {"PATH": f"{systemctl.parent}:{os.environ['PATH']}"},
    )
    try:
        yield
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_running_without_tls_requires_an_option_and_keeps_passwords(tmp_path: Path) -> None:
    assert generate(tmp_path, 8883).output.startswith("Error: certificates_missing: ")
    generate(tmp_path, 8883, "--plain")
    first = Credentials.load(tmp_path / "event" / "credentials.json")
    generate(tmp_path, 8883, "--plain")
    assert Credentials.load(tmp_path / "event" / "credentials.json") == first


def test_only_the_owner_can_read_the_files_for_a_hall(tmp_path: Path, certificates: Certificates) -> None:
    assert certificates.folder.is_dir()
    generate(tmp_path, 8883)
    files = sorted((tmp_path / "etc").iterdir())
    names = ["acl", "ca.crt", "homologue.conf", "revoked.crl", "server.crt", "server.key"]
    assert [path.name for path in files] == names
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the owner of files")
def test_a_symbolic_link_placed_by_the_owner_is_not_followed(tmp_path: Path, certificates: Certificates) -> None:
    assert certificates.folder.is_dir()
    secret = tmp_path / "secret"
    secret.touch()
    generate(tmp_path, 8883, "--owner", "nobody")
    for folder, name in (("etc", "link"), ("etc", "acl"), ("var", "users.json")):
        (tmp_path / folder / name).unlink(missing_ok=True)
        (tmp_path / folder / name).symlink_to(secret)
    assert generate(tmp_path, 8883, "--owner", "nobody").exit_code == 0
    assert (secret.owner(), secret.read_bytes()) == ("root", b"")
    assert ((tmp_path / "etc" / "acl").owner(), (tmp_path / "var" / "users.json").owner()) == ("nobody", "nobody")


def test_the_follow_option_requires_certificates(tmp_path: Path) -> None:
    assert generate(tmp_path, 8883, "--plain", "--follow", "homologue-mosquitto").exit_code == 2


def test_invalid_options_are_reported_in_one_line(tmp_path: Path, certificates: Certificates) -> None:
    assert certificates.folder.is_dir()
    said = generate(tmp_path, 8883, "--event", "no event")
    assert said.exit_code == 1
    assert said.output.startswith("Error: broker_setting_refused: ")
    nobody = generate(tmp_path, 8883, "--owner", "nobody-of-that-name")
    assert nobody.exit_code == 1
    assert "nobody-of-that-name" in nobody.output


def test_the_command_has_help() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "broker.mqtt.mosquitto", "--help"], check=True, capture_output=True, text=True
    )
    assert "--event-folder" in said.stdout


def test_a_devices_user_name_consists_of_its_table_and_key(certificates: Certificates) -> None:
    key = SigningKey.new()
    certificates.issue(3, key.public)
    assert [one.user for one in certificates.tables()] == [device_user(3, key.device)]
