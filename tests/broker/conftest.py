"""Fixtures: a PostgreSQL server, event folders, a scorer's journal and hall."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.scorer import service
from broker.store import SqliteJournal
from tests.broker.scorer.folders import declare, event_folder, until_round
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.store.server import Server
from tests.patience import PATIENCE_S

# The desk gives up after ten seconds, which may be too soon beside thirty busy processes.
pytest.MonkeyPatch().setattr(service, "PATIENCE_S", PATIENCE_S)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def over(tmp_path: Path) -> Path:
    """A finished event."""
    return event_folder(tmp_path / "over")


@pytest.fixture
def declared(over: Path) -> Path:
    """A finished event whose standings are declared final."""
    return declare(over)


@pytest.fixture
def under_way(tmp_path: Path) -> Path:
    """An event after its third round; each deal has yet to be played at one table."""
    return event_folder(tmp_path / "under-way", until_round(3))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    with open_journal(tmp_path) as opened:
        yield opened


@pytest.fixture
def hall(tmp_path: Path, journal: SqliteJournal) -> Hall:
    return make_hall(tmp_path, journal)
