"""Travellers, players, standings, grid, feed and display in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from broker.protocol import Substitute
from broker.store import AnchorPlace, find_anchor
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.small import NAME, state, whole_event, whole_play


@pytest.fixture
def room(hall: Hall) -> Iterator[DeskServer]:
    services = Services(lambda: hall.scorer.snapshot, hall.scorer.wire)
    with DeskServer(hall.scorer.feed, port=0, services=services) as server:
        yield server


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(locale="en-GB")
    yield opened
    opened.close()


def live(page: Page, room: DeskServer, path: str) -> None:
    page.goto(room.url + path)
    expect(page.locator("html[data-line=live]")).to_be_attached()


def test_a_new_result_appears_in_an_open_traveller(context: BrowserContext, room: DeskServer, hall: Hall) -> None:
    page = context.new_page()
    live(page, room, "deal/1")
    expect(page.locator("[data-key=none]")).to_be_visible()
    hall.hear(*whole_play(1))
    expect(page.locator(".traveller tbody tr")).to_have_count(1)
    expect(page.locator(".traveller .won")).to_contain_text("HV 18")


def test_a_paused_page_shows_the_news_when_it_continues(context: BrowserContext, room: DeskServer, hall: Hall) -> None:
    page = context.new_page()
    live(page, room, "wire")
    page.locator("#pause").click()
    expect(page.locator("#held")).to_contain_text("nothing new")
    hall.hear(state(1))
    expect(page.locator("#held")).to_contain_text("other news: ")
    expect(page.locator("[data-key=none]")).to_be_visible()
    page.locator("#go-on").click()
    expect(page.locator(".wire li").first).to_contain_text("hm/cup/")
    expect(page.locator("#held")).to_be_hidden()


def test_the_grid_counts_calls_in_its_title(context: BrowserContext, room: DeskServer, hall: Hall) -> None:
    hall.hear(state(2, calling=True), state(3, calling=True))
    page = context.new_page()
    live(page, room, "grid")
    expect(page.locator(".note.call")).to_have_count(2)
    expect(page.locator("tr.calling")).to_have_count(2)
    expect(page).to_have_title("(2) Grid · A small cup")


def test_the_display_shows_the_whole_anchor_on_any_screen(browser: Browser, room: DeskServer, hall: Hall) -> None:
    facts, sizes = whole_event(), [(1920, 1080), (1280, 720), (1080, 1920), (800, 480), (375, 667)]
    with browser.new_context() as screen:
        page = screen.new_page()
        page.clock.install()
        page.goto(f"{room.url}display")
        expect(page.locator(".anchor")).to_have_count(0)
        for number in (1, 2):
            hall.hear(*(message for message in facts if message.fact.round == number))
            page.clock.fast_forward(13_000)
            expect(page.locator("footer")).to_contain_text(f"Anchor after round {number}")
            place = find_anchor(page.locator(".anchor").inner_text(), NAME, hall.journal.linked_rows(), [])
            assert place == AnchorPlace(hall.journal.height, 0)
            assert [size for size in sizes if not shown_whole(page, size)] == []


def shown_whole(page: Page, size: tuple[int, int]) -> bool:
    """Return whether the whole anchor is visible on a screen of this width and height."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    box = page.locator(".anchor").bounding_box()
    return (
        box is not None
        and min(box["x"], box["y"]) >= 0
        and box["x"] + box["width"] <= size[0]
        and box["y"] + box["height"] <= size[1]
    )


def test_the_display_turns_its_pages_with_and_without_javascript(
    browser: Browser, room: DeskServer, hall: Hall
) -> None:
    hall.hear(*whole_event())
    with browser.new_context(java_script_enabled=False) as still:
        page = still.new_page()
        page.goto(f"{room.url}display")
        assert "url=/display?page=2" in page.content()
    with browser.new_context(viewport={"width": 1920, "height": 1080}) as big:
        page = big.new_page()
        page.clock.install()
        page.goto(f"{room.url}display")
        expect(page.locator("tbody tr")).to_have_count(16)  # as many as fit: two columns on a wide screen
        assert page.locator("table").count() == 2
        assert page.evaluate(
            "[document.documentElement, ...document.querySelectorAll('.columns')]"
            ".every((one) => one.scrollHeight <= one.clientHeight)"
        )
        page.goto(f"{room.url}display?lines=10&columns=1")
        expect(page.locator("tbody tr")).to_have_count(10)
        page.clock.fast_forward(13_000)
        expect(page.locator("tbody tr")).to_have_count(6)
        room.stop()
        page.clock.fast_forward(13_000)
        expect(page.locator("#lost")).to_be_visible()
        expect(page.locator("tbody tr")).to_have_count(6)


def test_the_display_fits_a_phone_and_keeps_its_lines_from_page_to_page(
    browser: Browser, room: DeskServer, hall: Hall
) -> None:
    hall.hear(*whole_event())
    with browser.new_context(viewport={"width": 390, "height": 600}) as phone:
        page = phone.new_page()
        page.clock.install()
        page.goto(f"{room.url}display")
        expect(page.locator("#display:not([data-lines='10'])")).to_be_attached()
        lines = int(page.locator("#display").get_attribute("data-lines") or 0)
        assert 10 < lines < 16
        for shown in (16 - lines, lines):
            page.clock.fast_forward(20_000)
            expect(page.locator("tbody tr")).to_have_count(shown)
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_a_long_substitute_name_does_not_widen_the_seating_page(
    context: BrowserContext, room: DeskServer, hall: Hall
) -> None:
    ruled = Substitute(player="p05", name=" ".join(["Wolfeschlegelsteinhausen"] * 4), first_round=1)
    hall.scorer.rulings.give(draft(hall.scorer.state, ruled), HEAD)
    hall.hear(state(1))
    page = context.new_page()
    for width in (800, 390):
        page.set_viewport_size({"width": width, "height": 800})
        live(page, room, "seating")
        expect(page.locator(".seating")).to_contain_text("Wolfeschlegelsteinhausen")
        assert page.locator(".scrolling").evaluate("(part) => part.scrollWidth - part.clientWidth") <= 0
