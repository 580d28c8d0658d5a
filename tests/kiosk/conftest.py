"""A table's journal in a folder of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiosk.journal import TableJournal
from tests.kiosk.journals import OURS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "of a table" / "table.sqlite"


@pytest.fixture
def journal(path: Path) -> Iterator[TableJournal]:
    made = TableJournal(path, OURS)
    yield made
    made.close()
