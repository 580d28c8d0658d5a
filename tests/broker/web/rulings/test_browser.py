"""Rulings in a real browser: entered, previewed, published and taken back, with two browsers at the same time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.broker.people.conftest import PASSWORD
from tests.broker.scorer.hall import put
from tests.broker.scorer.riichi_deals import riichi_plan, whole_riichi_event
from tests.broker.scorer.small import state
from tests.broker.web.pages.visits import page_of
from tests.broker.web.rulings.desks import Ruled, ruling_desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Ruled]:
    with ruling_desk(tmp_path / "cup") as made:
        yield made


def test_the_second_of_two_arbiters_sees_the_ruling_of_the_first(browser: Browser, desk: Ruled) -> None:
    first, second = (
        page_of(browser, desk.server, who, "rulings/new?play=1-2") for who in ("head_arbiter", "table_arbiter")
    )
    first.get_by_role("link", name="Correction").click()
    first.get_by_label("Self-drawn").check()
    first.locator("[name=hv-south]").fill("")
    first.locator("[name=hv-north]").fill("30")
    first.get_by_label("Who discarded").select_option("")
    first.get_by_label("Reason").fill("The table had entered it upside down")
    first.get_by_role("button", name="Preview").click()
    expect(first.get_by_role("heading", name="Players:")).to_be_visible()
    assert desk.kinds == []
    second.get_by_role("link", name="Void").click()
    second.get_by_label("Reason").fill("A tile was face up")
    second.get_by_role("button", name="Preview").click()
    first.get_by_role("button", name="Publish").click()
    expect(first.locator("#rulings li")).to_contain_text("The table had entered it upside down")
    second.get_by_role("button", name="Publish").click()
    expect(second.locator("#problem")).to_contain_text("after you opened the form")
    expect(second.get_by_role("heading", name="Earlier rulings")).to_be_visible()
    assert desk.kinds == [("correct", True)]
    first.get_by_role("link", name="Take back").click()
    first.get_by_label("Reason").fill("It was right after all")
    first.get_by_role("button", name="Preview").click()
    first.get_by_role("button", name="Publish").click()
    expect(first.locator("#rulings li.off")).to_contain_text("upside down")
    assert desk.kinds == [("correct", False), ("undo", True)]


def test_a_form_can_be_sent_after_logging_in_again(browser: Browser, desk: Ruled) -> None:
    page = page_of(browser, desk.server, "head_arbiter", "rulings/new?play=1-2&kind=void")
    page.get_by_label("Reason").fill("A tile was face up")
    page.context.clear_cookies()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#problem")).to_contain_text("login_needed")
    with page.expect_popup() as opening:
        page.get_by_role("link", name="Log in").click()
    other = opening.value
    other.get_by_label("User name").fill("head_arbiter")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Log in").click()
    expect(other.locator("form[action='/logout']")).to_have_count(1)
    page.go_back()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("#rulings li")).to_contain_text("A tile was face up")
    assert desk.kinds == [("void", True)]


def test_the_slower_of_two_arbiters_is_told_who_goes_to_a_call(browser: Browser, desk: Ruled) -> None:
    first, second = page_of(browser, desk.server, "head_arbiter"), page_of(browser, desk.server, "table_arbiter")
    put(desk.scorer, state(2, calling=True))
    first.get_by_role("button", name="I’m going to table 2").click()
    expect(first.get_by_role("button", name="I’m not going")).to_be_visible()
    expect(first.get_by_role("button", name="I’ll take over")).to_be_hidden()
    expect(second.locator(".note.call")).to_contain_text("A head_arbiter is going, since")
    expect(second.get_by_role("button", name="I’m not going")).to_be_hidden()
    old = second.get_by_role("button", name="I’ll take over")
    old.evaluate("(button) => (button.value = '2-0')")  # as if both had pressed at the same time
    old.click()
    expect(second.locator("#refused")).to_contain_text("See who is going.")
    second.goto(f"{desk.server.url}grid")
    second.get_by_role("button", name="I’ll take over").click()
    expect(first.locator(".note.call")).to_contain_text("A table_arbiter is going, since")


def test_the_fields_of_a_riichi_hand_show_their_whole_values(browser: Browser, tmp_path: Path) -> None:
    with ruling_desk(tmp_path / "riichi", whole_riichi_event(), riichi_plan()) as desk:
        page = page_of(browser, desk.server, "head_arbiter", "rulings/new?play=1-2&kind=correct")
        assert page.locator("[name=fu-east]").input_value() == "30"
        assert page.locator("[name=fu-east]").evaluate("field => field.scrollWidth <= field.clientWidth")


@pytest.mark.slow
def test_going_back_after_publishing_shows_the_preview(browser: Browser, desk: Ruled) -> None:
    page = page_of(browser, desk.server, "head_arbiter", "rulings/new?play=1-2&kind=void")
    page.get_by_label("Reason").fill("A tile was face up")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Publish")).to_be_visible()
    page.wait_for_load_state()
    preview = page.get_by_role("heading", level=2).all_text_contents()
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("#rulings li")).to_contain_text("A tile was face up")
    page.go_back()
    expect(page.get_by_role("heading", level=2)).to_have_text(preview)
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("#rulings li")).to_have_count(1)
