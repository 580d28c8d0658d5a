"""A desk for one test, and a real browser for all of them; each opens a context of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from broker.scorer.dashboard import ViewFeed
from broker.web.server import DeskServer
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.web import sample

ARGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


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


# Its driver keeps an event loop running in the main thread, in which no other may run: see `tests/event_loop.py`.
@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium is missing; install it with: sudo apt-get install chromium")
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(ARGS))
        yield chromium
        chromium.close()
