"""Setting an event up by keyboard, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from broker.event import read_plan
from broker.web.server import DeskServer
from tests.broker.web.pages.desks import new, quickly
from tests.broker.web.pages.laws import broken
from tests.broker.web.pages.places import named, offered_formats, submit, unfold
from tests.broker.web.pages.visits import log_in, page_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cup"


@pytest.fixture
def desk(folder: Path) -> Iterator[DeskServer]:
    """A desk with nothing of an event, for one test."""
    with quickly(), new(folder) as made:
        yield made


@pytest.fixture
def page(browser: Browser, desk: DeskServer) -> Page:
    """The organiser's set-up page at it."""
    return page_of(browser, desk, "organiser", "setup?lang=en")


@pytest.mark.parametrize(
    ("field", "typed", "shown"), [("rounds", "5", "#ahead"), ("sections", "1", "#ahead"), ("hours", "9", "#formats")]
)
def test_enter_goes_on_from_the_fields_in_which_it_is_pressed(page: Page, field: str, typed: str, shown: str) -> None:
    named(page)
    unfold(page, "players")
    page.locator("#players-csv").fill("name\n" + "".join(f"Player {number}\n" for number in range(1, 17)))
    submit(page, "players")
    unfold(page, "movement")
    page.locator("#structure [name=rounds]").fill("5")
    page.evaluate("document.querySelector('#structure details').open = true")
    page.locator(f"#structure [name={field}]").fill(typed)
    page.locator(f"#structure [name={field}]").press("Enter")
    expect(page.locator(shown)).to_be_visible()


def test_a_file_that_is_not_utf8_is_named_in_its_field_and_its_text_can_be_mended_there(
    page: Page, folder: Path
) -> None:
    named(page)
    unfold(page, "players")
    field, chosen = page.locator("#players-csv"), page.locator("[data-into=players-csv]")
    chosen.set_input_files({"name": "list.csv", "mimeType": "text/csv", "buffer": "name\nZoé\n".encode("cp1252")})
    expect(field).to_have_value("list.csv")
    submit(page, "check_players")
    expect(field).to_have_value("name\nZoé\n")
    chosen.set_input_files({"name": "other.csv", "mimeType": "text/csv", "buffer": "name\nÉmile\n".encode()})
    expect(field).to_have_value("name\nÉmile\n")
    submit(page, "players")
    assert [one.name for one in read_plan(folder).players] == ["Émile"]


def test_a_box_to_tick_stands_beside_the_first_line_of_a_label_that_is_longer_than_one(
    browser: Browser, desk: DeskServer
) -> None:
    page = page_of(browser, desk, "organiser", "setup?lang=fr", size="phone")
    offered_formats(page)
    page.locator("#structure [name=rounds]").fill("5")
    submit(page, "look_movement")
    submit(page, "make_movement")
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true })")
    assert (page.locator("label > :is([type=checkbox], [type=radio]):visible").count() > 4, [*broken(page)]) == (
        True,
        [],
    )


def listed_and(page: Page, upto: int = 16) -> None:
    """Save a name and players, and open every step."""
    named(page)
    page.locator("#players-csv").fill("".join(f"Player {number}\n" for number in range(1, upto + 1)))
    submit(page, "players")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")


def test_what_is_typed_in_other_steps_is_still_there_when_one_has_been_saved(page: Page, folder: Path) -> None:
    listed_and(page)
    chosen = page.locator("[data-into=movement-csv]")
    chosen.set_input_files({"name": "own.xlsx", "mimeType": "", "buffer": b"PK\xff\xfe"})
    expect(page.locator("#movement-csv")).to_have_value("own.xlsx")
    page.locator("[name=title]").fill("Coupe de Lille")
    page.locator("[name=keying][value=double]").check()
    page.locator("[name=keep_plays]").check()
    page.locator("#structure [name=rounds]").fill("4")
    page.locator("[name=name-1]").fill("Friday")
    submit(page, "look_movement")  # shown by the server: what was sent, and nothing else
    page.locator("#structure [name=copies]").fill("2")
    unfold(page, "players")
    page.locator("#players-csv").fill("".join(f"Player {number}\n" for number in range(1, 21)))
    submit(page, "players")
    expect(page.locator("#done")).to_be_visible()
    expect(page.locator("#players-csv")).to_have_value("")
    expect(page.locator("[name=name-1]")).to_have_value("Friday")
    expect(page.locator("[name=title]")).to_have_value("Coupe de Lille")
    expect(page.locator("[name=keying][value=double]")).to_be_checked()
    expect(page.locator("[name=keep_plays]")).to_be_checked()
    expect(page.locator("[name=keep_plays]")).to_be_visible()
    expect(page.locator("#structure [name=rounds]")).to_have_value("4")
    expect(page.locator("#structure [name=copies]")).to_have_value("2")
    expect(page.locator("#movement-csv")).to_have_value("own.xlsx")
    assert page.locator("[data-file]").get_attribute("value") == "data:;base64,UEv//g=="
    unfold(page, "players")
    page.locator("#players-csv").fill("Zoe\n")
    submit(page, "head")
    assert (read_plan(folder).title, read_plan(folder).keep_plays) == ("Coupe de Lille", True)
    expect(page.locator("#players-csv")).to_have_value("Zoe\n")


