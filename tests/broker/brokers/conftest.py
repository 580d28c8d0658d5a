"""Real brokers: each test that asks for a `hall` runs with both kinds and ends what it started."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from broker.brokers import Kind, make_broker
from broker.credentials import Credentials
from tests.broker.brokers.hall import EVENT, TABLES, Hall


@pytest.fixture(scope="session")
def credentials() -> Credentials:
    return Credentials.create(TABLES)


@pytest.fixture(params=["embedded", "mosquitto"])
def kind(request: pytest.FixtureRequest) -> Kind:
    kinds: dict[str, Kind] = {"embedded": "embedded", "mosquitto": "mosquitto"}
    return kinds[request.param]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "the event's broker"  # a blank and an apostrophe: paths of people have them


@pytest.fixture
def hall(kind: Kind, folder: Path, credentials: Credentials) -> Iterator[Hall]:
    with make_broker(kind, folder, EVENT, credentials, tables=TABLES) as broker, ExitStack() as leaving:
        yield Hall(broker, credentials, folder, leaving)
