"""The desk's pages on a phone, with alternating languages; `make pages` covers all states, sizes and schemes."""

from itertools import cycle
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, ViewportSize

from broker.i18n import languages
from tests.broker.web.pages.desks import PLAYERS, cup, quickly, served, whole
from tests.broker.web.pages.laws import broken, inaccessible
from tests.broker.web.pages.places import PLACES, Place
from tests.broker.web.pages.visits import SIZES, Look, Visits, page_of

STATES: Final = (
    "receipt: published",
    "deal: final",
    "ruling: correction, riichi",
    "ruling: whom it moves",
    "what happened: answered",
    "paper: a second look",
    "set-up: new",
    "standings: likely places",
    "display: seating",
)
"""States tested in addition to the pages of a running event, whose names contain no colon."""

TABLET: Final[ViewportSize] = {"width": 820, "height": 1180}

SEEN_THROUGH: Final = {"room": "dark", "grid": "light", "deal": "dark", "paper": "dark", "riichi": "light"}
"""Pages checked with axe-core, which is slow; together they contain every kind of element on the desk."""

REFUSED: Final = "Failed to load resource"
"""The console message of a browser about each refused page."""


@pytest.mark.slow
def test_every_page_fits_a_phone_and_is_accessible(browser: Browser, tmp_path: Path) -> None:
    places = [place for place in PLACES if ":" not in place.name or place.name in STATES]
    with served(tmp_path, (place.desk for place in places)) as desks:
        found, visits = list[str](), Visits(browser, desks, Look("phone", "light", "en"))
        for place, language in zip(places, cycle(languages()), strict=False):
            page = visits.to(place, language)
            wrong = [*broken(page)]
            if scheme := SEEN_THROUGH.get(place.name):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # light or dark
                wrong += inaccessible(page)
            found += [f"{place.name}, {language}: {one}" for one in wrong]
        visits.close()
    assert found + [one for one in visits.complaints if REFUSED not in one] == []


def test_very_long_words_do_not_widen_a_page(browser: Browser, tmp_path: Path) -> None:
    players = (replace(PLAYERS[0], name="W" * 50), replace(PLAYERS[1], name="ش" * 100), *PLAYERS[2:])
    with quickly(), whole(tmp_path / "cup", replace(cup(), title="m" * 50, players=players)) as made:
        page = page_of(browser, made.server, "head_arbiter", size="phone")
        found = []
        ruling = "rulings/new?play=1-1&kind"
        paths = ("grid", "standings", "seating", "player/p01", "carriers", "exports", "players", "setup?player=p01")
        for path in (*paths, f"{ruling}=fine", f"{ruling}=seats_played"):
            page.goto(f"{made.server.url}{path}{'&' if '?' in path else '?'}lang=fr")
            found += [f"{path}: {wrong}" for wrong in broken(page) if "wide" in wrong]
    assert found == []


def test_standings_on_a_phone_leave_room_for_names(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, ("late",)) as desks:
        page = Visits(browser, desks, Look("phone", "light", "fr")).to(Place("standings", "late", "/standings"))
        row = page.locator(".ladder tbody tr").first
        assert row.locator("td:visible").all_inner_texts()[2:] == ["1\n1–15"]
        assert (
            page.evaluate("document.querySelector('.ladder th[scope=row]').clientWidth") > SIZES["phone"]["width"] / 3
        )


def test_country_and_club_are_shown_once_on_any_screen(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, ("late",)) as desks:
        page = Visits(browser, desks, Look("laptop", "light", "en")).to(Place("standings", "late", "/standings"))
        row = page.locator(".ladder tbody tr").first
        sizes = {**SIZES, "tablet": TABLET}
        shown = dict.fromkeys(sizes, 0)
        for size, viewport in sizes.items():
            page.set_viewport_size(viewport)
            shown[size] = row.locator(".origin:visible").count()
        assert shown == dict.fromkeys(sizes, 1)


def test_a_receipt_fits_any_screen_width(browser: Browser, tmp_path: Path) -> None:
    published = next(place for place in PLACES if place.name == "receipt: published")
    with served(tmp_path, ("over",)) as desks:
        visits = Visits(browser, desks, Look("phone", "light", "fr"))
        found = [[*broken(visits.to(published, size={"width": wide, "height": 800}))] for wide in (360, 640, 820)]
    assert found == [[], [], []]


