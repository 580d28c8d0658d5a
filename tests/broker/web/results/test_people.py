"""Substitutes, origins and receipt links of players on the desk's pages."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from broker.event import Event, Origin
from broker.event.files import Listing
from broker.protocol import LogMessage, Substitute, Undo, Withdrawn, receipt_code
from broker.scorer import Embargo, player_sheet, standings_table
from broker.web.app import create_app
from broker.web.services import Services
from tests import event_loop
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import deals, plan, registry, whole_event
from tests.broker.web.openly import HEADERS

GONE, INSTEAD = "p07", Substitute(player="p07", name="Ada Reserve", first_round=3)
ADDRESS = "https://results.example.org"
FROM = {"p07": Listing(Origin("FRA", "Paris <MC>")), "p08": Listing(Origin("", "Lyon"))}


def hall_of(folder: Path, journal_folder: Path, address: str) -> Iterator[Hall]:
    folder.mkdir(parents=True)
    event = Event(replace(plan(), public_address=address), deals(), registry(), listings=FROM)
    with open_journal(journal_folder) as journal:
        hall = make_hall(folder, journal, event)
        hall.hear(*whole_event())
        yield hall


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    yield from hall_of(tmp_path / "cup", tmp_path, ADDRESS)


@pytest.fixture
def unknown(tmp_path: Path) -> Iterator[Hall]:
    """A hall whose event has no public address."""
    yield from hall_of(tmp_path / "cup", tmp_path, "")


def rule(hall: Hall, decision: Substitute | Undo | Withdrawn) -> str:
    given = hall.scorer.rulings.give(draft(hall.scorer.state, decision), HEAD).id
    hall.connect(up=True)  # publishes the view again
    return given


def shown(hall: Hall, *paths: str) -> list[str]:
    """Return the pages at these addresses as somebody who has not logged in sees them."""

    async def ask() -> list[str]:
        services = Services(lambda: hall.scorer.snapshot, hall.scorer.wire, clock=lambda: NOW, open_public=True)
        app = create_app(hall.scorer.feed, open_room=False, services=services)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            return [(await client.get(path, headers=HEADERS)).text for path in paths]

    return event_loop.run(ask())


def sat_in(html: str) -> int:
    return html.count("Ada Reserve sat here")


def test_a_substitute_is_named_at_each_play_until_the_ruling_is_undone(
    hall: Hall,
) -> None:
    first, *_ = (play for play in plan().plays if play.round == 1 and GONE in play.players.values())
    later = [play for play in plan().plays if play.round >= INSTEAD.first_round and GONE in play.players.values()]
    paths = (f"/player/{GONE}", f"/deal/{first.deal}", *(f"/deal/{play.deal}" for play in later), "/")
    before = [sat_in(html) for html in shown(hall, *paths)]
    given = rule(hall, INSTEAD)
    ruled = [sat_in(html) for html in shown(hall, *paths)]
    rule(hall, Undo(ruling=given))
    undone = [sat_in(html) for html in shown(hall, *paths)]
    assert (before, ruled, undone) == ([0] * 5, [2, 0, 1, 1, 2], [0] * 5)


def test_the_open_part_of_a_snapshot_follows_substitutions(hall: Hall) -> None:
    embargo = Embargo()
    assert embargo.open_part(hall.scorer.snapshot).sat(GONE, 3) is None
    rule(hall, INSTEAD)
    assert [embargo.open_part(hall.scorer.snapshot).sat(GONE, at) for at in (2, 3)] == [None, "Ada Reserve"]


def test_every_public_page_links_to_the_login(hall: Hall) -> None:
    paths = ("/", "/standings", "/luck", "/ceremony")
    assert ['href="/login?lang=en"' in html for html in shown(hall, *paths)] == [True] * len(paths)


def test_country_and_club_are_shown_escaped_beside_the_name(hall: Hall) -> None:
    standings, player, traveller, room = shown(hall, "/standings", f"/player/{GONE}", "/deal/1", "/")
    country, club = '<span class="country">FRA</span>', '<span class="club">Paris &lt;MC&gt;</span>'
    # The standings have them twice: in a column, and under the name where the column has no room.
    assert [html.count(country) for html in (standings, player, traveller, room)] == [2, 1, 1, 1]
    assert [html.count(club) for html in (standings, player)] == [2, 1]
    both = "".join(shown(hall, "/display?page=1", "/display?page=2"))
    assert (both.count(country), both.count(club)) == (1, 1)
    assert "Country, club" in standings


def test_receipt_qr_codes_link_to_the_public_address(hall: Hall) -> None:
    (html,) = shown(hall, f"/player/{GONE}")
    codes = [
        play.code for play in player_sheet(hall.scorer.snapshot, standings_table(hall.scorer.snapshot), GONE).plays
    ]
    told = re.findall(r'aria-label="QR: ([^"]*)"', html)
    assert told == [f"{ADDRESS}/receipt/{code}" for code in codes]
    (receipt,) = shown(hall, f"/receipt/{codes[0]}")
    assert f'aria-label="QR: {ADDRESS}/receipt/{codes[0]}"' in receipt


def test_without_a_public_address_only_a_receipts_page_has_a_qr_code(
    unknown: Hall,
) -> None:
    said = next(message for message in unknown.scorer.snapshot.results.values() if isinstance(message, LogMessage))
    sheet, receipt = shown(unknown, f"/player/{GONE}", f"/receipt/{receipt_code(said)}")
    assert 'class="qr"' not in sheet
    assert f'aria-label="QR: http://127.0.0.1/receipt/{receipt_code(said)}"' in receipt


def test_a_table_receives_the_public_address_with_its_plan(hall: Hall) -> None:
    hall.connect(up=True)
    assert hall.ear.told("assignment/1")["public_address"] == ADDRESS
