"""Reads the desk's pages in a browser, and takes pictures of them if requested."""

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeVar

from PIL import Image
from playwright.sync_api import Page

from broker.i18n import languages
from tests.broker.web.pages.gallery import ACROSS, captioned, sheet
from tests.broker.web.pages.laws import broken
from tests.broker.web.pages.visits import SIZES
from tests.e2e.championship.recount import Standing

PICTURES: Final = "CHAMPIONSHIP_PICTURES"
"""In the environment: the folder for contact sheets of all pages on the way."""

T = TypeVar("T")

ROWS: Final = """() => [...document.querySelectorAll("table.ladder tbody tr")].map((row) => row.className === "group"
  ? row.textContent.trim()
  : [row.dataset.key, row.cells[0].textContent, row.querySelector(".imp").textContent,
     ...[...row.cells].slice(-2).map((cell) => cell.textContent)])"""

SEATS_OF: Final = """() => [...document.querySelectorAll("tr[data-key^=table-]")].map((row) =>
  [row.dataset.key, ...[...row.querySelectorAll("a")].map((link) => link.pathname)])"""

PLAYS: Final = """() => [...document.querySelectorAll("table.player-plays tbody tr")].map((row) =>
  [row.dataset.key, row.cells[1].textContent.match(/\\d+/)[0], row.cells[2].textContent,
   row.cells[3].querySelector("span")?.title, row.querySelector(".imp").textContent])"""

CELLS: Final = """() => [...document.querySelectorAll("table.traveller tr[data-key^=play-]")].flatMap((row) =>
  [...row.querySelectorAll("td.seat-cell")].map((cell) =>
    [row.dataset.key, cell.querySelector("a.name").pathname, cell.querySelector(".points").textContent,
     cell.querySelector(".imp").textContent]))"""

READ_OUT: Final = """() => [...document.querySelectorAll("section.ceremony details")].map((one) =>
  [one.querySelector("summary").textContent, one.querySelector("strong").textContent,
   one.querySelector("p span").textContent])"""


def number(text: str) -> int:
    """Parse a number as the desk writes it: with a typographic minus, a dash for none, and perhaps words after it."""
    word = text.split("/", maxsplit=1)[0].split(maxsplit=1)[0].replace("\N{MINUS SIGN}", "-")
    return 0 if word == "–" else int(word)


def exact(text: str) -> Fraction:
    """Parse the exact fraction that accompanies a rounded sum."""
    return Fraction(text.replace("\N{MINUS SIGN}", "-").replace("\N{FRACTION SLASH}", "/").replace(" ", ""))


def standings_on(page: Page, address: str) -> dict[tuple[str, str], Standing]:
    """Return the lines of all pages of a ranking, by stage and section, then player."""
    found, group = {}, ""
    for row in (row for part in each_page(page, address) for row in part.evaluate(ROWS)):
        if isinstance(row, str):
            group = row
        else:
            key, place, imp, fines, plays = row
            of = Standing(number(place), number(imp), -number(fines), number(plays))
            found[group, key.removeprefix("player-")] = of
    return found


def seating_on(page: Page, address: str) -> dict[tuple[int, int], dict[str, str]]:
    """Return the seating by round and table, then seat."""
    found = {}
    for row in (row for part in each_page(page, address) for row in part.evaluate(SEATS_OF)):
        key, *people = row
        round_, table = map(int, key.split("-")[1:])
        ids = (path.rpartition("/")[2] for path in people)
        found[round_, table] = dict(zip(("east", "south", "west", "north"), ids, strict=True))
    return found


def lines_on(page: Page) -> dict[tuple[int, int], tuple[int, Fraction, int]]:
    """Return points, datum and IMP of each play of a player's sheet, by round and table."""
    return {
        (int(key.split("-")[1]), int(table)): (number(points), exact(datum), number(imp))
        for key, table, points, datum, imp in page.evaluate(PLAYS)
    }


def traveller_on(page: Page) -> dict[tuple[int, int, str], tuple[int, int]]:
    """Return points and IMP of each line of a deal's traveller, by round, table and player."""
    found = {}
    for key, player, points, imp in page.evaluate(CELLS):
        table, round_ = map(int, key.split("-")[-2:])
        found[round_, table, player.rpartition("/")[2]] = number(points), number(imp)
    return found


def read_out_on(page: Page) -> list[tuple[int, str, int]]:
    """Return place, name and IMP of everybody read out at the ceremony, in order."""
    return [
        (int("".join(filter(str.isdigit, title.split("·")[0]))), name, number(imp))
        for title, name, imp in page.evaluate(READ_OUT)
    ]


def each_page(page: Page, address: str) -> Iterator[Page]:
    """Yield each page of a long list, opened."""
    open_page(page, address)
    others = page.locator("nav[data-key=page-links] a").evaluate_all("(links) => links.map((link) => link.href)")
    yield page
    for other in others[1:]:
        open_page(page, other)
        yield page


def open_page(page: Page, address: str) -> None:
    """Open a page, which must exist."""
    answer = page.goto(address)
    assert answer is not None
    assert answer.ok, f"{address}: {answer.status} {page.locator('body').inner_text()}"


@dataclass
class Photographer:
    """Takes pictures of pages in each size and language, and collects broken layout rules."""

    folder: Path | None = field(default_factory=lambda: Path(os.environ[PICTURES]) if PICTURES in os.environ else None)
    taken: dict[tuple[str, str], list[Image.Image]] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)

    def look(self, page: Page, *addresses: str) -> None:
        """Take pictures of a page if requested."""
        before = page.viewport_size
        for address in (one.partition("lang=")[0] for one in addresses if self.folder):
            for size, viewport in SIZES.items():
                page.set_viewport_size(viewport)
                for language in languages():
                    open_page(page, f"{address}lang={language}")
                    name = "/".join(address.rstrip("?&").split("/")[3:]) or "room"
                    self.found += [f"{size} {language} {name}: {wrong}" for wrong in broken(page)]
                    picture = Image.open(io.BytesIO(page.screenshot(full_page=True, animations="disabled")))
                    self.taken.setdefault((size, language), []).append(captioned(picture, name, size))
        if self.folder and before:
            page.set_viewport_size(before)

    def develop(self) -> None:
        """Write a contact sheet for each size and language, and the broken layout rules."""
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            for (size, language), pictures in self.taken.items():
                sheet(pictures, ACROSS[size]).save(self.folder / f"championship-{size}-{language}.png")
            (self.folder / "broken.txt").write_text("\n".join(self.found), encoding="utf-8")
