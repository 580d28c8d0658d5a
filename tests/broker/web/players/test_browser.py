"""An event with no-shows, a late entry and a player who leaves and returns, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, BrowserContext, Page, expect

from broker.cli.main import homologue
from broker.event import Event, read_plan
from broker.event.movement import check_movement
from broker.protocol import Confirmed, Fact, Restored, Result, Seated
from tests.broker.people.conftest import PASSWORD
from tests.broker.scorer.small import NAME, log
from tests.broker.web.pages.desks import Whole, quickly, whole

NAMES: Final = ("Élodie Lefèvre", "Zoé Öztürk", *(f"Player {number}" for number in range(3, 25)))
NO_SHOWS: Final = ("Player 7", "Player 19")


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Whole]:
    listed, folder = tmp_path / "list.csv", tmp_path / "cup"
    listed.write_text("name\n" + "\n".join(NAMES), encoding="utf-8")
    made = CliRunner().invoke(
        homologue,
        f"event new {folder} --name {NAME} --title Cup --profile oedmc-2020 --players {listed} --rounds 5".split(),
    )
    assert made.exit_code == 0, made.output
    with quickly(), whole(folder, read_plan(folder), write=lambda *_: None) as found:
        yield found


@pytest.fixture
def phone(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="en-GB", viewport={"width": 390, "height": 844}, has_touch=True)
    yield made
    made.close()


def page_of(context: BrowserContext, room: Whole, who: str, path: str) -> Page:
    """Log in and open a page."""
    page = context.new_page()
    page.goto(f"{room.server.url}login?lang=en")
    page.get_by_label("User name").fill(who)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page).not_to_have_url(re.compile("/login"))
    page.goto(f"{room.server.url}{path}?lang=en")
    return page


def playing(event: Event, round_: int) -> list[str]:
    """Return the names of the players seated in a round."""
    seats = (who for play in event.plan.plays if play.round == round_ for who in play.players.values())
    return sorted(event.players[who].name for who in seats)


def played(event: Event, table: int, round_: int) -> tuple[Fact, ...]:
    """Return a table's facts about a drawn play."""
    play = event.bookings[table, round_]
    return (
        Restored(round=round_, deal=play.deal, verified=True, form=event.form(play.deal), refusals=0),
        Seated(round=round_, deal=play.deal, players=play.players),
        Confirmed(round=round_, deal=play.deal),
        Result(
            round=round_,
            deal=play.deal,
            profile=event.profile.id,
            players=play.players,
            win="draw",
            winners={},
            discarder=None,
            points=dict.fromkeys(play.players, 0),
            fines={},
        ),
    )


def show(page: Page, reason: str) -> None:
    page.get_by_label("Reason").first.fill(reason)
    page.get_by_role("button", name="Show the new seating").first.click()
    expect(page.locator("#cost")).to_be_visible()


def publish(page: Page) -> None:
    page.get_by_role("button", name="Publish the new seating").click()
    expect(page.locator("#done")).to_be_visible()


def check_in(door: Page, address: str) -> None:
    """Check everybody in or mark them absent; the first is found without typing accents."""
    door.get_by_label("Name").fill("lefevre")
    door.keyboard.press("Enter")
    expect(door.locator(".checkins li")).to_have_count(1)
    door.get_by_role("button", name="Present Élodie Lefèvre").tap()
    expect(door.locator("#counts")).to_contain_text("1 present")
    door.goto(address)
    counted = {"Present": 1, "Absent": 0}
    for name in NAMES[1:]:
        said = "Absent" if name in NO_SHOWS else "Present"
        door.get_by_role("button", name=f"{said} {name}", exact=True).tap()
        counted[said] += 1
        expect(door.locator("#counts")).to_contain_text(re.compile(rf"\b{counted[said]} {said.lower()}"))
    assert counted == {"Present": 22, "Absent": 2}


@pytest.mark.slow
def test_seating_follows_no_shows_late_entries_and_departures(
    room: Whole, phone: BrowserContext, browser: Browser
) -> None:
    state = room.scorer.state
    door = page_of(phone, room, "table_arbiter", "checkin")
    check_in(door, f"{room.server.url}checkin?lang=en")
    desk = page_of(browser.new_context(locale="en-GB"), room, "organiser", "players")
    desk.get_by_label("New players").fill("Ada Lovelace")
    show(desk, "two did not come, one came")
    expect(desk.locator("#cost")).to_contain_text("Ada Lovelace")
    publish(desk)
    here = {one for one in NAMES if one not in NO_SHOWS} | {"Ada Lovelace"}
    for round_ in range(1, 6):
        assert (len(playing(state.event, round_)), set(playing(state.event, round_)) <= here) == (20, True)
    assert check_movement(state.event.plan.plays, 6) == []
    desk.goto(f"{room.server.url}seating?lang=en")
    expect(desk.locator("main")).to_contain_text("Seating changed at")
    expect(desk.locator("main")).to_contain_text("Ada Lovelace")

    event = state.event
    for table, round_ in sorted(event.bookings):
        if round_ == 1:
            room.hear(*log(table, *played(event, table, 1)))
    before = dict(state.planned.bookings)
    assert sum(round_ == 1 for _, round_ in state.results) == 5
    leaver = next(name for name in playing(event, 1) if name != "Ada Lovelace")  # the search decides who sits out
    desk.goto(f"{room.server.url}players?lang=en")
    desk.get_by_role("checkbox", name=leaver).check()
    show(desk, "has to leave")
    publish(desk)
    after = state.event
    assert leaver not in {name for round_ in range(2, 6) for name in playing(after, round_)}
    assert {key: one for key, one in after.bookings.items() if key[1] == 1} == {
        key: one for key, one in before.items() if key[1] == 1
    }
    assert leaver in {state.event.players[line.player].name for line in state.snapshot().standings}

    desk.get_by_text("Take back").first.click()
    desk.locator("details[open]").get_by_label("Reason").fill("stays after all")
    desk.locator("details[open]").get_by_role("button", name="Show the new seating").click()
    expect(desk.locator("#cost")).to_be_visible()
    publish(desk)
    assert state.planned.bookings == before
