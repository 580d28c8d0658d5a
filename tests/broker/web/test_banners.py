"""The red banner about lost messages: on every page of those who see the room, until the messages are back."""

from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, expect

from broker.i18n import languages
from broker.web.i18n import translators
from broker.web.labels import banners
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import state
from tests.broker.web.pages.desks import Whole, cup, quickly, timed, whole
from tests.broker.web.pages.places import HEAD, PLACES
from tests.broker.web.pages.visits import Look, Visits
from tests.broker.web.test_auth import logged_in

GONE: Final = [one for one in timed(until_round(2)) if one.table == 1 and one.fact.round == 2]
"""Messages for which table 1 has receipts, but which are not in the store."""

SHOWN: Final = sorted(
    {place.path for place in PLACES if (place.desk, place.who) == ("busy", HEAD)} - {"/deal/99", "/nothing-here"}
)


def shrink(desk: Whole) -> None:
    """Let table 1 report receipts for messages that the store does not have."""
    desk.hear(replace(state(1), store=desk.journal.store, safe=GONE[-1].seq))


def red(desk: Whole, language: str = "en") -> str:
    """Return the expected text of the banner."""
    (banner,) = banners(desk.scorer.feed.current)
    return translators()[language](banner)


def test_every_page_of_the_head_arbiter_shows_the_banner_in_each_language(tmp_path: Path) -> None:
    with quickly(), whole(tmp_path, cup(), until_round(1)) as desk, logged_in(desk.server, HEAD) as client:
        shrink(desk)
        assert len(SHOWN) > 20  # guards against an empty list of pages
        for language in languages():
            pages = {path: client.get(path, params={"lang": language}).text for path in SHOWN}
            assert [path for path, page in pages.items() if page.count(red(desk, language)) < 1] == []


@pytest.mark.parametrize("who", ["display", "organiser"])
def test_no_page_shows_the_banner_to_those_who_may_not_see_the_room(tmp_path: Path, who: str) -> None:
    with quickly(), whole(tmp_path, cup(), until_round(1)) as desk, logged_in(desk.server, who) as client:
        shrink(desk)
        assert [path for path in SHOWN if red(desk) in client.get(path).text] == []
        assert client.get("/view.json").json()["lost"] == 0


@pytest.mark.parametrize("path", ["/", "/grid", "/standings"])
def test_an_open_page_shows_and_removes_the_banner_live(browser: Browser, tmp_path: Path, path: str) -> None:
    place = next(one for one in PLACES if (one.desk, one.path) == ("busy", path))
    with quickly(), whole(tmp_path, cup(), until_round(1)) as desk:
        visits = Visits(browser, {"busy": desk.server}, Look("laptop", "light", "en"))
        page = visits.to(place)
        banner = page.locator(".bar.problem:not(.floating)")
        expect(banner).to_have_count(0)
        shrink(desk)
        expect(banner).to_have_text(red(desk))
        desk.hear(*GONE)
        expect(banner).to_have_count(0)
        visits.close()
