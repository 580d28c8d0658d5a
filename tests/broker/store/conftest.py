"""Stores of both kinds, and an event to copy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.store import Journal
from tests.broker.scorer.folders import event_folder, until_round
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


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    (tmp_path / "stick").mkdir()
    return tmp_path / "stick"


@pytest.fixture
def event(tmp_path: Path) -> Path:
    return event_folder(tmp_path / "event", until_round(3))
