"""Contact sheets of the desk: `python -m tests.broker.web.pages.gallery FOLDER [phone] [fr] ...` (`make pages`).

One sheet shows every place in `places.py` at one size and in one language; light and dark take turns. Words after the
folder select sizes, languages or schemes. Violations of the laws in `laws.py` are printed, and the exit status is 1.
"""

import argparse
import io
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Error

from broker.i18n import languages
from broker.web.server import DeskServer
from tests.broker.web.pages.desks import served
from tests.broker.web.pages.laws import broken, inaccessible
from tests.broker.web.pages.places import PLACES
from tests.broker.web.pages.visits import SIZES, Look, Visits
from tests.chromium import chromium

WIDTHS: Final = {"phone": 300, "laptop": 640, "projector": 640}
"""Width of one picture on a sheet, in pixels."""
ACROSS: Final = {"phone": 12, "laptop": 6, "projector": 6}
SCREENS: Final = {"phone": 3.0, "laptop": 2.0, "projector": 1.5}
"""Maximum height of a page on the sheet, in screen heights."""
CAPTION: Final = 18
GAP: Final = 8
GREY: Final = (110, 110, 110)
WHITE: Final = (255, 255, 255)


def looks(wanted: Sequence[str]) -> Iterator[Look]:
    """Yield the looks of the sheets; schemes alternate, so that each size and each language has both."""
    schemes = get_args(Look.__annotations__["scheme"])
    for at, size in enumerate(SIZES):
        for language in languages():
            look = Look(size, schemes[(at + languages().index(language)) % len(schemes)], language)
            if set(wanted) <= set(look):
                yield look


def taken(browser: Browser, desks: Mapping[str, DeskServer], look: Look, found: list[str]) -> Iterator[Image.Image]:
    """Yield a captioned picture of each place; add violations to `found`."""
    visits = Visits(browser, desks, look)
    for place in PLACES:
        try:
            page = visits.to(place)
            found += [f"{' '.join(look)}: {place.name}: {wrong}" for wrong in (*broken(page), *inaccessible(page))]
            picture = Image.open(io.BytesIO(page.screenshot(full_page=True, animations="disabled")))
        except Error as error:
            found.append(f"{' '.join(look)}: {place.name}: {error.message.splitlines()[0]}")
            continue
        yield captioned(picture, place.name, look.size)
    visits.close()


def captioned(picture: Image.Image, name: str, size: str) -> Image.Image:
    width, most = WIDTHS[size], round(SIZES[size]["height"] * SCREENS[size])
    shown = picture.convert("RGB").crop((0, 0, picture.width, min(picture.height, most)))
    small = shown.resize((width, shown.height * width // shown.width), Image.Resampling.LANCZOS)
    made = Image.new("RGB", (width, small.height + CAPTION), GREY)
    ImageDraw.Draw(made).text((2, 2), name, WHITE)
    made.paste(small, (0, CAPTION))
    return made


def sheet(pictures: Sequence[Image.Image], across: int) -> Image.Image:
    """Arrange pictures of equal width in columns, each in the shortest column."""
    width = pictures[0].width + GAP
    ends = [GAP] * across
    placed = []
    for picture in pictures:
        column = ends.index(min(ends))
        placed.append((picture, (GAP + column * width, ends[column])))
        ends[column] += picture.height + GAP
    made = Image.new("RGB", (GAP + across * width, max(ends)), GREY)
    for picture, where in placed:
        made.paste(picture, where)
    return made


def main(folder: Path, wanted: Sequence[str]) -> int:
    """Write the sheets; return the number of violations."""
    folder.mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    with tempfile.TemporaryDirectory() as events, served(Path(events)) as desks, chromium() as browser:
        for look in looks(wanted):
            made = sheet([*taken(browser, desks, look, found)], ACROSS[look.size])
            made.save(folder / f"pages-{'-'.join(look)}.png")
    for line in found:
        sys.stdout.write(f"{line}\n")
    return len(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw contact sheets of the desk's pages.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("wanted", nargs="*", metavar="LOOK", help="phone, laptop, projector; en, fr, zh; light, dark")
    given = parser.parse_args()
    sys.exit(bool(main(given.folder, given.wanted)))
