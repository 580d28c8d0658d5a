"""Every page of the desk in each interesting state: its address, the role that opens it, and what is done first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Page

from broker.protocol import Result, receipt_code
from broker.web.setup.forms import MAKING_PATH as MAKING
from tests.broker.scorer import small
from tests.broker.scorer.folders import until_round
from tests.broker.web import sample
from tests.broker.web.pages.desks import APPEALED, timed

HEAD: Final = "head_arbiter"


@dataclass(frozen=True)
class Place:
    """One page of one desk (`desks.DESKS`). `who` is a role, or None without a login."""

    name: str
    desk: str
    path: str
    who: str | None = HEAD
    do: Callable[[Page], None] = lambda _: None
    """Prepares the page. It must not change anything that another page shows."""


def submit(page: Page, value: str = "") -> None:
    """Press a form's button with this value, or its only one."""
    page.locator(f"main button[value={value}]:not(.unseen)" if value else "main form button:not(.unseen)").first.click()
    page.wait_for_load_state()
    page.wait_for_url(lambda url: MAKING not in url)  # making a movement takes some seconds


def going_on(page: Page) -> None:
    """Preview who qualifies for the final."""
    submit(page, "look")


def read_out(page: Page) -> None:
    """Unfold the first place that is read out."""
    page.locator("summary").last.click()


def wrong_password(page: Page) -> None:
    """Try to log in with a wrong password."""
    page.locator("[name=name]").fill("anne")
    page.locator("[name=password]").fill("not that one")
    submit(page)


def whom_it_moves(page: Page) -> None:
    """Preview the effects of a void play."""
    page.locator("[name=reason]").fill("Two tiles of the wall lay face up")
    submit(page, "look")


def asked(page: Page) -> None:
    """Preview the effects of counting a play that is kept apart."""
    page.locator("[name=reason]").fill("Four players confirm it")
    submit(page, "look")


def nothing_given(page: Page, value: str = "") -> None:
    """Send a form without its required fields, as an old browser would."""
    page.evaluate("document.querySelectorAll('[required]').forEach((field) => field.removeAttribute('required'))")
    submit(page, value)


def coded(page: Page) -> None:
    """Create a code for the table that has no device."""
    page.locator("[name=table-4]").check()
    submit(page)


def unreasoned(page: Page) -> None:
    """Preview a ruling without filling anything in."""
    nothing_given(page, "look")


def nobody_added(page: Page) -> None:
    """Add an account that has no name."""
    nothing_given(page, "add")


def keyed(page: Page) -> None:
    """Key in a sheet of the third round."""
    booking = small.event().bookings[3, 3]
    for name, text in {"round": "3", "table": "3", "deal": str(booking.deal), "east": "18", "fine_north": "4"}.items():
        page.locator(f"[name={name}]").fill(text)
    page.locator("[name=win][value=discard]").check()
    for seat, points in {"east": "+42", "south": "-8", "west": "-8", "north": "-26"}.items():
        page.locator(f"[name=points_{seat}]").fill(points)
    page.locator("[name=discarder]").select_option("north")
    submit(page, "look")


def miskeyed(page: Page) -> None:
    """Key in sheets from a file with two wrong lines."""
    heading = page.locator("#sheets-csv").get_attribute("placeholder") or ""
    page.locator("#sheets-csv").fill(f"{heading}\n9,3,1,draw\n1,99,1,draw\n")
    submit(page, "look_csv")


def unfold(page: Page, step: str) -> None:
    """Unfold a step of the set-up."""
    page.evaluate("(id) => { document.getElementById(id).parentElement.open = true }", step)


def named(page: Page) -> None:
    """Enter a new event's name and rules."""
    unfold(page, "head")
    page.locator("[name=name]").fill("lille-2026")
    page.locator("[name=title]").fill("Tournoi international de Lille 2026")
    submit(page, "head")


def listed(page: Page) -> None:
    """Enter the event's name, then check a list of players in teams."""
    named(page)
    lines = (
        f"{name},FRA,Club de Strasbourg,{at},0800{at:04},Équipe {at % 4}"
        for at, name in enumerate(sample.NAMES.values())
    )
    unfold(page, "players")
    page.locator("#players-csv").fill("\n".join(("name,country,club,national,ema,team", *lines)))
    submit(page, "check_players")


def mislisted(page: Page) -> None:
    """Check a list of players with mistakes."""
    named(page)
    unfold(page, "players")
    page.locator("#players-csv").fill("name,country,club\nAnna,france,x\n,FRA,y\nBea,12,z\n")
    submit(page, "check_players")


