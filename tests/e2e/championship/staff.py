"""What organisers, helpers at the door and arbiters do in their browsers, each with their own account."""

from collections.abc import Iterable
from typing import Final

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.championship.pages import open_page
from tests.e2e.championship.venue import EVENT, PIN, PROFILE

PASSWORD: Final = "four winds and a dragon"
"""Password of the accounts of a test."""

ROLES: Final = {"olga": "organiser", "tao": "table_arbiter"}
HEAD: Final = "anne"
PHONE: Final = {"width": 390, "height": 844}


class Person:
    """A person with a browser."""

    def __init__(self, browser: Browser, desk: str, name: str = "", *, phone: bool = False) -> None:
        """Open a browser. `name` is that of the account; empty for none."""
        size = {"viewport": PHONE, "has_touch": True} if phone else {"viewport": {"width": 1280, "height": 900}}
        self.context: BrowserContext = browser.new_context(locale="en-GB", ignore_https_errors=True, **size)
        self.page: Page = self.context.new_page()
        self.desk = desk
        if name:
            self.go("login")
            self.page.get_by_label("User name").fill(name)
            self.page.get_by_label("Password").fill(PASSWORD)
            self.press("Log in")
            expect(self.page.locator("form[action='/logout']")).to_have_count(1)

    def go(self, path: str) -> None:
        """Open a page, in English."""
        open_page(self.page, self.at(path))

    def at(self, path: str) -> str:
        """Return a page's address."""
        return f"{self.desk}{path}{'&' if '?' in path else '?'}lang=en"

    def press(self, button: str) -> None:
        """Press a button and wait for the resulting page."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button, exact=True).click()

    def fill(self, **fields: str) -> None:
        """Fill fields of a form, by name."""
        for name, text in fields.items():
            self.page.locator(f"[name={name}]:visible").first.fill(text)

    def done(self) -> None:
        """Assert that the desk reports success."""
        expect(self.page.locator("#problem")).to_have_count(0)
        expect(self.page.locator("#done")).to_be_visible()


def make_accounts(browser: Browser, desk: str, link: str) -> None:
    """Create the first head arbiter by the link, and accounts for all others."""
    head = Person(browser, desk)
    head.page.goto(f"{link}{'&' if '?' in link else '?'}lang=en")
    head.fill(full="Anne Arbiter", name=HEAD, password=PASSWORD)
    head.press("Create account")
    for name, role in ROLES.items():
        head.go("people")
        form = head.page.locator("section[aria-labelledby=add]")
        form.get_by_label("Full name").fill(f"{name.title()} {role}")
        form.get_by_label("User name").fill(name)
        form.get_by_label("Role").select_option(role)
        form.get_by_label("Password").fill(PASSWORD)
        head.press("Create account")
        expect(head.page.locator(f"#account-{name}")).to_be_visible()
    head.context.close()


def set_event_up(organiser: Person, listed: str) -> None:
    """Go through *Set-up*: two sections, and a final of sixteen with two thirds carried over."""
    organiser.go("setup")
    organiser.fill(name=EVENT, title="Tournoi international de Lille 2026")
    organiser.page.locator("[name=profile]").select_option(PROFILE)
    organiser.page.get_by_text("Prizes, public address").click()
    organiser.fill(prizes="Coupe de la ville de Lille\nMédaille d’argent\n奖牌")
    save(organiser, "head")
    organiser.page.locator("#players-csv").fill(listed)
    save(organiser, "check_players", keeps=False)
    save(organiser, "players")
    organiser.fill(hours="8")
    save(organiser, "formats", keeps=False)
    expect(organiser.page.locator("#formats")).to_be_visible()
    organiser.page.get_by_text("Sections and a final").click()
    organiser.fill(rounds="8", copies="2", sections="2", final="16", final_rounds="4", carry_over="2/3")
    organiser.press("Preview")
    expect(organiser.page.locator("#ahead")).to_be_visible()
    save(organiser, "make_movement")
    save(organiser, "deals")
    times = [("Saturday", "1", "8", "2026-10-31T09:30"), ("Sunday", "9", "12", "2026-11-01T10:00")]
    organiser.page.get_by_text("5. Sessions and clocks").click()
    organiser.page.get_by_text("More sessions").click()
    for at, row in enumerate(times, 1):
        for field, text in zip(("name", "first_round", "last_round", "starts"), row, strict=True):
            organiser.page.locator(f"[name={field}-{at}]").fill(text)
    save(organiser, "sessions")
    expect(organiser.page.locator("#check-title")).to_contain_text("The event is ready to start.")


def save(person: Person, action: str, *, keeps: bool = True) -> None:
    """Press the button of a step, and assert that it succeeded."""
    with person.page.expect_navigation():
        person.page.locator(f"button[value={action}]").first.click()
    if keeps:
        person.done()


def set_pin(head: Person) -> None:
    """Set the PIN of the arbiters."""
    head.go("pairing?new=1")
    head.fill(pin=PIN, pin_again=PIN)
    head.press("Set PIN")


def check_in(helper: Person, names: Iterable[str], absent: Iterable[str]) -> None:
    """Check everybody in or mark them absent at the door, searching each by name."""
    gone = set(absent)
    helper.go("checkin")
    for name in names:
        said = "Absent" if name in gone else "Present"
        with helper.page.expect_navigation():
            helper.page.get_by_role("button", name=f"{said} {name}", exact=True).tap()
    expect(helper.page.locator("#counts")).to_contain_text("0 not yet seen")
    expect(helper.page.locator("#counts")).to_contain_text(f"{len(gone)} absent")


def change_who_plays(organiser: Person, reason: str, enter: str = "", leave: str = "") -> None:
    """Replan the remaining plays; players marked absent are ticked already."""
    organiser.go("players")
    if enter:
        organiser.page.get_by_label("New players").fill(enter)
    if leave:
        organiser.page.get_by_role("checkbox", name=leave).check()
    organiser.page.get_by_label("Reason").first.fill(reason)
    organiser.page.get_by_role("button", name="Show the new seating").first.click()
    expect(organiser.page.locator("#cost")).to_be_visible()
    organiser.press("Publish the new seating")
    organiser.done()


def rule(arbiter: Person, path: str, reason: str, **fields: str) -> str:
    """Fill in a ruling, view its effect and publish it; return its id."""
    arbiter.go(f"rulings/new?{path}")
    form = arbiter.page.locator("#ruling")
    for name, text in {**fields, "reason": reason}.items():
        found = form.locator(f"[name={name}]")
        kind = found.first.evaluate("(part) => part.type")
        if kind == "checkbox":
            found.check()
        elif kind == "radio":
            form.locator(f"[name={name}][value={text}]").check()
        elif kind.startswith("select"):
            found.select_option(text)
        else:
            found.fill(text)
    arbiter.press("Preview")
    expect(arbiter.page.locator("#problem")).to_have_count(0)
    arbiter.press("Publish")
    newest = arbiter.page.locator("#rulings li").first
    expect(newest).to_contain_text(reason)
    return str(newest.get_attribute("id"))
