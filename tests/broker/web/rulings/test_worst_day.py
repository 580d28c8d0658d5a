"""Mishaps that a head arbiter settles at the desk with a few clicks and can take back."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from broker.protocol import Seat
from broker.protocol.link import LinkChanged
from broker.rules import Outcome
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.hall import put
from tests.broker.scorer.small import event, fact, state
from tests.broker.scorer.staged import played, staged_event, staged_plan
from tests.broker.web.pages.desks import quickly, whole
from tests.broker.web.rulings.desks import Ruled, opened, publish, ruling_desk
from tests.broker.web.test_auth import logged_in, token_of

SEAT_FIELDS = re.compile(r'name="seat-(\w+)"[^>]*value="([^"]*)"')


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Ruled]:
    """Return a desk of an event in which two of four rounds are played."""
    with ruling_desk(tmp_path / "cup", until_round(2)) as made:
        yield made


@pytest.fixture
def head(desk: Ruled) -> Iterator[httpx.Client]:
    with logged_in(desk.server, "head_arbiter") as client:
        yield client


def seats_filled(client: httpx.Client, address: str) -> Mapping[str, str]:
    """Return the players filled in on the form about who sat where."""
    return dict(SEAT_FIELDS.findall(client.get(address).text))


def offered(client: httpx.Client, text: str) -> list[str]:
    """Return the targets of the links with this text."""
    links = re.findall(r'<a href="([^"]+)"[^>]*>([^<]*)<', client.get("/rulings").text)
    return [unescape(address) for address, shown in links if unescape(shown) == text]


def sat_at(desk: Ruled, table: int) -> Mapping[Seat, str]:
    return desk.scorer.rulings.room.play((table, 2)).players


def test_swapped_tables_are_corrected_with_two_prefilled_forms(desk: Ruled, head: httpx.Client) -> None:
    planned = {table: event().bookings[table, 2].players for table in (3, 4)}
    first = "/rulings/new?play=3-2&kind=seats_played&as=4"
    publish(head, opened(head, first) | {f"seat-{seat}": who for seat, who in seats_filled(head, first).items()})
    (second,) = offered(head, "Enter who sat here")
    publish(head, opened(head, second) | {f"seat-{seat}": who for seat, who in seats_filled(head, second).items()})
    assert (sat_at(desk, 3), sat_at(desk, 4)) == (planned[4], planned[3])
    assert offered(head, "Enter who sat here") == []
    for ruling in offered(head, "Take back"):
        publish(head, opened(head, ruling))
    assert (sat_at(desk, 3), sat_at(desk, 4)) == (planned[3], planned[4])


def test_a_substitute_is_proposed_from_the_current_round(head: httpx.Client) -> None:
    page = head.get("/rulings/new?kind=substitute").text
    assert re.findall(r'<option value="(\d)" selected>', page) == ["3"]


def test_a_substitute_chosen_from_a_play_starts_in_its_round(head: httpx.Client) -> None:
    page = head.get("/rulings/new?play=1-4").text
    leads = [unescape(one) for one in re.findall(r'<a href="(/rulings/new\?kind=[^"]+)"', page)]
    rounds = [re.findall(r'<option value="(\d)" selected>', head.get(one).text) for one in leads]
    assert [one.split("&")[0] for one in leads] == ["/rulings/new?kind=substitute", "/rulings/new?kind=withdrawn"]
    assert rounds == [["4"], ["4"]]


def test_a_lost_tables_card_links_to_its_sheet_and_a_ruling(desk: Ruled, head: httpx.Client) -> None:
    deal = event().bookings[4, 3].deal
    desk.scorer._inbox.put(LinkChanged(up=True))
    put(desk.scorer, replace(state(4), lifecycle="lost", round=3, deal=deal))
    desk.scorer.ask(lambda: None)
    card = head.get("/").text.split('id="table-4"')[1].split("</li>")[0]
    leads = [unescape(one) for one in re.findall(r'href="(/(?:rulings|paper)[^"]*)"', card)]
    assert leads == ["/rulings/new?play=4-3&lang=en", f"/paper?table=4&round=3&deal={deal}&lang=en#key-title"]


def test_a_tie_at_the_cut_is_decided_in_the_list_that_opens(tmp_path: Path) -> None:
    drawn = Outcome("draw", {})
    said = [
        fact(table, seq, one)
        for table in range(1, 5)
        for seq, one in enumerate((one for r in (1, 2) for one in played(staged_event(), table, r, drawn)), 1)
    ]
    with (
        quickly(),
        whole(tmp_path / "cup", staged_plan(), said) as made,
        logged_in(made.server, "head_arbiter") as head,
    ):
        asked = {"form": token_of(head, "/final"), "action": "look"}
        refused = head.post("/final", data=asked).text
        listed = re.findall(r'name="(out-[AB]-\d)" value="(p\d+)"', refused)
        lots = dict(one for one in listed if one[0].split("-")[2] > "4")
        shown = head.post("/final", data=asked | lots).text
    assert ("cut_tied" in refused, "<details open>" in refused, len(listed)) == (True, True, 16)
    assert [name for name in lots.values() if f'value="{name}" checked' not in shown] == []
    assert len(re.findall(r"<td>[AB] 1</td>", shown)) == 8