def test_a_movement_that_was_taken_is_folded_away_and_the_deals_are_next(page: Page) -> None:
    named(page)
    page.locator("#players-csv").fill("".join(f"Player {number}\n" for number in range(1, 17)))
    submit(page, "players")
    page.locator("#structure [name=rounds]").fill("4")
    submit(page, "look_movement")
    submit(page, "make_movement")
    expect(page.locator("#done")).to_be_visible()
    expect(page.locator("details.step[open] > summary")).to_have_text([re.compile("^4. Deals and sets")])


@pytest.mark.parametrize("sent", [False, True])  # to the server, whose answer never came
def test_what_was_typed_is_left_to_nobody_who_logs_in_afterwards(page: Page, desk: DeskServer, *, sent: bool) -> None:
    failed = list[str]()
    page.on("pageerror", lambda error: failed.append(error.message))
    listed_and(page)
    page.locator("#players-csv").fill("Zoe\n")
    if sent:
        page.route("**/setup?*", lambda route: route.fulfill(status=204))
        page.locator("[name=action][value=head]").click()
        page.unroute_all()
        page.goto(f"{desk.url}people?lang=en")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(re.compile("/login"))
    log_in(page.context, desk, "organiser")
    page.goto(f"{desk.url}setup?lang=en")
    expect(page.locator("#players-csv")).to_have_value("")
    assert failed == []


def test_a_workbook_too_large_to_carry_over_is_chosen_again_and_all_else_stays(page: Page) -> None:
    listed_and(page)
    page.locator("[data-into=movement-csv]").set_input_files(
        {"name": "own.xlsx", "mimeType": "", "buffer": b"PK\xff" + bytes(5_000_000)}
    )
    expect(page.locator("#movement-csv")).to_have_value("own.xlsx")
    page.locator("#players-csv").fill("Zoe\n")
    submit(page, "head")
    expect(page.locator("#players-csv")).to_have_value("Zoe\n")
    expect(page.locator("#movement-csv")).to_have_value("")


def test_what_is_confirmed_in_one_step_is_confirmed_again_after_another(page: Page) -> None:
    listed_and(page)
    page.locator("#structure [name=rounds]").fill("5")
    submit(page, "look_movement")
    submit(page, "make_movement")
    unfold(page, "players")
    page.locator("#players-csv").fill("Zoe\n")
    page.locator("[name=movement_anew]").check()
    unfold(page, "head")
    submit(page, "head")
    expect(page.locator("#players-csv")).to_have_value("Zoe\n")
    expect(page.locator("[name=movement_anew]")).not_to_be_checked()


def test_what_is_carried_over_to_a_new_page_is_not_saved_over_what_another_window_has_changed(
    page: Page, folder: Path, desk: DeskServer
) -> None:
    listed_and(page)
    other = page.context.new_page()
    other.goto(f"{desk.url}setup?lang=en")
    unfold(other, "head")
    other.locator("[name=title]").fill("Theirs")
    submit(other, "head")
    page.locator("[name=title]").fill("Ours")
    page.locator("#players-csv").fill("Zoe\n")
    submit(page, "players")
    expect(page.locator("[name=title]")).to_have_value("Ours")
    submit(page, "head")
    expect(page.locator("#problem")).to_contain_text("Theirs")
    expect(page.locator("[name=title]")).to_have_value("Ours")
    assert read_plan(folder).title == "Theirs"
