"""A filled-in sheet is keyed in, previewed and saved in a real browser; blank ones are printed."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.broker.web.pages.desks import served
from tests.broker.web.pages.places import Place, keyed
from tests.broker.web.pages.visits import Look, Visits

LOOK = Look("laptop", "light", "en")


def test_a_saved_sheet_appears_in_the_traveller(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, ["busy"]) as desks:
        visits = Visits(browser, desks, LOOK)
        page = visits.to(Place("paper", "busy", "/paper", do=keyed))
        expect(page.locator("#look .state")).to_have_text("Won on a discard · Discarded by North")
        page.get_by_role("button", name="Save it").click()
        expect(page.locator("#results li")).to_contain_text("Table 3 · Round 3 · Deal 1")
        page.get_by_text("plays without a result").click()
        expect(page.locator("details:not(.menu)")).not_to_contain_text("Table 3 · Round 3")
        sheets = page.get_by_role("link", name="Print all")
        address = f"{desks['busy'].url}{(sheets.get_attribute('href') or '')[1:]}"
        assert page.request.get(address).body()[:5] == b"%PDF-"
        page.goto(f"{desks['busy'].url}deal/1?lang=en")
        expect(page.locator("[data-key$='-3-3']")).to_contain_text("HV 18")
        assert (visits.complaints, page.locator("[data-key$='-3-3'] .fine").count()) == ([], 1)
        visits.close()
