"""During a thousand silent connections, tables' facts are stored and receipted, and the log stays small."""

import fcntl
import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import msgspec
import pytest

from broker.mqtt import process
from broker.mqtt.access import Credentials
from broker.mqtt.process import FREE_CONNECTIONS, Broker, MqttBrokerSettings
from broker.mqtt.programs import Kind
from broker.protocol import encode, topics
from broker.protocol.link import Address
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.client import Client
from tests.broker.scorer.hall import NOW, admitting
from tests.broker.scorer.small import NAME, event, fact, restored
from tests.patience import PATIENCE_S

IDLE: Final = 1_000
ABOVE_SELECT: Final = 1_024
TABLES: Final = max(event().tables)
LOG_BYTES: Final = 200_000
FLOODS: Final = 5
SAID: Final = 200
"""Allowance for other lines in the log."""
OPEN_FILES_OF_A_UNIT: Final = 65_536

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("files")]


@pytest.fixture
def files() -> Iterator[None]:
    """Raise the limit of open files of this process."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def passwords() -> Credentials:
    return Credentials.create(TABLES)


@pytest.fixture
def broker(kind: Kind, tmp_path: Path, passwords: Credentials) -> Iterator[Broker]:
    with make_broker(kind, tmp_path / "broker", NAME, passwords, tables=TABLES) as made:
        yield made


@pytest.fixture
def scorer(broker: Broker, tmp_path: Path, passwords: Credentials) -> Iterator[Scorer]:
    """Return a running scorer."""
    stop, journal = threading.Event(), SqliteJournal(tmp_path / STORE, NAME)
    made = admitting(Scorer(event(), journal, tmp_path, lambda: NOW))
    made.connect(Address(broker.host, broker.port, "scorer", passwords.password("scorer")))
    thread = threading.Thread(target=made.run, args=(stop,))
    thread.start()
    yield made
    stop.set()
    thread.join()
    journal.close()


def receipted(table: Client, upto: int) -> bool:
    """Wait for the receipt of a table's facts up to this number."""
    while True:
        if msgspec.json.decode(table.hear().payload)["upto"] >= upto:
            return True


def idle(broker: Broker, leaving: ExitStack) -> None:
    """Open idle connections with high file numbers, because paho uses select(), which supports none above 1,023."""
    for _ in range(IDLE):
        with socket.create_connection((broker.host, broker.port)) as one:
            leaving.callback(os.close, fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, ABOVE_SELECT))


@pytest.mark.usefixtures("scorer")
def test_a_tables_facts_are_receipted_during_a_thousand_silent_connections(
    broker: Broker, passwords: Credentials, tmp_path: Path
) -> None:
    with ExitStack() as leaving:
        before = leaving.enter_context(Client(broker, "table-1", passwords.password("table-1")))
        assert before.connect()
        idle(broker, leaving)
        late = leaving.enter_context(Client(broker, "table-2", passwords.password("table-2")))
        assert late.connect()
        for table, client in ((1, before), (2, late)):
            assert client.subscribe(topics.RECEIPT.at(NAME, table=table)) == [True]
            for seq in (1, 2, 3):
                client.say(topics.LOG.at(NAME, table=table), encode(fact(table, seq, restored(table))))
                assert receipted(client, seq)
    logs = [*(tmp_path / "broker").glob("*.log*")]
    assert sum(log.stat().st_size for log in logs) < LOG_BYTES


def test_repeated_floods_leave_a_small_log(broker: Broker, tmp_path: Path) -> None:
    for _ in range(FLOODS):
        with ExitStack() as leaving:
            idle(broker, leaving)
    (log,) = (tmp_path / "broker").glob("*.log")
    assert len(log.read_bytes().splitlines()) < FLOODS * IDLE + SAID  # one line for each closed connection


def test_the_embedded_broker_closes_silent_connections(tmp_path: Path, passwords: Credentials) -> None:
    """Mosquitto has no such setting, and waits for a minute and a half."""
    with (
        make_broker("embedded", tmp_path / "broker", NAME, passwords, tables=TABLES) as broker,
        socket.create_connection((broker.host, broker.port), PATIENCE_S) as silent,
    ):
        while silent.recv(1024):
            pass


def test_connections_are_limited(
    kind: Kind, tmp_path: Path, passwords: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These connections authenticate, since the embedded broker closes others after a while anyway."""
    monkeypatch.setattr(process, "FREE_CONNECTIONS", 4)
    room = 4 + 4 * TABLES
    with make_broker(kind, tmp_path / "broker", NAME, passwords, tables=TABLES) as broker, ExitStack() as leaving:
        clients = [
            leaving.enter_context(Client(broker, "table-1", passwords.password("table-1"))) for _ in range(room + 2)
        ]
        let_in = [client.connect() for client in clients]
        assert all(let_in[:room])
        assert not let_in[-1]  # Mosquitto 2.0.11 accepts one more than configured
        clients[0].say(topics.LOG.at(NAME, table=1), encode(fact(1, 1, restored(1))))


def test_the_largest_event_fits_the_open_file_limit_of_a_unit(tmp_path: Path) -> None:
    tables = 9_999
    settings = MqttBrokerSettings(folder=tmp_path, event=NAME, credentials=Credentials.create(tables), tables=tables)
    assert 4 * tables + FREE_CONNECTIONS == settings.connections
    assert settings.connections < OPEN_FILES_OF_A_UNIT
