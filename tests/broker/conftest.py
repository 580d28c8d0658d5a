"""Folders of events that were played, for the tests of what is made from them; and a real PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.store.server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def over(tmp_path: Path) -> Path:
    """An event that is over."""
    return event_folder(tmp_path / "over")


@pytest.fixture
def under_way(tmp_path: Path) -> Path:
    """An event after its third round: every deal is still to be played by one table."""
    return event_folder(tmp_path / "under-way", until_round(3))