def test_tables_of_results_fit_a_tablet(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, ("busy", "late")) as desks:
        visits = Visits(browser, desks, Look("laptop", "light", "fr"))
        for desk, path in (("late", "/standings"), ("busy", "/player/p07")):
            page = visits.to(Place(path, desk, path), size=TABLET)
            assert [*broken(page)] == []
            assert page.evaluate(
                "[...document.querySelectorAll('.scrolling')].every((one) => one.scrollWidth <= one.clientWidth)"
            )


def test_a_phone_shows_the_best_formats_and_unfolds_the_rest(browser: Browser, tmp_path: Path) -> None:
    offered = next(place for place in PLACES if place.name == "set-up: formats")
    with served(tmp_path, ("new",)) as desks:
        page = Visits(browser, desks, Look("phone", "light", "en")).to(offered)
        formats, details = page.locator("#formats tr:has(button):visible"), page.get_by_label("Details")
        length = "document.querySelector('#formats').offsetHeight"
        assert (formats.count(), page.evaluate(length) < SIZES["phone"]["height"]) == (3, True)
        staff = formats.first.locator("[data-label=Staff]")
        assert not staff.is_visible()
        details.first.press("Space")
        assert staff.is_visible()
        page.get_by_label("5 more formats").check()
        assert formats.count() == 8


def test_the_grids_rounds_are_aligned_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, ("late",)) as desks:
        page = Visits(browser, desks, Look("phone", "light", "fr")).to(Place("grid", "late", "/grid"))
        edges = page.locator(".grid tbody tr").evaluate_all(
            """(rows) => rows.map((row, at) => {
              row.querySelector("th a").textContent = 10 ** at;
              return row.querySelector(".cell[title]").getBoundingClientRect().left;
            })"""
        )
        assert (len(edges), len(set(edges))) == (4, 1)


def test_the_grid_fits_a_phone(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, ("busy",)) as desks:
        for language in ("fr", "zh"):
            page = Visits(browser, desks, Look("phone", "light", language)).to(Place("grid", "busy", "/grid"))
            beyond = """(row) => {
              const parts = [...row.querySelectorAll("*")].map((part) => part.getBoundingClientRect().right);
              return Math.max(...parts) - row.getBoundingClientRect().right;
            }"""
            rows = page.locator(".grid tbody tr").all()
            assert [one for one in rows if one.evaluate(beyond) > 0] == []
            assert len(rows) == 4


def test_choices_and_progress_are_visible_in_forced_colours(browser: Browser, tmp_path: Path) -> None:
    pairs = {"what happened: answered": ".touch label", "ruling: correction": ".kinds a", "room": ".pages a"}
    with served(tmp_path, ("busy",)) as desks:
        visits = Visits(browser, desks, Look("laptop", "dark", "en"))
        for name, choices in pairs.items():
            page = visits.to(next(place for place in PLACES if place.name == name))
            page.emulate_media(forced_colors="active")
            colours = page.locator(choices).evaluate_all(
                """(all) => all.map((one) => [
                  one.matches("[aria-current], :has(:checked)"), getComputedStyle(one).backgroundColor
                ])"""
            )
            chosen, others = ({colour for is_chosen, colour in colours if is_chosen is one} for one in (True, False))
            assert (len(chosen), chosen & others) == (1, set()), name
        adjusted = """[["progress"], [".line", "::before"]].map(([part, of]) =>
          getComputedStyle(document.querySelector(part), of).forcedColorAdjust)"""
        assert page.evaluate(adjusted) == ["none", "none"]


def test_the_first_tab_stop_skips_to_the_content(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, ("late",)) as desks:
        visits = Visits(browser, desks, Look("laptop", "light", "en"))
        for name in ("standings", "rulings"):  # a live page, and one with forms
            page = visits.to(Place(name, "late", f"/{name}"))
            page.keyboard.press("Tab")
            skip = page.locator("a:focus")
            assert (skip.inner_text(), skip.bounding_box() is not None) == ("Skip to the content", True)
            page.keyboard.press("Enter")
            page.keyboard.press("Tab")
            assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
