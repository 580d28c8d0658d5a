"""The page of carriers, from the plan and what the room shows."""

from collections.abc import Iterator

import httpx
import pytest
from msgspec.structs import replace

from broker.contract.words import SEATS
from broker.desk.carriers_page import annex, progress_of, session_of
from broker.desk.server import DeskServer
from broker.scorer.event import Event, Session
from broker.scorer.view import PlayView, SeatView, TableView, View, ViewFeed
from tests.broker.desk import sample
from tests.broker.scorer import small

MINUTE = 60_000
NOW = sample.NOON + 40 * MINUTE


def result(table: int, round_: int, at: int) -> PlayView:
    deal = small.event().bookings[table, round_].deal
    seats = {seat: SeatView("p01", "A", 0, None, 0, None) for seat in SEATS}
    return PlayView(sample.NOON + at * MINUTE, table, round_, deal, "draw", None, seats, provisional=True)


def busy(table: int, round_: int, state: str) -> TableView:
    return replace(sample.table(table), round=round_, state=state, deal=small.event().bookings[table, round_].deal)


def view() -> View:
    """Round 1 is over but at table 4, which began with the others; table 2 restores its second deal."""
    return replace(
        sample.view(),
        plays=(result(1, 1, 30), result(2, 1, 31), result(3, 1, 35)),
        tables=(busy(1, 2, "waiting"), busy(2, 2, "restoring"), busy(3, 2, "playing"), busy(4, 1, "playing")),
    )


@pytest.fixture
def page() -> Iterator[httpx.Client]:
    server = DeskServer(ViewFeed(view()), port=0, annexes=(annex(small.event(), lambda: NOW),))
    with server, httpx.Client(base_url=server.url) as client:
        yield client


def test_the_page_says_what_to_carry_where_and_when_the_round_ends(page: httpx.Client) -> None:
    text = " ".join(page.get("/carriers").text.split())
    legs = {(play.table, play.round): play.deal for play in small.plan().plays}
    urgent = text.partition('id="now"')[2].partition("</ol>")[0]
    # Table 1 waits, table 2 restores; table 3 has its carrier, table 4 still plays.
    assert [f"Deal {legs[table, 2]}<" in urgent for table in (1, 2, 3)] == [legs[1, 2] != legs[4, 1], True, False]
    assert "Round 1 ends about" in text
    assert "too few have been measured" in text


@pytest.mark.parametrize(("language", "said"), [("fr", "À porter maintenant"), ("zh", "现在搬运")])
def test_it_is_said_in_each_language(page: httpx.Client, language: str, said: str) -> None:
    assert said in page.get(f"/carriers?lang={language}").text


def test_nothing_of_how_a_play_went_stands_there(page: httpx.Client) -> None:
    assert [word for word in ("Draw", "IMP", "points", "HV") if word in page.get("/carriers").text] == []


def test_a_clock_that_is_a_day_ahead_is_taken_for_now() -> None:
    ahead = replace(view(), plays=(result(1, 1, 24 * 60),))
    assert progress_of(small.event(), ahead, NOW).recorded == {(1, 1): NOW}


def test_a_session_without_clock_is_the_whole_event() -> None:
    assert (session_of(small.event(), 2).first_round, session_of(small.event(), 2).last_round) == (1, 4)
    sessions = (Session("Friday", 1, 2, "2026-05-01T19:30"), Session("Saturday", 3, 4))
    plan = replace(small.plan(), sessions=sessions)
    event = Event(plan, small.deals(), small.registry())
    assert session_of(event, 3).name == "Saturday"
    assert set(progress_of(event, view(), NOW).begins) == {1}
