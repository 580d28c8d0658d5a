"""A deal is replayed at the desk, by the page that is exported, and not before its faces are public."""

from pathlib import Path

from playwright.sync_api import Browser

from broker.event import write_hands
from broker.export.pmn.event import event_records
from broker.scorer.stored_event import open_stored_event
from tests.broker.export.pmn.test_event import drawn_out
from tests.broker.people.conftest import PASSWORD
from tests.broker.scorer.folders import declare, event_folder
from tests.broker.web.results.test_exports import desk_of
from tests.broker.web.test_auth import logged_in


def test_a_deal_is_replayed_once_it_is_public_and_its_page_leads_there(tmp_path: Path, browser: Browser) -> None:
    for desk in desk_of(event_folder(tmp_path / "early")):
        with logged_in(desk, "head_arbiter") as client:
            early = client.get("/deal/1/replay")
        assert (early.status_code, "<code>not_final</code>" in early.text) == (400, True)
    folder, faults = declare(event_folder(tmp_path / "cup")), list[str]()
    plain = open_stored_event(folder)
    hands = [drawn_out(plain, result.round, message.table) for message, result in plain.results()]
    write_hands(folder, hands)
    known = [record.board for record in event_records(open_stored_event(folder)) if record.steps]
    deal = min(known)
    write_hands(folder, [hand for hand in hands if hand.deal == deal])
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
            page.on("console", lambda said: faults.append(said.text))
            page.goto(f"{desk.url}deal/{deal}/replay?lang=fr")
            page.locator("#after").click()
            assert page.locator("article").count() == known.count(deal)
            assert page.locator("a").get_attribute("href") == f"/deal/{deal}?lang=fr"
            page.screenshot(path=tmp_path / "replay.png")
            page.close()
    assert not faults
