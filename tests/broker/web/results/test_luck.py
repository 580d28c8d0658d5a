"""The page of luck and strength: the same for everybody, from open deals only, in the order of the standings."""

import re
from collections.abc import Iterator

import pytest

from broker.web.server import DeskServer
from tests.broker.scorer.folders import declare, event_folder, until_round
from tests.broker.web.results.test_exports import desk_of
from tests.broker.web.test_auth import logged_in


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    yield from desk_of(declare(event_folder(tmp_path_factory.mktemp("over") / "cup")))


def test_each_player_and_each_part_has_an_interval(over: DeskServer) -> None:
    with logged_in(over, "display") as client:
        page, standings = client.get("/luck").text, client.get("/standings").text
    names = re.findall(r"/luck\?than=(p\d\d)&", page)
    assert names == re.findall(r'data-key="player-(p\d\d)"', standings)
    assert page.count('class="interval"') == 1 + 4 + len(names)
    assert "<style" not in page


def test_players_can_be_compared_with_a_chosen_one(over: DeskServer) -> None:
    with logged_in(over, "display") as client:
        page, unknown = client.get("/luck?than=p07").text, client.get("/luck?than=nobody").text
    assert "stronger than Player 7;" in page
    assert "stronger than the next in the standings;" in unknown


def test_the_page_contains_no_deal_under_embargo_even_for_arbiters(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = event_folder(tmp_path_factory.mktemp("under-way") / "cup", until_round(3))
    for server in desk_of(folder):
        with logged_in(server, "head_arbiter") as client:
            assert "Too few deals have been played" in client.get("/luck").text
