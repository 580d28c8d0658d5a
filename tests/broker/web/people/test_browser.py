"""Logging in, managing accounts and giving orders, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.web import sample
from tests.broker.web.tables.test_orders import Bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    quick_hashes(monkeypatch)
    made = Bench(tmp_path)
    with made.server:
        yield made
    made.auth.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="en-GB")
    yield made
    made.close()


def log_in(context: BrowserContext, bench: Bench, name: str) -> Page:
    page = context.new_page()
    page.goto(bench.server.url)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("html[data-line=live]")).to_be_attached()
    return page


def test_an_arbiter_can_pause_a_table_from_its_card(context: BrowserContext, bench: Bench) -> None:
    page = log_in(context, bench, "table_arbiter")
    page.locator("#table-3").get_by_role("link", name="Order…").click()
    page.get_by_label("Pause").check()
    page.get_by_label("Reason", exact=True).fill("A carrier fell")
    page.get_by_role("button", name="Send order").click()
    expect(page.locator("#orders li")).to_contain_text("Tables that have not received it yet: 3")
    (order,) = bench.ear.sent
    tables = tuple(
        replace(table, paused=True, ordered=order.seq, obeyed={order.seq: order.id}) if table.table == 3 else table
        for table in bench.feed.current.tables
    )
    page.get_by_role("link", name="Room").click()
    expect(page.locator("html[data-line=live]")).to_be_attached()
    bench.feed.publish(sample.newer(bench.feed.current, tables=tables))
    expect(page.locator("#table-3 .flag")).to_have_text("Paused")
    page.get_by_role("link", name="Orders").click()
    expect(page.locator("#orders li")).to_contain_text("done")


def test_an_open_page_goes_to_the_login_when_its_account_is_disabled(
    browser: Browser, context: BrowserContext, bench: Bench
) -> None:
    wall = log_in(context, bench, "display")
    second = browser.new_context(locale="en-GB")
    head = log_in(second, bench, "head_arbiter")
    head.get_by_role("link", name="People").click()
    head.locator("#account-display").get_by_role("button", name="Disable").click()
    expect(head.locator("#account-display")).to_contain_text("Disabled")
    bench.feed.publish(sample.newer(bench.feed.current, title="Not for the wall"))
    expect(wall.get_by_role("button", name="Log in")).to_be_visible()
    expect(wall.locator("body")).not_to_contain_text("Not for the wall")
    second.close()


def test_a_cookie_used_in_another_browser_ends_the_session(
    browser: Browser, context: BrowserContext, bench: Bench
) -> None:
    log_in(context, bench, "head_arbiter")
    thief = browser.new_context(user_agent="Another browser", storage_state=context.storage_state())
    stolen = thief.new_page()
    stolen.goto(bench.server.url + "people")
    expect(stolen.get_by_role("button", name="Log in")).to_be_visible()
    owner = context.new_page()  # the first one may be reloading
    owner.goto(bench.server.url + "people")
    expect(owner.get_by_role("button", name="Log in")).to_be_visible()
    thief.close()


def test_scripts_cannot_read_the_cookie(context: BrowserContext, bench: Bench) -> None:
    page = log_in(context, bench, "head_arbiter")
    assert page.evaluate("document.cookie") == ""
