"""The page *What happened?*: its questions and answers, and that nothing is stored."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.broker.scorer.riichi_deals import riichi_plan, whole_riichi_event
from tests.broker.scorer.small import event
from tests.broker.web.rulings.desks import Ruled, ruling_desk
from tests.broker.web.test_auth import logged_in

PAGE = "/what-happened"
WALLS = {"wall-east": "9", "wall-south": "10", "wall-west": "9", "wall-north": "10"}
SCENE = WALLS | {"dealer": "east", "turn": "south", "phase": "draw"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruled]:
    with ruling_desk(tmp_path_factory.mktemp("asked") / "cup") as made:
        yield made


@pytest.fixture(scope="module")
def client(desk: Ruled) -> Iterator[httpx.Client]:
    with logged_in(desk.server, "table_arbiter") as logged:
        yield logged


def codes(client: httpx.Client, **answers: str) -> list[str]:
    return re.findall(r'data-code="(\w+)"', client.get(PAGE, params=SCENE | answers).text)


def test_the_number_of_sets_is_needed_to_find_who_drew_out_of_turn(desk: Ruled, client: httpx.Client) -> None:
    assert codes(client)[-1] == "sets_missing"
    assert 'name="taken-west-east"' in client.get(PAGE, params=SCENE).text
    assert codes(client, sets="1")[-1] == "drew_out_of_turn"
    assert desk.kinds == []


def test_claims_are_judged_in_turn_order_without_the_discarders(client: httpx.Client) -> None:
    claims = {"claim-south": "pung", "claim-east": "chow", "claim-west": "hu_on_discard", "claim-north": "sneeze"}
    assert codes(client, turn="south", phase="claim", **claims)[1:4] == [
        "hu_on_discard_allowed",
        "chow_not_next",
        "tile_wins",
    ]


def test_for_a_known_play_dealer_and_players_are_filled_in(client: httpx.Client) -> None:
    page = client.get(f"{PAGE}?play=1-2").text
    booked = event().bookings[1, 2]
    assert [name for name in booked.players.values() if event().name_of(name) not in page] == []
    assert 'name="dealer"' not in page


@pytest.mark.parametrize(
    ("answers", "code"),
    [({"wall-east": ""}, "scene_incomplete"), ({"wall-east": "22"}, "bad_walls"), ({"wall-east": "x"}, "number_un")],
)
def test_invalid_answers_are_refused_with_a_code(client: httpx.Client, answers: dict[str, str], code: str) -> None:
    answer = client.get(PAGE, params=SCENE | answers)
    assert (answer.status_code, code in answer.text) == (400, True)


def test_a_riichi_event_has_no_such_page(tmp_path: Path) -> None:
    with (
        ruling_desk(tmp_path / "cup", whole_riichi_event(), riichi_plan()) as riichi,
        logged_in(riichi.server, "head_arbiter") as client,
    ):
        assert client.get(PAGE).status_code == 404
        assert PAGE not in client.get("/rulings").text
