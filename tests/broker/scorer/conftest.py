"""What the scorer's tests ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.scorer.journal import Journal
from tests.broker.scorer.hall import Hall, make_hall, open_journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path) as opened:
        yield opened


@pytest.fixture
def hall(tmp_path: Path, journal: Journal) -> Hall:
    return make_hall(tmp_path, journal)
