"""Scorers on copies of one folder: real processes, both brokers, and only one scorer active at a time."""

import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from queue import Empty
from typing import Final

import pytest
from msgspec.structs import replace

from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.process import Broker
from broker.mqtt.programs import Kind
from broker.protocol import Receipt, ScorerState, decode, encode, topics
from broker.protocol.tls import Identity
from broker.sim.demo_event import NAME
from broker.sim.processes import COMMAND, DemoProcess
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.client import Client
from tests.broker.scorer.small import state
from tests.demo_event import MakeEvent
from tests.e2e.standstill import explained
from tests.encryption import table_identity
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow

PATIENT: Final = (
    f"from broker.scorer import lease; lease.ANSWER_S = lease.LONG_S = {PATIENCE_S}; "
    "from broker.cli.main import homologue; homologue()"
)
"""Start of a scorer that waits indefinitely for another's answer, which may be slow on a busy machine."""

LAST_LINES = 30

TRIES = 10


class Machines:
    """A broker, and copies of an event's folder as on several machines."""

    def __init__(self, folder: Path, broker: Broker, leaving: ExitStack) -> None:
        self.folder, self.broker, self._leaving = folder, broker, leaving
        self.said: list[str] = []
        self._scorers: list[DemoProcess] = []

    def copy(self, new: str) -> None:
        """Copy the first machine's folder while its scorer runs."""
        shutil.copytree(self.folder / "a", self.folder / new, ignore=shutil.ignore_patterns("*.new"))

    def start(self, name: str, *options: str, patient: bool = False) -> DemoProcess:
        """Start a scorer on a machine. If `patient`, it waits indefinitely for another's answer."""
        program = (sys.executable, "-c", PATIENT) if patient else (str(COMMAND),)
        where = f"127.0.0.1:{self.broker.port}"
        command = ["scorer", str(self.folder / name), "--broker", where, "--desk-port", "0", *options]
        child = DemoProcess(name, command, lambda who, line: self.said.append(f"{who}: {line}"), program)
        self._scorers.append(child)
        self._leaving.callback(child.stop)
        return child

    def shown(self) -> tuple[str, Identity]:
        """Return the key that table 1 trusts, and its own."""
        event = self.folder / "a"
        return Certificates.of_event(event).authority, table_identity(event, 1)

    def explained(self) -> AbstractContextManager[None]:
        """Wait within this context. If the wait fails, scorers and broker print diagnostics."""
        return explained(self._log, self._scorers)

    def _log(self) -> list[str]:
        broker = self.broker.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [*broker[-LAST_LINES:], *self.said]

    def active(self, name: str, *options: str) -> DemoProcess:
        """Start a scorer, and wait until its desk is open."""
        child = self.start(name, *options)
        child.wait_for(r"^Desk: (\S+)", PATIENCE_S)
        return child


@pytest.fixture(params=["embedded", "mosquitto"])
def machines(request: pytest.FixtureRequest, tmp_path: Path, demo_event: MakeEvent) -> Iterator[Machines]:
    kind: Kind = request.param
    demo_event(tmp_path / "a", 1)
    known = Credentials.load(tmp_path / "a" / "credentials.json")
    table_identity(tmp_path / "a", 1)
    trust = Certificates.of_event(tmp_path / "a")
    broker = make_broker(kind, tmp_path / "broker", NAME, known, tables=1, certificates=trust)
    with broker, ExitStack() as leaving:
        yield Machines(tmp_path, broker, leaving)


@pytest.fixture
def table(machines: Machines) -> Iterator[Callable[[int], Receipt]]:
    """Return a table's hello and the active scorer's receipt, which it sends only to a known device."""
    authority, identity = machines.shown()
    assert identity.key is not None
    device = identity.key.device
    with Client(machines.broker, session="table-1") as client:
        client.trust(authority, identity)
        assert client.connect()
        assert client.subscribe(topics.RECEIPT.at(NAME, table=1)) == [True]

        def hello(start: int) -> Receipt:
            with machines.explained():
                if start == 1:
                    client.hear()  # skip messages that the scorer publishes when it connects
                while not client.heard.empty():
                    client.heard.get()
                said = replace(state(1, start=start, device=device), event=NAME)
                for _ in range(TRIES):  # a state sent while the scorer subscribes may not be answered
                    client.say(topics.STATE.at(NAME, table=1), encode(said), retain=True)
                    with suppress(Empty):
                        return decode(Receipt, client.heard.get(timeout=PATIENCE_S / TRIES).payload)
                raise TimeoutError("no scorer answers table 1")

        yield hello


