"""Keying in a pile of sheets with the keyboard only, in a real browser."""

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from broker.protocol import SEATS
from tests.broker.scorer import small
from tests.broker.web.pages.desks import INSTEAD, busy, empty, quickly
from tests.broker.web.pages.visits import page_of
from tests.broker.web.paper.conftest import Desk
from tests.broker.web.test_auth import logged_in, token_of


def key(page: Page, table: int, value: str, points: tuple[str, ...]) -> None:
    """Key in a sheet on which East won on North's discard, and press Enter in the last field."""
    keyboard = page.keyboard
    for text in ("1", str(table), str(small.event().bookings[table, 1].deal)):
        keyboard.type(text)
        keyboard.press("Tab")
    keyboard.press("Space")
    for text in (value, *"".join(f"{one} - - " for one in points).split()[:-2]):
        keyboard.press("Tab")
        keyboard.type(text.strip() if text != "-" else "")
    for _ in range(2):
        keyboard.press("Tab")
    keyboard.type("n")
    with page.expect_navigation():
        keyboard.press("Enter")


def test_enter_submits_the_sheet_and_a_refused_one_stays_in_the_form(browser: Browser, tmp_path: Path) -> None:
    with quickly(), empty(tmp_path / "cup") as desk:
        page = page_of(browser, desk, "head_arbiter", "paper?lang=en")
        for value, points, problem in (("18", ("+42", "-8", "-8", "-26"), 0), ("20", ("44", "-8", "-8", "-28"), 1)):
            key(page, 1, value, points)
            expect(page.locator("#look .card")).to_contain_text(f"HV {value}")
            with page.expect_navigation():
                page.keyboard.press("Enter")
            expect(page.locator("#results code")).to_have_count(problem)
        assert page.locator("[name=east]").input_value() == "20"


def test_the_preview_of_a_sheet_names_the_substitute(tmp_path: Path) -> None:
    with quickly(), busy(tmp_path / "cup") as desk, logged_in(desk, "head_arbiter") as client:
        (table,) = (one for one in range(1, 5) if INSTEAD.player in small.event().bookings[one, 4].players.values())
        place = {"round": "4", "table": str(table), "deal": str(small.event().bookings[table, 4].deal)}
        drawn = {"win": "draw", **{f"points_{seat}": "0" for seat in SEATS}}
        sent = {"form": token_of(client, "/paper"), "action": "look", **place, **drawn}
        page = client.post("/paper", data=sent).text
        assert INSTEAD.name in page.partition('id="look"')[2].partition("</ul>")[0]


def test_two_people_key_sheets_and_an_arbiter_settles_differences(browser: Browser, desk: Desk) -> None:
    tao, luc, anne = (page_of(browser, desk.server, name, "paper?lang=en") for name in ("tao", "luc", "anne"))
    right, wrong = ("18", ("+42", "-8", "-8", "-26")), ("17", ("+41", "-8", "-8", "-25"))
    for table, first in ((1, right), (2, wrong)):
        key(tao, table, *first)
        expect(tao.locator("#results")).to_contain_text("waiting for a second person")
    luc.reload()
    for text in ("HV 17", "HV 18", "+42"):
        expect(luc.locator("main")).not_to_contain_text(text)  # the second person must not see the first reading
    for table, said in ((1, "both entries agree; it counts now"), (2, "the two entries differ")):
        key(luc, table, *right)
        expect(luc.locator("#results")).to_contain_text(said)
    assert [desk.settled(table) for table in (1, 2)] == [True, False]
    anne.reload()
    card = anne.locator("#differs-2-1")
    card.get_by_label("Luc entered").check()
    card.locator("[name=reason]").fill("an 8: the sheet is here")
    with anne.expect_navigation():
        card.locator("button").click()
    expect(anne.locator("#results")).to_contain_text("it counts now")
    assert (desk.settled(2), desk.reasons(2)) == (True, ["an 8: the sheet is here"])
