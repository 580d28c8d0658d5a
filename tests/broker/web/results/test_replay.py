"""Replays of a deal at the desk and in published files, once its tiles are public."""

import shutil
from pathlib import Path

from playwright.sync_api import Browser

from broker.event import HANDS, write_hands
from broker.export.pmn.event import event_records
from broker.scorer import open_stored_event
from broker.web.results.published import PublishedFolder, PublishedPages
from tests.broker.export.pmn.test_event import drawn_out
from tests.broker.people.conftest import PASSWORD
from tests.broker.scorer.folders import declare, event_folder
from tests.broker.scorer.small import NAME
from tests.broker.web.results.test_exports import desk_of
from tests.broker.web.test_auth import logged_in


def played_step_by_step(folder: Path) -> int:
    """Record the plays of one deal of a completed event step by step; return the deal's number."""
    plain = open_stored_event(folder)
    hands = [drawn_out(plain, result.round, message.table) for message, result in plain.results()]
    write_hands(folder, hands)
    known = [record for record in event_records(open_stored_event(folder)) if record.steps]
    deal = min(record.board for record in known)
    places = {(record.round, record.table) for record in known if record.board == deal}
    write_hands(folder, [hand for hand in hands if (hand.round, hand.table) in places])
    return deal


def test_published_files_contain_replays_once_the_tiles_are_public(tmp_path: Path, browser: Browser) -> None:
    folder, pages, faults = event_folder(tmp_path / "cup"), PublishedPages(tmp_path / "cup"), list[str]()

    def files() -> dict[str, bytes]:
        stored = open_stored_event(folder)
        return pages.files(stored.state.snapshot(), stored)

    deal = played_step_by_step(declare(event_folder(tmp_path / "other")))
    shutil.copy(tmp_path / "other" / HANDS, folder)
    before = files()
    assert not [name for name, content in before.items() if "replay" in name or b"replay" in content]
    declare(folder)
    found = files()
    assert {name for name in found if "replay" in name} == {f"{one}/replay-{deal}.html" for one in ("en", "fr", "zh")}
    assert found == files()
    PublishedFolder(tmp_path / "web", NAME).put(found)
    for width, language in ((390, "zh"), (1280, "fr"), (1280, "en")):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("console", lambda message: faults.append(message.text))
        page.goto((tmp_path / "web" / language / f"deal-{deal}.html").as_uri())
        page.locator("p > a.button").click()
        page.locator("#after").click()
        page.screenshot(path=tmp_path / f"{language}-{width}.png", full_page=True)
        assert page.locator("article").count() == len(open_stored_event(folder).hands)
        page.locator("p > a").click()
        page.wait_for_url(f"**/{language}/deal-{deal}.html")
        page.screenshot(path=tmp_path / f"{language}-{width}-deal.png", full_page=True)
        page.close()
    assert not faults


def test_a_public_deals_page_links_to_its_replay(tmp_path: Path, browser: Browser) -> None:
    for desk in desk_of(event_folder(tmp_path / "early")):
        with logged_in(desk, "head_arbiter") as client:
            early = client.get("/deal/1/replay")
        assert (early.status_code, "<code>not_final</code>" in early.text) == (400, True)
    folder, faults = declare(event_folder(tmp_path / "cup")), list[str]()
    deal = played_step_by_step(folder)
    for desk in desk_of(folder):
        with logged_in(desk, "display") as client:
            assert f"/deal/{deal}/replay" in client.get(f"/deal/{deal}").text
            assert "/replay" not in client.get(f"/deal/{max({1, 2} - {deal})}").text
            assert [client.get(f"/deal/{one}/replay").status_code for one in (deal, 99)] == [200, 404]
            page = browser.new_page(locale="en-GB")
            page.goto(f"{desk.url}login")
            page.locator("[name=name]").fill("display")
            page.locator("[name=password]").fill(PASSWORD)
            page.get_by_role("button", name="Log in").click()
            page.wait_for_url(lambda url: "login" not in url)
            page.on("console", lambda message: faults.append(message.text))
            page.goto(f"{desk.url}deal/{deal}/replay?lang=fr")
            page.locator("#after").click()
            assert page.locator("article").count() == len(open_stored_event(folder).hands)
            assert page.locator("a").get_attribute("href") == f"/deal/{deal}?lang=fr"
            page.screenshot(path=tmp_path / "replay.png")
            page.close()
    assert not faults
