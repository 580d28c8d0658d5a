"""A desk for one test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.scorer import ViewFeed
from broker.web.server import DeskServer
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.web import sample


@pytest.fixture
def feed() -> ViewFeed:
    return sample.feed()


@pytest.fixture
def desk(feed: ViewFeed) -> Iterator[DeskServer]:
    with DeskServer(feed, port=0) as server:
        yield server


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with open_journal(tmp_path) as journal:
        yield make_hall(tmp_path, journal)
