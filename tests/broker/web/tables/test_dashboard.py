"""Pages of table cards for a large hall, and links to a table's card."""

import re
from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from broker.protocol import Standing
from broker.scorer import DashboardView
from broker.web.i18n import translators
from broker.web.render import CARDS_A_PAGE, SHOWN_PLACES
from broker.web.tables.dashboard import CardsPage, DashboardRenderer
from tests.broker.web import sample

TABLES: Final = 2 * CARDS_A_PAGE + 1


def hall() -> DashboardView:
    """Return a hall in which table 61 calls an arbiter."""
    one, view = sample.table(1), sample.view()
    tables = tuple(replace(one, table=number, calling=number == CARDS_A_PAGE + 1) for number in range(1, TABLES + 1))
    return replace(view, tables=tables)


def page(view: DashboardView, wanted: Mapping[str, str]) -> str:
    return DashboardRenderer(sheets=True).whole(view, translators()["en"], sample.NOON, query=wanted)


def cards(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="table-(\d+)"', html)]


@pytest.mark.parametrize(
    ("wanted", "first"),
    [
        ({}, 1),
        ({"page": "2"}, CARDS_A_PAGE + 1),
        ({"page": "99"}, 2 * CARDS_A_PAGE + 1),
        ({"page": "x"}, 1),
        ({"table": "61"}, CARDS_A_PAGE + 1),
        ({"table": "9999"}, 1),
        ({"page": "3", "table": "1"}, 1),
    ],
)
def test_the_requested_page_of_cards_is_shown_or_the_nearest(wanted: Mapping[str, str], first: int) -> None:
    assert cards(page(hall(), wanted)) == [*range(first, min(first + CARDS_A_PAGE, TABLES + 1))]


def test_every_card_is_on_exactly_one_page() -> None:
    shown = [number for at in (1, 2, 3) for number in cards(page(hall(), {"page": str(at)}))]
    assert shown == [*range(1, TABLES + 1)]


def test_a_call_links_to_its_tables_card() -> None:
    link = r'<a href="([^"]*#table-61)">'
    assert re.findall(link, page(hall(), {})) == ["/?table=61&amp;lang=en#table-61"]
    assert re.findall(link, page(hall(), {"page": "2"})) == ["#table-61"]


def test_a_page_of_cards_is_kept_by_its_stream_and_language_links() -> None:
    html = page(hall(), {"page": "2"})
    assert re.findall(r'data-events="([^"]*)"', html) == ["/events?show=page&amp;page=2&amp;lang=en"]
    assert 'href="?page=2&amp;lang=fr"' in html


def test_each_page_of_cards_is_rendered_once() -> None:
    pages, view, words = DashboardRenderer(), hall(), translators()["en"]
    first, second = (pages.rendering(view, words, query={"page": number}).whole for number in ("1", "2"))
    assert (cards(first)[0], cards(second)[0]) == (1, CARDS_A_PAGE + 1)
    assert pages.rendering(view, words, query={"table": "70"}).whole is second


def test_only_the_first_places_are_shown_beside_the_cards() -> None:
    many = tuple(
        Standing(place=at, player=f"p{at}", name=f"Player {at}", imp=0, fines=0, plays=0)
        for at in range(1, SHOWN_PLACES + 2)
    )
    html = page(replace(sample.view(), standings=many), {})
    assert (html.count('data-key="player-'), f"First {SHOWN_PLACES} of {SHOWN_PLACES + 1}." in html) == (240, True)
    assert html.count('<a href="/standings?lang=en">') == page(sample.view(), {}).count('"/standings?lang=en"') + 1


def test_a_small_room_has_one_page_and_plain_links() -> None:
    cards_of = CardsPage.of(sample.view(), {})
    assert (
        cards_of.pagination.of,
        cards_of.card_link(4, "fr"),
        'class="page-links"' in page(sample.view(), {}),
    ) == (
        1,
        "#table-4",
        False,
    )