def drawing(page: Page) -> None:
    """Set the event up to its movement and announce a draw by two people, unless one is already announced."""
    here = page.url
    if page.locator("[name=words]").count():
        return
    page.goto(here.replace("/setup/draw", "/setup"))
    named(page)
    unfold(page, "players")
    page.locator("#players-csv").fill("\n".join(("name,country", *(f"{name},FRA" for name in sample.NAMES.values()))))
    submit(page, "players")
    page.locator("[name=rounds]").fill("4")
    submit(page, "look_movement")
    submit(page, "make_movement")
    page.goto(here)
    for at, name in enumerate(("Zoé Öztürk-Lefèvre", "李 伟")):
        page.locator(f"[name=name-{at}]").fill(name)
        page.locator(f"[name=hash-{at}]").fill(str(at) * 64)
    submit(page, "announce")


def offered_formats(page: Page) -> None:
    """Enter the players if needed, then ask for formats."""
    if not page.locator("a[href='/setup/players.csv']").count():
        named(page)
        unfold(page, "players")
        page.locator("#players-csv").fill(
            "\n".join(("name,country", *(f"{name},FRA" for name in sample.NAMES.values())))
        )
        submit(page, "players")
    unfold(page, "movement")  # folded if the event already has one
    submit(page, "formats")


def respelt(page: Page) -> None:
    """Preview the correction of a player's name."""
    form = page.locator("#players form.card")
    form.locator("[name=name]").fill("Zoé Öztürk-Lefèvre")
    form.locator("[name=reason]").fill("Misspelt on the list")
    form.locator("button[value=look]").click()
    page.wait_for_load_state()


CODE: Final = receipt_code(next(one for one in timed(until_round(1)) if isinstance(one.fact, Result)))


def seated_anew(page: Page) -> None:
    """Preview a new seating."""
    page.locator("input[name=leave-p07]").check()
    page.locator("textarea[name=enter]").fill("Zoé Öztürk\nMaria del Carmen Fernández-Villanueva de la Torre")
    page.locator("input[name=reason]").fill("p07 did not come")
    submit(page, "look")
    page.locator("#cost").wait_for()


def nobody_named(page: Page) -> None:
    """Ask for a new seating without naming anybody."""
    page.locator("input[name=reason]").fill("why")
    submit(page, "look")
    page.locator("#problem").wait_for()


