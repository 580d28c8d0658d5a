"""Corrections of riichi hands at the desk: by han and fu, tenpai players, or the reason of an abort."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import tomli_w
from msgspec.structs import replace

from broker.event import PROFILE
from broker.protocol import RiichiEvent, RiichiWin
from broker.rules.profiles import riichi_profile_text
from tests.broker.scorer.riichi_deals import riichi_plan, whole_riichi_event
from tests.broker.scorer.small import event
from tests.broker.web.rulings.desks import Ruled, opened, publish, ruling_desk
from tests.broker.web.test_auth import logged_in

EAST = event().bookings[2, 1].players["east"]
"""The player who won deal 2 with 3 han 30 fu."""

PLAY = "/rulings/new?play=1-2&kind=correct"

FORMS = {
    "ron": (
        {"win": "discard", "han-south": "4", "fu-south": "30", "discarder": "west"},
        RiichiEvent(kind="ron", wins={"south": RiichiWin(han=4, fu=30)}, loser="west"),
    ),
    "yakuman": (
        {"win": "self_drawn", "yakuman-north": "2", "responsible-north": "east"},
        RiichiEvent(kind="tsumo", wins={"north": RiichiWin(yakuman=2, responsible="east")}),
    ),
    "live kan": (
        {"win": "self_drawn", "han-east": "3", "fu-east": "40", "kan_from": "west"},
        RiichiEvent(kind="tsumo", wins={"east": RiichiWin(han=3, fu=40)}, kan_from="west"),
    ),
    "ron, its form filled with a live kan": (
        {"win": "discard", "han-east": "3", "fu-east": "30", "discarder": "west", "kan_from": "north"},
        RiichiEvent(kind="ron", wins={"east": RiichiWin(han=3, fu=30)}, loser="west"),
    ),
    "draw": ({"win": "draw", "tenpai-west": "1"}, RiichiEvent(kind="draw", tenpai=("west",))),
    "nagashi": ({"win": "draw", "nagashi-east": "1"}, RiichiEvent(kind="draw", nagashi=("east",))),
    "abort": ({"win": "abort", "abort": "four_winds"}, RiichiEvent(kind="abort", reason="four_winds")),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruled]:
    """Return a desk of a riichi event in which every play has a result."""
    folder: Path = tmp_path_factory.mktemp("riichi") / "cup"
    with ruling_desk(folder, whole_riichi_event(), riichi_plan()) as made:
        yield made


@pytest.fixture(scope="module")
def client(desk: Ruled) -> Iterator[httpx.Client]:
    """Return the client of a head arbiter who has logged in."""
    with logged_in(desk.server, "head_arbiter") as logged:
        yield logged


@pytest.mark.parametrize("name", FORMS)
def test_a_corrected_hand_counts(desk: Ruled, client: httpx.Client, name: str) -> None:
    fields, hand = FORMS[name]
    assert publish(client, opened(client, PLAY) | fields).status_code == 303
    laid = desk.scorer.rulings.room.play((1, 2))
    assert (laid.hand, laid.winners) == (hand, {s: w.han or 13 * w.yakuman for s, w in hand.wins.items()})
    page = client.get(PLAY).text.split('id="before"')[0]  # what was ruled before tells both
    assert ("4 han 30 fu" in page, "yakuman × 2" in page) == (name == "ron", name == "yakuman")


@pytest.mark.parametrize("language", ["en", "fr", "zh"])
def test_the_form_keeps_whose_discard_was_made_a_kan(client: httpx.Client, language: str) -> None:
    assert publish(client, opened(client, PLAY) | FORMS["live kan"][0]).status_code == 303
    page = client.get(f"{PLAY}&lang={language}").text
    assert '<option value="west" selected>' in page[page.index('name="kan_from"') :].partition("</select>")[0]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "ending_missing"),
        ({"win": "walked_out"}, "ending_missing"),
        ({"win": "discard", "han-south": "two"}, "number_unreadable"),
        ({"win": "discard", "han-south": "-1"}, "hand_value_out_of_range"),
        ({"win": "abort", "abort": "rain"}, "ending_missing"),
        ({"win": "discard", "han-south": "3", "fu-south": "30"}, "loser_missing"),
        ({"win": "discard", "discarder": "west"}, "impossible_result"),
        ({"win": "discard", "han-south": "3", "fu-south": "31", "discarder": "west"}, "impossible_result"),
        ({"win": "discard", "han-south": "3", "fu-south": "30", "discarder": "south"}, "impossible_result"),
        ({"win": "self_drawn", "yakuman-north": "1", "responsible-north": "north"}, "impossible_result"),
        *(
            ({"win": win, "han-south": han, "fu-south": fu, "discarder": by}, "impossible_result")
            for win, han, fu, by in (
                ("discard", "1", "20", "west"),
                ("discard", "1", "25", "west"),
                ("self_drawn", "1", "20", ""),
                ("self_drawn", "2", "25", ""),
            )
        ),
        ({"win": "self_drawn", "yakuman-north": "7"}, "hand_value_out_of_range"),
        ({"win": "self_drawn", "han-north": "5", "responsible-north": "<b>"}, "bad_ruling"),
    ],
)
def test_an_invalid_hand_is_refused_with_its_code(
    desk: Ruled, client: httpx.Client, fields: dict[str, str], code: str
) -> None:
    count = len(desk.kinds)
    answer = publish(client, opened(client, PLAY) | fields)
    assert (answer.status_code, code in answer.text, len(desk.kinds)) == (400, True, count)


@pytest.mark.parametrize(("language", "worth"), [("en", "3 han 30 fu"), ("fr", "3 han 30 fu"), ("zh", "3番30符")])
def test_a_winning_hand_is_shown_in_han_and_fu(client: httpx.Client, language: str, worth: str) -> None:
    pages = [client.get(f"{address}?lang={language}").text for address in ("/", "/deal/2", f"/player/{EAST}")]
    assert [worth in page for page in pages] == [True, True, True]


def test_rules_without_aborts_offer_none_in_the_form(tmp_path: Path) -> None:
    rules = tomllib.loads(riichi_profile_text("riichi-montreal")) | {"id": "club"}
    rules["session"]["draw"]["aborts"] = {"value": [], "source": "the club"}
    (tmp_path / PROFILE).write_text(tomli_w.dumps(rules), encoding="utf-8")
    said = [message for message in whole_riichi_event() if message.table == 1]
    with (
        ruling_desk(tmp_path, said, replace(riichi_plan(), profile="club")) as desk,
        logged_in(desk.server, "head_arbiter") as client,
    ):
        page = client.get(PLAY).text.split('id="before"')[0]  # what was ruled before tells both
        assert ('name="han-south"' in page, 'name="hv-south"' in page, 'value="abort"' in page) == (True, False, False)
        assert publish(client, opened(client, PLAY) | FORMS["ron"][0]).status_code == 303
