"""The browser for tests of pages: Debian's Chromium without what only a visible window needs.

It takes less than half of the processor time of a full Chromium for the same pages.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Final, TypeVar

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.patience import PATIENCE_S

PROGRAM: Final = "chromium-headless-shell"

ARGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


Opened = TypeVar("Opened", BrowserContext, Page)


def patient(opens: Callable[..., Opened]) -> Callable[..., Opened]:
    """Return a function that opens something with the tests' timeout instead of half a minute."""

    @wraps(opens)
    def opened(*args: object, **options: object) -> Opened:
        made = opens(*args, **options)
        made.set_default_timeout(PATIENCE_S * 1000)
        return made

    return opened


pytest.MonkeyPatch().setattr(Browser, "new_context", patient(Browser.new_context))
pytest.MonkeyPatch().setattr(Browser, "new_page", patient(Browser.new_page))


@contextmanager
def chromium(*arguments: str) -> Iterator[Browser]:
    """Run a browser, with arguments in addition to those of all tests. Raises FileNotFoundError."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise FileNotFoundError(f"{PROGRAM} is missing; install it with: sudo apt-get install {PROGRAM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=[*ARGS, *arguments], timeout=PATIENCE_S * 1000
        )
        yield browser
        browser.close()
