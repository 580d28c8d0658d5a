"""Visits to places in one browser and look; each role logs in once per desk."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from broker.web.server import DeskServer
from tests.broker.people.conftest import PASSWORD
from tests.broker.web.pages.desks import NOW
from tests.broker.web.pages.places import Place

SIZES: Final[Mapping[str, ViewportSize]] = {
    "phone": {"width": 390, "height": 844},
    "laptop": {"width": 1280, "height": 800},
    "projector": {"width": 1920, "height": 1080},
}
LOOKED_AT_S: Final = NOW / 1000 + 240
"""The browser's clock, four minutes after the last message, in seconds since 1970."""


class Look(NamedTuple):
    """Screen size, colour scheme and language of a browser."""

    size: str
    scheme: Literal["light", "dark"]
    language: str


class Visits:
    """The visits of one browser."""

    def __init__(self, browser: Browser, desks: Mapping[str, DeskServer], look: Look) -> None:
        self._browser, self._desks, self._look = browser, desks, look
        self._pages: dict[tuple[str, str | None], Page] = {}
        self.complaints: list[str] = []
        """Messages and errors on the browser's console."""

    def to(self, place: Place, language: str | None = None, size: ViewportSize | None = None) -> Page:
        """Open a place and prepare it. `language` and `size` override those of the look."""
        page = self._pages.get((place.desk, place.who)) or self._open(place)
        if size:
            page.set_viewport_size(size)
        mark = "&" if "?" in place.path else "?"
        page.goto(f"{self._desks[place.desk].url}{place.path[1:]}{mark}lang={language or self._look.language}")
        place.do(page)
        stop_reloading(page)
        return page

    def close(self) -> None:
        """Close all pages."""
        for page in self._pages.values():
            page.context.close()

    def _open(self, place: Place) -> Page:
        context = self._browser.new_context(
            viewport=SIZES[self._look.size], color_scheme=self._look.scheme, timezone_id="Europe/Paris"
        )
        context.clock.set_fixed_time(LOOKED_AT_S)
        page = self._pages[place.desk, place.who] = context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if place.who:
            log_in(context, self._desks[place.desk], place.who)
        return page


def stop_reloading(page: Page) -> None:
    """Keep a page that reloads itself after some seconds from reloading during a test."""
    page.evaluate("document.querySelector('meta[http-equiv=refresh]') && window.stop()")


def page_of(browser: Browser, desk: DeskServer, who: str, path: str = "", size: str = "laptop") -> Page:
    """Open a page of the desk in a new browser context as a user who has logged in."""
    context = browser.new_context(viewport=SIZES[size], locale="en-GB")
    log_in(context, desk, who)
    page = context.new_page()
    page.goto(f"{desk.url}{path}")
    return page


def log_in(context: BrowserContext, desk: DeskServer, who: str) -> None:
    """Log in without opening the login page, which is tested elsewhere."""
    origin = {"Origin": desk.url.rstrip("/")}
    answer = context.request.post(
        f"{desk.url}login", form={"name": who, "password": PASSWORD}, headers=origin, max_redirects=0
    )
    if answer.status != 303:
        raise RuntimeError(f"{who} could not log in: {answer.status}")
