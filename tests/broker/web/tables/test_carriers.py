"""The page of carriers, and the carriers on the arbiters' grid."""

import dataclasses
from collections.abc import Iterator

import httpx
import pytest
from msgspec.structs import replace

from broker.event import Event
from broker.protocol import Correct, DealPlayed, LogMessage, PublicState, Session, TableState, Undo, Void
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.tables.carriers import PAUSE_FACTOR, CarriersNow, carrying, progress_of, session_of_round
from tests.broker.rulings.ruled import HEAD, correct, draft
from tests.broker.scorer import small
from tests.broker.scorer.hall import NOW, Hall
from tests.broker.web import sample

MINUTE = 60_000


def played(table: int, minute: int) -> list[LogMessage]:
    """Return the messages of a table's first play, which ends `minute` minutes from now."""
    *before, last = small.steps(table)
    begun = small.log(table, *before, at=NOW + (minute - 1) * MINUTE)
    return [*begun, small.fact(table, len(begun) + 1, last, at=NOW + minute * MINUTE)]


def busy(table: int, round_: int, state: PublicState) -> TableState:
    deal = small.event().bookings[table, round_].deal
    return replace(small.state(table), round=round_, state=state, deal=deal)


ROUND_2: tuple[LogMessage | TableState, ...] = (
    *(one for table, minute in ((1, -10), (2, -9), (3, -5)) for one in played(table, minute)),
    *(busy(1, 2, "waiting"), busy(2, 2, "restoring"), busy(3, 2, "playing"), busy(4, 1, "playing")),
)
"""Round 1 is over except at table 4, which began with the others; table 2 restores its second deal."""


@pytest.fixture
def page(hall: Hall) -> Iterator[httpx.Client]:
    hall.hear(*ROUND_2)
    services = Services(lambda: hall.scorer.snapshot, hall.scorer.wire, clock=lambda: NOW)
    with DeskServer(hall.scorer.feed, port=0, services=services) as server, httpx.Client(base_url=server.url) as client:
        yield client


def test_the_page_shows_moves_and_the_end_of_the_round_in_each_language(page: httpx.Client) -> None:
    text = " ".join(page.get("/carriers").text.split())
    legs = {(play.table, play.round): play.deal for play in small.plan().plays}
    urgent = text.partition('id="now"')[2].partition("</ol>")[0]
    # Table 1 waits and table 2 restores; table 3 has its carrier and table 4 still plays.
    assert [f"Deal {legs[table, 2]}<" in urgent for table in (1, 2, 3)] == [legs[1, 2] != legs[4, 1], True, False]
    assert "Round 1 ends about" in text
    assert "too few have been measured" in text
    assert "À porter maintenant" in page.get("/carriers?lang=fr").text
    assert "现在搬运" in page.get("/carriers?lang=zh").text
    assert [word for word in ("Draw", "IMP", "points", "HV") if word in text] == []


def test_the_grid_shows_the_carriers_of_outstanding_deals(page: httpx.Client) -> None:
    there = small.event().bookings[3, 2].deal
    text = " ".join(page.get("/grid").text.partition('id="outstanding"')[2].split())
    row = text.partition(f'data-key="deal-{there}"')[2].partition("</tr>")[0]
    assert "<td>Table 3 · in play</td>" in row
    assert "<td>0/4</td>" in row


def test_a_result_from_the_future_counts_as_now(hall: Hall) -> None:
    hall.hear(*played(1, 24 * 60))
    assert progress_of(hall.scorer.snapshot, (), NOW).recorded == {(1, 1): NOW}


def test_a_plan_without_sessions_counts_as_one_session(hall: Hall) -> None:
    assert (session_of_round(small.event(), 2).first_round, session_of_round(small.event(), 2).last_round) == (1, 4)
    sessions = (Session("Friday", 1, 2, "2026-05-01T19:30"), Session("Saturday", 3, 4))
    plan = replace(small.plan(), sessions=sessions)
    event = Event(plan, small.deals(), small.registry())
    assert session_of_round(event, 3).name == "Saturday"
    moment = dataclasses.replace(hall.scorer.snapshot, event=event)
    assert set(progress_of(moment, (), NOW).begins) == {1}


def test_carriers_follow_rulings_on_deals_and_void_plays(
    hall: Hall,
) -> None:
    room, plan = hall.scorer.state, small.event().bookings
    planned = {leg.key: leg.deal for leg in progress_of(room.snapshot(), (), NOW).legs}
    assert planned == {key: booking.deal for key, booking in plan.items()}
    other = plan[2, 3].deal % 4 + 1
    void = hall.scorer.rulings.give(draft(room, Void(), (1, 2)), HEAD)
    hall.scorer.rulings.give(draft(room, DealPlayed(played=other, result=None), (2, 3)), HEAD)
    paper: Correct = correct(small.OUTCOMES[1], None)
    hall.scorer.rulings.give(draft(room, paper, (3, 1)), HEAD)
    ruled = progress_of(room.snapshot(), (), NOW)
    assert {leg.key: leg.deal for leg in ruled.legs} == {
        key: other if key == (2, 3) else deal for key, deal in planned.items() if key != (1, 2)
    }
    assert set(ruled.recorded) == {(1, 2), (3, 1)}
    hall.scorer.rulings.give(draft(room, Undo(ruling=void.id)), HEAD)
    assert (1, 2) in {leg.key for leg in progress_of(room.snapshot(), (), NOW).legs}


def test_a_slow_computation_is_repeated_only_after_a_pause(hall: Hall) -> None:
    seconds = iter([0.0, 0.5, 1.0, 0.5 + 0.5 * PAUSE_FACTOR - 0.1, 0.5 + 0.5 * PAUSE_FACTOR + 0.1, 20.0])
    now = CarriersNow(lambda: hall.scorer.snapshot, lambda: NOW, lambda: next(seconds))
    first = now.at(hall.scorer.feed.current)
    hall.hear(*ROUND_2)
    assert [now.at(hall.scorer.feed.current) is first for _ in range(3)] == [True, True, False]


def test_before_any_message_every_carrier_is_in_its_place(hall: Hall) -> None:
    told = carrying(hall.scorer.snapshot, sample.tables()[:0], NOW)
    assert [(one.table, one.left, one.copies) for one in told.carriers] == [(None, 4, 1)] * 4
