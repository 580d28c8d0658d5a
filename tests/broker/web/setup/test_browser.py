"""Setting an event up in a real browser: by keyboard, with files, and in two windows."""

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
    """A desk without an event, for one test."""
    with quickly(), new(folder) as made:
        yield made


@pytest.fixture
def page(browser: Browser, desk: DeskServer) -> Page:
    """The organiser's set-up page."""
    return page_of(browser, desk, "organiser", "setup?lang=en")


@pytest.mark.parametrize(
    ("field", "typed", "shown"), [("rounds", "5", "#ahead"), ("sections", "1", "#ahead"), ("hours", "9", "#formats")]
)
def test_enter_submits_the_form_of_its_field(page: Page, field: str, typed: str, shown: str) -> None:
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


def test_a_file_in_another_encoding_can_be_corrected_in_its_field(page: Page, folder: Path) -> None:
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


def test_a_tick_box_is_aligned_with_the_first_line_of_its_label(browser: Browser, desk: DeskServer) -> None:
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
    """Save a name and players, and unfold every step."""
    named(page)
    page.locator("#players-csv").fill("".join(f"Player {number}\n" for number in range(1, upto + 1)))
    submit(page, "players")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")


def test_saving_one_step_keeps_what_was_typed_in_others(page: Page, folder: Path) -> None:
    listed_and(page)
    chosen = page.locator("[data-into=movement-csv]")
    chosen.set_input_files({"name": "own.xlsx", "mimeType": "", "buffer": b"PK\xff\xfe"})
    expect(page.locator("#movement-csv")).to_have_value("own.xlsx")
    page.locator("[name=title]").fill("Coupe de Lille")
    page.locator("[name=keying][value=double]").check()
    page.locator("[name=keep_plays]").check()
    page.locator("#structure [name=rounds]").fill("4")
    page.locator("[name=name-1]").fill("Friday")
    submit(page, "look_movement")  # the server shows only what was sent
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


def test_a_saved_movement_is_folded_and_the_deals_are_next(page: Page) -> None:
    named(page)
    page.locator("#players-csv").fill("".join(f"Player {number}\n" for number in range(1, 17)))
    submit(page, "players")
    page.locator("#structure [name=rounds]").fill("4")
    submit(page, "look_movement")
    submit(page, "make_movement")
    expect(page.locator("#done")).to_be_visible()
    expect(page.locator("details.step[open] > summary")).to_have_text([re.compile("^4. Deals and sets")])


@pytest.mark.parametrize("sent", [False, True])  # sent to the server, whose answer never came
def test_typed_text_is_not_left_to_the_next_user(page: Page, desk: DeskServer, *, sent: bool) -> None:
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


def test_only_a_workbook_that_is_too_large_has_to_be_chosen_again(page: Page) -> None:
    listed_and(page)
    page.locator("[data-into=movement-csv]").set_input_files(
        {"name": "own.xlsx", "mimeType": "", "buffer": b"PK\xff" + bytes(5_000_000)}
    )
    expect(page.locator("#movement-csv")).to_have_value("own.xlsx")
    page.locator("#players-csv").fill("Zoe\n")
    submit(page, "head")
    expect(page.locator("#players-csv")).to_have_value("Zoe\n")
    expect(page.locator("#movement-csv")).to_have_value("")


def test_a_confirmation_is_not_carried_over_to_the_next_page(page: Page) -> None:
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


def test_carried_over_text_does_not_overwrite_another_windows_change(
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
