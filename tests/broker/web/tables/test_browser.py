"""The live dashboard in a real browser."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from broker.scorer import AlertView, DashboardView, ViewFeed
from broker.scorer.view import Attending
from broker.web.render import SHOWN_ALERTS
from broker.web.server import DeskServer
from tests.broker.web import sample


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", timezone_id="Asia/Shanghai")
    yield context.new_page()
    context.close()


def live(page: Page, desk: DeskServer, query: str = "") -> None:
    page.goto(desk.url + query)
    expect(page.locator("html[data-line=live]")).to_be_attached()


def publish(page: Page, feed: ViewFeed, view: DashboardView) -> None:
    """Publish a view and wait until the page shows it."""
    feed.publish(view)
    expect(page.locator("#progress")).to_have_attribute("value", str(view.plays_in))


def test_a_new_play_is_shown_first_and_announced(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    play = replace(feed.current.plays[0], table=4, deal=9)
    publish(page, feed, sample.newer(feed.current, plays=(play, *feed.current.plays), plays_in=8))
    expect(page.locator(".play").first).to_contain_text("Deal 9")
    expect(page.locator("#news")).to_contain_text("Table 4, deal 9: Won on a discard")


def test_an_update_does_not_move_what_is_being_read(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    page.set_viewport_size({"width": 1000, "height": 500})
    live(page, desk)
    page.evaluate(
        """() => {
          const row = document.querySelector('[data-key="play-1-1-1"]');
          row.scrollIntoView({ block: "center", behavior: "instant" });
          getSelection().selectAllChildren(row.querySelector(".name"));
          window.before = { row, top: row.getBoundingClientRect().top };
        }"""
    )
    play = replace(feed.current.plays[0], table=4, deal=9)
    alert = AlertView(at=sample.NOON, code="gap", table=1, text="Fact 7 of table 1 is missing", values={"number": 8})
    view = feed.current
    changed = sample.newer(view, plays=(play, *view.plays), alerts=(alert, *view.alerts), plays_in=8)
    publish(page, feed, changed)
    same, moved, selected = page.evaluate(
        """() => {
          const row = document.querySelector('[data-key="play-1-1-1"]');
          const moved = Math.abs(row.getBoundingClientRect().top - window.before.top);
          return [row === window.before.row, moved, getSelection().toString()];
        }"""
    )
    assert (same, moved < 2, selected) == (True, True, sample.NAMES["p01"])


def test_a_paused_page_counts_news_and_announces_calls(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    page.keyboard.press("Alt+p")
    expect(page.locator("#held")).to_contain_text("nothing new")
    view = feed.current
    play = replace(view.plays[0], table=4, deal=9)
    tables = (replace(view.tables[0], calling=True), *view.tables[1:])
    feed.publish(sample.newer(view, plays=(play, *view.plays), tables=tables, plays_in=8))
    expect(page.locator("#held")).to_contain_text("new calls: 1 · other news: 1")
    expect(page.locator("#news")).to_contain_text("Table 1 calls the arbiter")
    expect(page).to_have_title("(2) Tournoi international de Lille 2026 · Arbiter’s desk")
    assert page.locator("#progress").get_attribute("value") == "7"
    feed.publish(sample.newer(feed.current, plays=view.plays, tables=view.tables))
    expect(page.locator("#held")).to_contain_text("updates available")
    page.keyboard.press("Alt+p")
    expect(page.locator("#held")).to_be_hidden()
    expect(page.locator("#progress")).to_have_attribute("value", "8")
    expect(page.locator("#pause")).to_be_focused()


def test_an_overtaken_player_keeps_the_same_row(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    page.evaluate("window.row = document.querySelector('[data-key=player-p06]')")
    last, others = feed.current.standings[-1], feed.current.standings[:-1]
    publish(page, feed, sample.newer(feed.current, standings=(replace(last, place=1, imp=40), *others), plays_in=8))
    expect(page.locator("tbody tr").first).to_contain_text("+40")
    assert page.evaluate("window.row === document.querySelector('tbody tr')")


def test_the_focus_stays_on_its_link(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    page.locator(".call a").focus()
    publish(page, feed, sample.newer(feed.current, alerts=(), plays_in=8))
    expect(page.locator(".call a")).to_be_focused()


def test_alerts_with_the_same_timestamp_are_all_shown(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    twin = feed.current.alerts[0]
    publish(page, feed, sample.newer(feed.current, alerts=(twin, twin, twin), plays_in=8))
    publish(page, feed, sample.newer(feed.current, alerts=(twin, twin), plays_in=9))
    expect(page.locator(".note:not(.call)")).to_have_count(2)


def test_a_page_reconnects_and_shows_the_news(page: Page, feed: ViewFeed) -> None:
    desk = DeskServer(feed, port=0)
    with desk:
        live(page, desk)
        expect(page.locator("#lost")).to_be_hidden()
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("#lost time")).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
    expect(page.locator("h1")).to_have_text("Tournoi international de Lille 2026")
    feed.publish(sample.newer(feed.current, title="After the break", plays_in=9))
    with desk:
        expect(page.locator("#again")).to_be_visible()
        expect(page.locator("#lost")).to_be_hidden()
        expect(page.locator("h1")).to_have_text("After the break")
        expect(page.locator("#news")).to_contain_text("Live again since")


def test_the_page_logs_no_errors(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        complaints.append(f"{message.type}: {message.text}")

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    live(page, desk)
    publish(page, feed, sample.newer(sample.empty(), connected=False, final=True, plays_in=8))
    publish(page, feed, sample.newer(sample.view(), plays_in=9))
    assert complaints == []


def test_a_script_in_a_live_update_does_not_run(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    name = "<img src=x onerror='window.ran=1'><script>window.ran=1</script>"
    first = replace(feed.current.standings[0], name=name)
    publish(page, feed, sample.newer(feed.current, standings=(first,), plays_in=8))
    expect(page.locator("tbody th")).to_have_text(name)
    assert page.evaluate("window.ran") is None


def test_times_are_in_the_readers_zone_and_show_another_day(page: Page, desk: DeskServer) -> None:
    came, time = datetime.fromtimestamp(sample.NOON / 1000, UTC), page.locator(".play time").first
    for later, language, text in ((4, "en", "19:25"), (5, "en", "Oct 31 19:25"), (5, "fr", "31 oct. 19:25")):
        page.clock.set_fixed_time(came + timedelta(hours=later))  # four hours later it is not yet midnight in Shanghai
        live(page, desk, f"?lang={language}")
        expect(time).to_have_text(text)


def test_an_open_page_adds_the_day_after_midnight(page: Page, desk: DeskServer) -> None:
    came = datetime.fromtimestamp(sample.NOON / 1000, UTC)
    page.clock.set_fixed_time(came + timedelta(hours=4))
    live(page, desk, "?lang=en")
    page.locator("#pause").click()
    expect(page.locator(".play time").first).to_have_text("19:25")
    expect(page.locator("#held p")).to_contain_text("23:00")
    page.clock.set_fixed_time(came + timedelta(hours=5))
    expect(page.locator(".play time").first).to_have_text("Oct 31 19:25")
    expect(page.locator("#held p")).to_contain_text("Oct 31 23:00")


def test_without_javascript_the_page_says_that_it_is_not_live(browser: Browser, desk: DeskServer) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(desk.url)
        expect(page.locator(".play")).to_have_count(7)
        expect(page.locator("noscript .bar")).to_be_visible()
        expect(page.locator(".when-live")).to_be_hidden()


def test_an_updated_page_equals_a_newly_opened_one(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    view = feed.current
    publish(page, feed, sample.newer(view, plays=view.plays[1:], tables=view.tables[:2], plays_in=8))
    standings = (*view.standings[3:], replace(view.standings[0], imp=-40))
    publish(page, feed, sample.newer(view, plays=(*view.plays[3:], *view.plays[:3]), standings=standings, plays_in=9))
    followed = page.locator("#room").inner_text()
    live(page, desk)
    assert followed == page.locator("#room").inner_text()


def test_an_alert_that_moves_to_another_list_keeps_its_content(page: Page, desk: DeskServer, feed: ViewFeed) -> None:
    live(page, desk)
    older = feed.current.alerts
    more = tuple(replace(older[0], at=sample.NOON + 2_000_000 + at, table=1) for at in range(SHOWN_ALERTS))
    publish(page, feed, sample.newer(feed.current, alerts=(*more, *older), plays_in=8))
    expect(page.locator("details[data-key=older] .note p:first-child")).to_have_count(len(older))
    gone = replace(older[0], seen=Attending("anne", "Anne Roy", sample.NOON))
    publish(page, feed, sample.newer(feed.current, alerts=(*more, gone, *older[1:]), plays_in=9))
    expect(page.locator("details[data-key=seen] .note")).to_contain_text("Seen by Anne Roy")


def test_a_page_that_lacks_an_unchanged_part_requests_the_whole_page(
    page: Page, desk: DeskServer, feed: ViewFeed
) -> None:
    live(page, desk)
    page.evaluate("document.querySelector('[data-key=player-p06]').remove()")
    publish(page, feed, sample.newer(feed.current, plays_in=8))
    expect(page.locator("[data-key=player-p06]")).to_contain_text("Kjær")