PLACES: Final = (
    Place("log in", "busy", "/login", None),
    Place("log in: refused", "busy", "/login", None, wrong_password),
    Place("welcome: used before", "busy", "/welcome", None),
    Place("receipt: code", "busy", "/receipt", None),
    Place("receipt", "busy", f"/receipt/{CODE}", None),
    Place("receipt: published", "over", f"/receipt/{CODE}", None),
    Place("receipt: none", "busy", "/receipt/ABCDEFG", None),
    Place("room", "busy", "/"),
    Place("room: nothing yet", "empty", "/"),
    Place("room: teams", "teams", "/"),
    Place("room: display", "busy", "/", "display"),
    Place("cards", "hall", "/?page=2"),
    Place("halls", "centre", "/"),
    Place("hall and centre", "in_hall", "/"),
    Place("grid", "busy", "/grid"),
    Place("grid: nothing yet", "empty", "/grid"),
    Place("grid: what wants", "empty", "/grid?kind=wants"),
    Place("feed", "busy", "/wire"),
    Place("feed: nothing yet", "empty", "/wire"),
    Place("standings", "busy", "/standings"),
    Place("standings: likely places", "late", "/standings"),
    Place("standings: nothing yet", "empty", "/standings"),
    Place("standings: teams", "teams", "/standings"),
    Place("luck and strength", "over", "/luck"),
    Place("luck and strength: than one", "teams", "/luck?than=p03"),
    Place("luck and strength: too little", "busy", "/luck"),
    Place("deals", "busy", "/deals"),
    Place("deals: over", "over", "/deals"),
    Place("deal", "busy", "/deal/1"),
    Place("deal: final", "over", "/deal/3"),
    Place("deal: nothing yet", "empty", "/deal/1"),
    Place("deal: riichi", "riichi", "/deal/1"),
    Place("player", "busy", "/player/p07"),
    Place("player: over", "over", "/player/p07"),
    Place("player: nothing yet", "empty", "/player/p16"),
    Place("team", "teams", "/team/1"),
    Place("carriers", "busy", "/carriers"),
    Place("carriers: over", "teams", "/carriers"),
    Place("seating", "busy", "/seating"),
    Place("seating by table", "busy", "/seating?by=table"),
    Place("seating: nobody", "ended", "/seating?q=Nemo"),
    Place("display in the hall", "teams", "/display"),
    Place("display: seating", "empty", "/display"),
    Place("riichi", "sessions", "/riichi"),
    Place("riichi: names to spell", "unspelled", "/riichi"),
    Place("orders", "busy", "/orders?table=2"),
    Place("orders: refused", "busy", "/orders", HEAD, nothing_given),
    Place("orders: none", "empty", "/orders"),
    Place("rulings", "busy", "/rulings"),
    Place("rulings: none", "empty", "/rulings"),
    Place("infractions", "over", "/infractions"),
    Place("infractions: none", "empty", "/infractions"),
    Place("ruling: appeal", "over", "/rulings/new?appeal=ruling-0001&kind=appeal"),
    Place("ruling: decision on an appeal", "over", f"/rulings/new?appeal={APPEALED}&kind=appeal_decided"),
    Place("ruling: of what", "busy", "/rulings/new"),
    Place("ruling: correction", "busy", "/rulings/new?play=1-2&kind=correct"),
    Place("ruling: correction, riichi", "riichi", "/rulings/new?play=1-2&kind=correct"),
    Place("ruling: whom it moves", "over", "/rulings/new?play=1-3&kind=void", HEAD, whom_it_moves),
    Place("ruling: adjusted", "busy", "/rulings/new?play=1-2&kind=adjusted"),
    Place("ruling: award", "busy", "/rulings/new?play=1-2&kind=award"),
    Place("ruling: fine", "busy", "/rulings/new?play=1-2&kind=fine"),
    Place("ruling: seats", "busy", "/rulings/new?play=1-2&kind=seats_played"),
    Place("ruling: deal", "busy", "/rulings/new?play=1-2&kind=deal_played"),
    Place("ruling: counted after all", "busy", "/rulings/new?play=4-4&kind=taken_over"),
    Place("ruling: counted after all, whom it moves", "busy", "/rulings/new?play=4-4&kind=taken_over", HEAD, asked),
    Place("ruling: left out", "busy", "/rulings/new?play=4-4&kind=discarded"),
    Place("what happened", "busy", "/what-happened?play=1-2"),
    Place(
        "what happened: answered",
        "busy",
        "/what-happened?play=1-2&wall-east=9&wall-south=10&wall-west=9&wall-north=10&turn=south&phase=draw",
    ),
    Place(
        "what happened: claims",
        "busy",
        "/what-happened?wall-east=1&wall-south=0&wall-west=1&wall-north=1&turn=east&phase=claim&dealer=east"
        "&claim-west=hu_on_discard&claim-south=pung",
    ),
    Place("what happened: refused", "busy", "/what-happened?turn=east&wall-east=30"),
    Place("ruling: fouled", "busy", "/rulings/new?deal=2"),
    Place("ruling: substitute", "busy", "/rulings/new?kind=substitute"),
    Place("ruling: substitute, refused", "busy", "/rulings/new?kind=substitute", HEAD, unreasoned),
    Place("ruling: withdrawn", "busy", "/rulings/new?kind=withdrawn"),
    Place("ruling: end of corrections", "busy", "/rulings/new?kind=deadline"),
    Place("what if", "busy", "/what-if"),
    Place("what if: own score excluded", "teams", "/what-if?profile=mcr"),
    Place("paper", "busy", "/paper"),
    Place("paper: a second look", "busy", "/paper", HEAD, keyed),
    Place("paper: declared", "ended", "/paper"),
    Place("paper: refused", "busy", "/paper", HEAD, miskeyed),
    Place("final", "stages", "/final"),
    Place("final: who goes on", "stages", "/final", HEAD, going_on),
    Place("final: open", "busy", "/final"),
    Place("final: declared", "ended", "/final"),
    Place("ceremony", "ended", "/ceremony", HEAD, read_out),
    Place("standings: stages", "stages", "/standings"),
    Place("display: stages", "stages", "/display"),
    Place("check-in", "busy", "/checkin", "table_arbiter"),
    Place("check-in: nobody", "busy", "/checkin?q=Nemo"),
    Place("players", "busy", "/players"),
    Place("players: a new seating", "empty", "/players", HEAD, seated_anew),
    Place("players: refused", "busy", "/players", HEAD, nobody_named),
    Place("exports", "busy", "/exports"),
    Place("exports: riichi", "riichi", "/exports"),
    Place("exports: organiser", "ended", "/exports", "organiser"),
    Place("set-up: under way", "teams", "/setup"),
    Place("set-up: a player corrected", "busy", "/setup?player=p03", "organiser"),
    Place("set-up: a correction looked at", "busy", "/setup?player=p03", "organiser", respelt),
    Place("set-up: new", "new", "/setup"),
    Place("set-up: players in teams", "new", "/setup", HEAD, listed),
    Place("set-up: formats", "new", "/setup", HEAD, offered_formats),
    Place("set-up: refused", "new", "/setup", HEAD, mislisted),
    Place("draw: nothing announced", "new", "/setup/draw"),
    Place("draw", "new", "/setup/draw", HEAD, drawing),
    Place("pairing", "busy", "/pairing?new=1"),
    Place("pairing: codes", "busy", "/pairing?new=1", HEAD, coded),
    Place("devices", "busy", "/devices"),
    Place("people", "busy", "/people"),
    Place("people: refused", "busy", "/people", HEAD, nobody_added),
    Place("no such deal", "busy", "/deal/99"),
    Place("Page not found", "busy", "/nothing-here"),
    Place("not for this role", "busy", "/people", "table_arbiter"),
)
