"""The pictures of the guides that show the desk: `python -m tests.broker.web.pages.pictures FOLDER` (`make pictures`).

They are of the pages as they are today, of events that are made for it, on a clock that stands.
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from PIL import Image
from playwright.sync_api import Page, ViewportSize

from tests.broker.web.pages.desks import served
from tests.broker.web.pages.places import CODE, HEAD, Place, keyed, named, submit
from tests.broker.web.pages.visits import Look, Visits
from tests.broker.web.sample import NAMES
from tests.chromium import chromium

COLOURS: Final = 128
"""Flat pictures need no more, and the files stay small."""


def set_up(page: Page) -> None:
    """Go through the steps of an event until it may start."""
    named(page)
    page.locator("#players-csv").fill("\n".join(("name,country", *(f"{name},FRA" for name in NAMES.values()))))
    submit(page, "players")
    page.locator("[name=rounds]").fill("4")
    submit(page, "look_movement")
    submit(page, "make_movement")
    submit(page, "deals")
    page.evaluate("scrollTo(0, 0)")


def corrected(page: Page) -> None:
    """Ask whom a correction would move."""
    page.locator("[name=win][value=self_drawn]").check()
    for seat in ("east", "south", "west", "north"):
        page.locator(f"[name=hv-{seat}]").fill("30" if seat == "north" else "")
    page.locator("[name=discarder]").select_option("")
    page.locator("[name=reason]").fill("The table had entered it upside down")
    submit(page, "look")


class Picture(NamedTuple):
    """What is on a picture, and how large it is."""

    place: Place
    size: ViewportSize


PICTURES: Final[Mapping[str, Picture]] = {
    "carriers": Picture(Place("carriers", "busy", "/carriers"), {"width": 390, "height": 844}),
    "deal": Picture(Place("deal", "over", "/deal/3"), {"width": 1280, "height": 1060}),
    "desk": Picture(Place("room", "busy", "/"), {"width": 1400, "height": 1250}),
    "display": Picture(Place("display", "over", "/display"), {"width": 1280, "height": 720}),
    "grid": Picture(Place("grid", "busy", "/grid"), {"width": 1280, "height": 860}),
    "paper": Picture(Place("paper", "busy", "/paper", HEAD, keyed), {"width": 1100, "height": 800}),
    "receipt": Picture(Place("receipt", "over", f"/receipt/{CODE}", None), {"width": 780, "height": 860}),
    "riichi": Picture(Place("riichi", "sessions", "/riichi"), {"width": 1280, "height": 800}),
    "ruling": Picture(
        Place("ruling", "over", "/rulings/new?play=1-3&kind=correct", HEAD, corrected), {"width": 1280, "height": 1440}
    ),
    "setup": Picture(Place("set-up", "new", "/setup", "organiser", set_up), {"width": 960, "height": 1020}),
}


def main(folder: Path) -> None:
    """Write the pictures."""
    out = folder.resolve()
    # The desks' folders are told by their own names alone, as the page of set-up shows the command for this one.
    with (
        tempfile.TemporaryDirectory() as events,
        contextlib.chdir(events),
        served(Path()) as desks,
        chromium() as browser,
    ):
        visits = Visits(browser, desks, Look("laptop", "light", "en"))
        for name, (place, size) in PICTURES.items():
            taken = visits.to(place, size=size).screenshot(animations="disabled")
            Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS).save(out / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
