"""Both stores: each test that asks for `kept` runs with SQLite and with a real PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.store.journal import Journal
from tests.broker.store.server import Server
from tests.broker.store.stores import Kept, in_postgresql


@pytest.fixture(params=["sqlite", "postgresql"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    if request.param == "sqlite":
        return Kept(tmp_path)
    return in_postgresql(tmp_path, request.getfixturevalue("server"))


@pytest.fixture
def journal(kept: Kept) -> Iterator[Journal]:
    with kept.journal() as opened:
        yield opened


@pytest.fixture
def postgresql(tmp_path: Path, server: Server) -> Kept:
    return in_postgresql(tmp_path, server)
