"""Makes the pictures of the desk and its prints for the guides (`make pictures`).

`python -m tests.broker.web.pages.pictures FOLDER [NAME...]` makes all of them, or only those named, from the current
pages with sample events and a fixed clock.
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pypdfium2
from msgspec.structs import replace
from PIL import Image
from playwright.sync_api import Page, ViewportSize

from broker.event.movement import sixteen_players
from broker.export.pmn.event import record_play
from broker.export.pmn.record import by_wind
from broker.export.replay import page_of_records
from broker.i18n import Translator
from broker.rules import DEFAULT_MCR, load_mcr
from broker.rules.mcr.fan import fan_judge
from broker.sim.demo_event import PLAYERS
from broker.sim.table import play_event
from tests.broker.scorer import small
from tests.broker.web.pages.desks import served
from tests.broker.web.pages.places import CODE, HEAD, Place, keyed, named, submit
from tests.broker.web.pages.visits import Look, Visits
from tests.broker.web.sample import NAMES
from tests.chromium import chromium

COLOURS: Final = 128
"""Number of colours: enough for flat pictures, and the files stay small."""


def set_up(page: Page) -> None:
    """Complete the steps of the set-up until the event can start."""
    named(page)
    page.locator("#players-csv").fill("\n".join(("name,country", *(f"{name},FRA" for name in NAMES.values()))))
    submit(page, "players")
    page.locator("[name=rounds]").fill("4")
    submit(page, "look_movement")
    submit(page, "make_movement")
    submit(page, "deals")


def corrected(page: Page) -> None:
    """Preview a correction."""
    page.locator("[name=win][value=self_drawn]").check()
    for seat in ("east", "south", "west", "north"):
        page.locator(f"[name=hv-{seat}]").fill("30" if seat == "north" else "")
    page.locator("[name=discarder]").select_option("")
    page.locator("[name=reason]").fill("The table had entered it upside down")
    submit(page, "look")


LIVE: Final = "html:not(:has(.line)), html[data-line=live]"
"""Matches a page that is live, or that has no live updates."""


class Picture(NamedTuple):
    """The place that a picture shows, and the picture's size."""

    place: Place
    size: ViewportSize


PICTURES: Final[Mapping[str, Picture]] = {
    "carriers": Picture(Place("carriers", "busy", "/carriers"), {"width": 390, "height": 872}),
    "deal": Picture(Place("deal", "over", "/deal/3"), {"width": 1280, "height": 896}),
    "desk": Picture(Place("room", "busy", "/"), {"width": 1400, "height": 1284}),
    "display": Picture(Place("display", "over", "/display"), {"width": 1280, "height": 720}),
    "grid": Picture(Place("grid", "busy", "/grid"), {"width": 1280, "height": 924}),
    "paper": Picture(Place("paper", "busy", "/paper", HEAD, keyed), {"width": 1100, "height": 652}),
    "receipt": Picture(Place("receipt", "over", f"/receipt/{CODE}", None), {"width": 780, "height": 860}),
    "riichi": Picture(Place("riichi", "sessions", "/riichi"), {"width": 1280, "height": 846}),
    "ruling": Picture(
        Place("ruling", "over", "/rulings/new?play=1-3&kind=correct", HEAD, corrected), {"width": 1280, "height": 1544}
    ),
    "setup": Picture(Place("set-up", "new", "/setup", "organiser", set_up), {"width": 960, "height": 966}),
}


EXPORTS: Final = Place("exports", "over", "/exports")
DPI: Final = 100
REPLAY: Final[ViewportSize] = {"width": 1180, "height": 800}
TURN: Final = 7


def replayed() -> str:
    """Return the replay of one deal by simulated players at four tables, the same in every run."""
    deal, rules = small.deals()[0].deal(), load_mcr(DEFAULT_MCR)
    bookings = [one for one in sixteen_players() if one.deal == deal.number]
    strengths = dict.fromkeys(range(1, len(PLAYERS) + 1), 1.0)
    records = [
        replace(
            record_play(deal, played.actions, rules, fan_judge(rules.payments)),
            table=booking.table,
            round=booking.round,
            players=by_wind({seat: PLAYERS[number - 1] for seat, number in booking.players.items()}, deal.dealer),
        )
        for booking, played in play_event(bookings, lambda _: deal, strengths, rules.payments, Random)
    ]
    return page_of_records(records, "Coupe des Quatre Vents 2026: replay", Translator())


def printed(page: Page, name: str) -> Image.Image:
    """Return the first page of a PDF to which a page of the desk links."""
    sent = page.context.request.get(page.url.replace("?", f"/{name}?", 1), fail_on_status_code=True)
    picture: Image.Image = pypdfium2.PdfDocument(sent.body())[0].render(scale=DPI / 72).to_pil()
    return picture


def save(taken: bytes | Image.Image, path: Path) -> None:
    """Write a picture with a reduced number of colours."""
    picture = taken if isinstance(taken, Image.Image) else Image.open(io.BytesIO(taken))
    picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main(folder: Path, wanted: Collection[str] = ()) -> None:
    """Write all pictures, or only the wanted ones."""
    out, wanted = folder.resolve(), {*wanted} or {*PICTURES, "replay", "travellers"}
    shown = {name: picture for name, picture in PICTURES.items() if name in wanted}
    # Folders are relative, because the set-up page shows the command with the event's folder.
    with (
        tempfile.TemporaryDirectory() as events,
        contextlib.chdir(events),
        served(Path(), ("over", *(place.desk for place, _ in shown.values()))) as desks,
        chromium() as browser,
    ):
        visits = Visits(browser, desks, Look("laptop", "light", "en"))
        for name, (place, size) in shown.items():
            page = visits.to(place, size=size)
            page.locator(LIVE).wait_for(state="attached")
            page.evaluate("scrollTo(0, 0)")  # the browser scrolls to the focused field
            save(page.screenshot(animations="disabled"), out / f"{name}.png")
        if "travellers" in wanted:
            save(printed(visits.to(EXPORTS), "travellers.pdf"), out / "travellers.png")
        if "replay" in wanted:
            page = browser.new_page(viewport=REPLAY)
            page.set_content(replayed())
            for _ in range(TURN):
                page.locator("#after").click()
            save(page.screenshot(full_page=True), out / "replay.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
