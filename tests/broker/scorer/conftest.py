"""What the scorer's tests ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.store.sqlite import SqliteJournal
from tests.broker.scorer.hall import Hall, make_hall, open_journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    with open_journal(tmp_path) as opened:
        yield opened


@pytest.fixture
def hall(tmp_path: Path, journal: SqliteJournal) -> Hall:
    return make_hall(tmp_path, journal)
