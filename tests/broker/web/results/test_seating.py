"""Everybody finds their seat: on the page of the seating plan, on their own, and on the display."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from broker.event.seating import seating_of
from broker.scorer.view import AnchorView
from broker.web.results.display import rounds_to_come
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.small import plan
from tests.broker.web.results.test_people import hall_of, shown


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    yield from hall_of(tmp_path / "cup", tmp_path, "")


def test_a_name_is_searched_for(hall: Hall) -> None:
    found, nobody = shown(hall, "/seating?q=PLAYER+16", "/seating?q=Nemo")
    assert re.findall(r'href="/player/(p\d+)', found) == ["p16"]
    assert "Nobody of this name" in nobody


def test_a_player_s_own_page_says_where_they_sit_in_each_round(hall: Hall) -> None:
    (page,) = shown(hall, "/player/p07")
    rows = re.findall(
        r'data-key="place-(\d+)"><th scope="row">\d+</th><td><strong>(\d+)</strong></td><td>(\w+)</td>', page
    )
    assert rows == [(str(one.round), str(one.table), one.seat.capitalize()) for one in seating_of(plan())["p07"]]


def test_by_table_each_table_of_each_round_is_listed(hall: Hall) -> None:
    (page,) = shown(hall, "/seating?by=table")
    assert set(re.findall(r'data-key="table-(\d+-\d+)"', page)) == {f"{one.round}-{one.table}" for one in plan().plays}


@pytest.mark.parametrize("asked", ["seating?by=table", "seating?q=Player+16", "standings?stage=1"])
def test_what_an_address_asks_for_stays_while_the_page_follows_the_room(hall: Hall, asked: str) -> None:
    (page,) = shown(hall, f"/{asked}")
    query = asked.partition("?")[2]
    assert (f'data-events="/live/{asked}&amp;lang=en"' in page, f'href="?{query}&amp;lang=fr"' in page) == (True, True)


def test_the_display_shows_the_seating_where_it_is_asked_for(hall: Hall) -> None:
    standings, seating = shown(hall, "/display?lines=40", "/display?lines=40&show=seating")
    assert '<td class="imp">' in standings
    assert '<td class="imp">' not in seating
    assert len(re.findall(r'<th scope="row">Player \d+</th>', seating)) == 16


@pytest.mark.parametrize(
    ("over", "columns", "shown_rounds"),
    [
        (None, 1, (1, 2, 3, 4, 5, 6, 7, 8)),
        (None, 2, (1, 2, 3, 4)),
        (3, 2, (4, 5, 6, 7)),
        (11, 2, (9, 10, 11, 12)),
        (12, 6, (12,)),
    ],
)
def test_a_name_has_the_rounds_to_come_beside_it(over: int | None, columns: int, shown_rounds: tuple[int, ...]) -> None:
    rounds = tuple(range(1, 13))
    anchor = None if over is None else AnchorView(over, "ANCHOR")
    assert rounds[rounds_to_come(rounds, anchor, columns)] == shown_rounds


def test_on_a_phone_nobody_scrolls_sideways_to_find_who_sits_at_a_table(hall: Hall, browser: Browser) -> None:
    with DeskServer(hall.scorer.feed, port=0, services=Services(lambda: hall.scorer.snapshot)) as server:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(f"{server.url}seating?by=table")
        sides = page.locator(".scrolling").evaluate_all("(all) => all.map((one) => one.scrollWidth - one.clientWidth)")
        page.close()
    assert sides
    assert max(sides) <= 0
