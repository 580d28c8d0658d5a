"""The pages of a hall of a thousand tables, none too large for a phone."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from broker.event import Event, Plan, save_event
from broker.protocol import LogMessage
from broker.store import STORE, SqliteJournal
from tests.benchmarks.scorer.large import NAME, large_folder, plays
from tests.broker.web.pages.desks import quickly, whole
from tests.broker.web.rulings.desks import opened, send
from tests.broker.web.test_auth import logged_in

pytestmark = pytest.mark.slow

TABLES: Final = 1001
"""One more than a thousand, so that the two plays of each deal differ and IMPs are not all 0."""

COMPLETE: Final = 500
"""Number of deals with both results, so that there are standings as well as outstanding plays."""

MOST_BYTES: Final = 256 * 1024
MOST_ELEMENTS: Final = 7_500
"""The size of a page with sixty cards, sixty plays and the standings of their players."""

ELEMENT: Final = re.compile(r"<[a-z]")

PAGES: Final = (
    "/",
    "/?page=10",
    "/grid",
    "/grid?page=20",
    "/grid?kind=wants",
    "/wire",
    "/standings",
    "/deals",
    "/deal/1",
    "/player/p1-east",
    "/seating",
    "/seating?by=table",
    "/seating?q=7",
    "/checkin",
    "/final",
    "/ceremony",
    "/players",
    "/carriers",
    "/carriers?kind=all",
    "/carriers?tables=1-100",
    "/display",
    "/display?lines=40&columns=4",
    "/orders",
    "/orders?tables=1-1000",
    "/devices",
    "/pairing?new=1",
    "/rulings",
    "/rulings/new",
    "/rulings/new?deal=7",
    "/rulings/new?kind=award",
    "/rulings/new?kind=fine",
    "/rulings/new?kind=substitute",
    "/rulings/new?kind=withdrawn",
    "/rulings/new?table=500&round=1&kind=correct",
    "/rulings/new?play=500-1&kind=deal_played",
    "/rulings/new?play=500-1&kind=seats_played",
    "/what-happened",
    "/what-if",
    "/what-if?profile=mcr",
    "/what-if?profile=mcr&page=40",
    "/paper",
    "/luck",
    "/exports",
    "/setup",
    "/people",
    "/login",
    "/receipt",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return the head arbiter's client in a hall of a thousand tables, half of which have played twice."""
    plan, deals, registry = large_folder(TABLES, rounds=2)
    said = [one for one in plays(Event(plan, deals, registry)) if one.fact.round == 1 or one.table <= COMPLETE]

    def write(folder: Path, said: Iterable[LogMessage], of: Plan) -> None:
        save_event(folder, of, deals, registry)
        journal = SqliteJournal(folder / STORE, NAME)
        with journal.commit():
            for message in said:
                journal.append(message, 0)
        journal.close()

    folder = tmp_path_factory.mktemp("hall") / NAME
    with (
        quickly(),
        whole(folder, plan, said, write=write) as made,
        logged_in(made.server, "head_arbiter") as client,
    ):
        yield client


def test_no_page_of_a_large_hall_is_too_large_for_a_phone(client: httpx.Client) -> None:
    large = {}
    for page in PAGES:
        answer = client.get(page, headers={"Accept": "text/html"})
        size, elements = len(answer.content), len(ELEMENT.findall(answer.text))
        if answer.status_code != httpx.codes.OK or size > MOST_BYTES or elements > MOST_ELEMENTS:
            large[page] = (answer.status_code, size, elements)
    assert large == {}


def test_the_effects_of_a_ruling_are_paginated_with_changed_imps_first(
    client: httpx.Client,
) -> None:
    first = re.findall(r"/player/(p\d+-\w+)\?", client.get("/standings").text)[0]
    form = opened(client, "/rulings/new?kind=fine") | {"player": first, "fine-player": "9", "exception": "1"}
    looks = [client.post("/rulings/new", data=form | {"action": "look", "page": page}).text for page in ("", "9", "99")]
    moved = [re.findall(r'<td><a href="/player/([^"?]+)[^"]*">', look) for look in looks]
    assert (len(moved[0]), moved[0][0], set(moved[0]) & set(moved[1])) == (100, first, set())
    assert [len(ELEMENT.findall(look)) < MOST_ELEMENTS / 5 for look in looks] == [True] * 3
    assert 'aria-current="page">9<' in looks[1]
    mark = re.findall(r'name="looked_at" value="(\w+)"', looks[1])[0]
    assert send(client, form | {"looked_at": mark}).status_code == httpx.codes.SEE_OTHER


def test_every_linked_page_is_in_the_list(client: httpx.Client) -> None:
    looked_at = {page.partition("?")[0] for page in PAGES}
    ways = {way for page in ("/", "/orders") for way in re.findall(r'href="(/[a-z-]*)\?lang', client.get(page).text)}
    assert sorted(ways - looked_at) == []


def test_the_current_page_is_marked_in_the_menu(client: httpx.Client) -> None:
    for path, name in {"/": "Room", "/orders": "Orders", "/standings": "Standings", "/carriers": "Carriers"}.items():
        page = client.get(path).text
        assert re.findall(r"Menu:</span> ([^<]*)<", page) == [name]
        assert re.findall(r'<a href="([^"?]*)[^"]*" aria-current="page">([^<]*)<', page)[0] == (path, name)


def test_the_page_of_carriers_can_be_limited_to_tables(client: httpx.Client) -> None:
    page = client.get("/carriers?tables=990-1000").text
    ways = re.findall(r'<p class="route">(.*?)</p>', page)
    assert ways
    assert [way for way in ways if not {*range(990, 1001)} & {*map(int, re.findall(r"Table (\d+)", way))}] == []
    assert "1-x" in client.get("/carriers?tables=1-x").text


def test_the_display_can_be_limited_by_lines_places_and_country(client: httpx.Client) -> None:
    def names(asked: str) -> tuple[int, int]:
        page = client.get(f"/display?{asked}").text
        return page.count('<th scope="row">'), page.count("<table>")

    wishes = ("", "lines=12&columns=2", "lines=12&columns=2&first=15", "lines=x&columns=99", "country=FR")
    assert [names(asked) for asked in wishes] == [(10, 1), (24, 2), (15, 2), (60, 6), (10, 1)]
    assert "Page 1 of 5" in client.get("/display?first=50").text
    for code in ("fr", "FRA"):
        shown = client.get(f"/display?country={code}&lines=40").text
        assert set(re.findall(r'<span class="country">(\w+)<', shown)) == {"FR"}
    assert "No players from XX" in client.get("/display?country=XX").text
