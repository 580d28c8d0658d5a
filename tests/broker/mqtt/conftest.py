"""Real brokers of both kinds, shared by the tests of a worker, or a test's own if it stops or kills the broker."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.mqtt.programs import Kind
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.hall import EVENT, TABLES, Hall


@pytest.fixture(scope="session")
def credentials() -> Credentials:
    return Credentials.create(TABLES)


@pytest.fixture(params=["embedded", "mosquitto"])
def kind(request: pytest.FixtureRequest) -> Kind:
    kinds: dict[str, Kind] = {"embedded": "embedded", "mosquitto": "mosquitto"}
    return kinds[request.param]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "the event's broker"  # with a space and an apostrophe, as in people's paths


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory, credentials: Credentials) -> Iterator[Callable[[Kind], Broker]]:
    """Return a function that returns the worker's broker of a kind, starting it on the first call."""
    with ExitStack() as stopping:

        @cache
        def broker_of(kind: Kind) -> Broker:
            made = make_broker(kind, tmp_path_factory.mktemp(kind), EVENT, credentials, tables=TABLES)
            return stopping.enter_context(made)

        yield broker_of


@pytest.fixture
def hall(kind: Kind, running: Callable[[Kind], Broker], folder: Path, credentials: Credentials) -> Iterator[Hall]:
    """Return the worker's broker, on which retained messages are deleted after the test."""
    broker = running(kind)
    with ExitStack() as leaving:
        made = Hall(broker, credentials, folder, leaving)
        yield made
        made.clear()


@pytest.fixture
def own_hall(kind: Kind, folder: Path, credentials: Credentials) -> Iterator[Hall]:
    """Return a broker of the test's own, which it may stop and kill."""
    with make_broker(kind, folder, EVENT, credentials, tables=TABLES) as broker, ExitStack() as leaving:
        yield Hall(broker, credentials, folder, leaving)