@pytest.fixture
def beat(machines: Machines) -> Iterator[Callable[[], ScorerState]]:
    """Return the next heartbeat of a running scorer."""
    with Client(machines.broker) as client:
        client.trust(*machines.shown())
        assert client.connect()
        assert client.subscribe(topics.SCORER.at(NAME)) == [True]

        def heard() -> ScorerState:
            while not client.heard.empty():
                client.heard.get()
            return decode(ScorerState, client.hear().payload)

        yield heard


def test_a_scorer_on_a_copied_folder_is_refused_while_the_first_one_runs(
    machines: Machines, beat: Callable[[], ScorerState]
) -> None:
    first = machines.active("a")
    before = beat()
    machines.copy("b")
    second = machines.start("b", patient=True)
    second.wait_for(r"^homologue: another scorer is active on .* \[scorer_active\]", PATIENCE_S)
    assert second.wait(PATIENCE_S) == 1
    assert [line for line in machines.said if line.startswith("b: Desk")] == []
    after = beat()
    assert (after.run, after.term, after.lifecycle) == (before.run, before.term, "active")
    assert first.exit_code is None


def test_a_standby_on_a_copied_folder_takes_over_from_a_killed_scorer(
    machines: Machines, table: Callable[[int], Receipt]
) -> None:
    first = machines.active("a")
    machines.copy("b")
    second = machines.start("b", "--standby")
    second.wait_for(r"^Standby: scorer_active", PATIENCE_S)
    first.kill()
    second.wait_for(r"^Desk: ", PATIENCE_S)
    table(1)
    again = machines.start("a", patient=True)
    again.wait_for(r"^homologue: .* \[scorer_active\]", PATIENCE_S)
    assert again.wait(PATIENCE_S) == 1
    assert second.exit_code is None


def test_a_scorer_that_takes_over_works_without_a_desk_until_its_port_is_free(
    machines: Machines, table: Callable[[int], Receipt]
) -> None:
    first = machines.active("a")
    machines.copy("b")
    with socket.create_server(("127.0.0.1", 0)) as other:
        second = machines.start("b", "--standby", "--desk-port", str(other.getsockname()[1]))
        second.wait_for(r"^Standby: scorer_active", PATIENCE_S)
        first.kill()
        second.wait_for(r"^No desk yet: desk_port_taken: ", PATIENCE_S)
        table(1)
    second.wait_for(r"^Desk: ", PATIENCE_S)
    assert second.exit_code is None


def test_a_scorer_that_takes_over_works_if_the_address_of_its_desk_is_gone(
    machines: Machines, table: Callable[[int], Receipt]
) -> None:
    first = machines.active("a")
    machines.copy("b")
    second = machines.start("b", "--standby", "--desk-host", "192.0.2.1")  # an address of no machine (RFC 5737)
    second.wait_for(r"^Standby: scorer_active", PATIENCE_S)
    first.kill()
    second.wait_for(r"^No desk yet: desk_address_refused: ", PATIENCE_S)
    table(1)
    assert second.exit_code is None


def test_a_killed_scorer_restarts_at_once_in_the_same_folder(
    machines: Machines, table: Callable[[int], Receipt]
) -> None:
    for start in (1, 2, 3):
        scorer = machines.active("a")
        table(start)
        scorer.kill()
        scorer.stop()


def test_a_frozen_scorer_ends_when_it_wakes_up_after_a_takeover(
    machines: Machines, table: Callable[[int], Receipt]
) -> None:
    first = machines.active("a")
    table(1)
    machines.copy("b")
    os.kill(first.pid, signal.SIGSTOP)
    second = machines.active("b")  # the frozen scorer does not answer
    table(2)
    os.kill(first.pid, signal.SIGCONT)
    first.wait_for(r"^homologue: .* \[scorer_replaced\]", PATIENCE_S)
    assert first.wait(PATIENCE_S) == 1
    table(3)
    assert second.exit_code is None
