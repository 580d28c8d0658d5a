"""The arbiters' page of riichi sessions: scores, last hands, and the sheet to print."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from starlette.requests import Request

from broker.event import Event, Plan, RiichiBooking
from broker.protocol import SEATS, Player, RiichiRecorded
from broker.scorer.tables import RiichiSessions
from broker.web import Visitor
from broker.web.i18n import translators
from broker.web.results.sessions import SessionsNow, SessionsPage
from tests.broker.scorer.hall import put
from tests.broker.scorer.small import NAME, fact, plan
from tests.broker.web.rulings.desks import Ruled, ruling_desk
from tests.broker.web.test_auth import logged_in
from tests.kiosk.riichi_tables import RiichiSitting

PLAYERS = plan().players


def booking(table: int, first: int) -> RiichiBooking:
    """Plan a session of four players."""
    names = [one.id for one in PLAYERS[first : first + 4]]
    return RiichiBooking(1, table, "riichi-montreal", dict(zip(SEATS, names, strict=True)))


PLAN = Plan(
    name=NAME,
    title="Club <b>",
    profile="oedmc-2020",
    players=PLAYERS,
    riichi=(booking(7, 0), booking(8, 4), booking(9, 8)),
)


def evening() -> RiichiSitting:
    """Return a table that has played seven hands."""
    table = RiichiSitting()
    table.begin()
    for _ in range(6):
        table.hold("east")
        table.ron("south", "west", 1)
        table.record()
        table.next_deal()
    table.drawn("north")
    table.record()
    return table


def forged(table: RiichiSitting) -> list[object]:
    """Return a table's facts with the payments of the first hand set to 0."""
    return [
        msgspec.structs.replace(one, deltas=dict.fromkeys(SEATS, 0))
        if isinstance(one, RiichiRecorded) and one.entry == 1
        else one
        for one in table.facts
    ]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruled]:
    """Return a desk with three sessions: one correct, one with a wrong entry, one not begun."""
    told = evening()
    said = [fact(7, seq, one) for seq, one in enumerate(told.facts, 1)]
    said += [fact(8, seq, one) for seq, one in enumerate(forged(told), 1)]  # type: ignore[arg-type]  # facts still
    with ruling_desk(tmp_path_factory.mktemp("evening") / "club", said, PLAN) as made:
        yield made


@pytest.fixture(scope="module")
def arbiter(desk: Ruled) -> Iterator[httpx.Client]:
    """Return the client of an arbiter who has logged in."""
    with logged_in(desk.server, "table_arbiter") as client:
        yield client


def sections(text: str) -> list[str]:
    """Return the sections of the page, one per session, with white space collapsed."""
    return [" ".join(one.split()) for one in re.findall(r'<section class="session".*?</section>', text, re.DOTALL)]


@pytest.mark.parametrize(
    ("language", "state", "to_come", "hand"),
    [("en", "East 3", "upcoming", "E2–5"), ("fr", "Est 3", "à venir", "E2–5"), ("zh", "东3局", "未开始", "东2局5本场")],
)
def test_each_session_shows_its_round_scores_and_hands(
    arbiter: httpx.Client, language: str, state: str, to_come: str, hand: str
) -> None:
    seventh, _, ninth = sections(arbiter.get(f"/riichi?lang={language}").text)
    last = [one for one in evening().facts if isinstance(one, RiichiRecorded)][-1].standing
    assert [str(score) in seventh for score in last.scores.values()] == [True] * 4
    assert (to_come in ninth, to_come in seventh, hand in seventh) == (True, False, True)
    assert (last.round_wind, last.dealer, state in seventh) == ("east", "west", True)


def test_the_last_hands_are_shown_newest_first_and_all_on_request(arbiter: httpx.Client) -> None:
    seventh, _, _ = sections(arbiter.get("/riichi").text)
    last, _, everything = seventh.partition("<details")
    assert [re.findall(r'<tr data-key="\w+-(\d+)"', part) for part in (last, everything)] == [
        ["7", "6", "5", "4", "3"],
        ["7", "6", "5", "4", "3", "2", "1"],
    ]


def test_an_inconsistent_entry_is_marked(arbiter: httpx.Client) -> None:
    marked = ["Entry 1 does not match" in one for one in sections(arbiter.get("/riichi").text)]
    assert marked == [False, True, False]


def test_a_session_sheet_is_printed_in_every_language_if_it_exists(arbiter: httpx.Client) -> None:
    for language in ("en", "fr", "zh"):
        sheet = arbiter.get(f"/riichi/7-1.pdf?lang={language}")
        assert (sheet.status_code, sheet.content[:5]) == (200, b"%PDF-")
    missing = arbiter.get("/riichi/3-1.pdf")
    assert (missing.status_code, "no_such_session" in missing.text) == (400, True)


def test_sessions_are_for_arbiters_and_names_are_escaped(desk: Ruled, arbiter: httpx.Client) -> None:
    assert "<b>" not in arbiter.get("/riichi").text
    with httpx.Client(base_url=desk.server.url) as stranger:
        assert stranger.get("/riichi").status_code in {303, 401, 403}


def test_a_recorded_hand_appears_on_an_open_page(tmp_path: Path) -> None:
    told = [fact(7, seq, one) for seq, one in enumerate(evening().facts, 1)]
    with (
        ruling_desk(tmp_path / "club", [], PLAN) as desk,
        logged_in(desk.server, "table_arbiter") as client,
        client.stream("GET", "/live/riichi") as stream,
    ):
        shown = (line for line in stream.iter_lines() if "data-key" in line)
        first = next(shown)
        put(desk.scorer, *told)
        hand = next(line for line in shown if 'data-key="last-7"' in line)
    assert (first.startswith("data: <section"), "East" in hand, "+3000" in hand) == (True, False, True)


def many(count: int) -> Event:
    """Return an event with this many sessions."""
    players = tuple(Player(id=f"p{number:03}", name=f"Player {number}") for number in range(1, 4 * count + 1))
    booked = tuple(
        RiichiBooking(
            1,
            at + 1,
            "riichi-montreal",
            dict(zip(SEATS, (one.id for one in players[4 * at : 4 * at + 4]), strict=True)),
        )
        for at in range(count)
    )
    return Event(Plan(name=NAME, title="Club", profile="oedmc-2020", players=players, riichi=booked), (), {})


@pytest.mark.parametrize(
    ("asked", "page", "tables"), [("", 1, (1, 20)), ("2", 2, (21, 40)), ("3", 3, (41, 45)), ("99", 3, (41, 45))]
)
def test_many_sessions_are_paginated(asked: str, page: int, tables: tuple[int, int]) -> None:
    event = many(45)
    shown = SessionsPage(SessionsNow(lambda: event, RiichiSessions(event.session_rules)))
    request = Request({"type": "http", "query_string": f"page={asked}".encode(), "headers": []})
    values: Any = shown.show(request, Visitor(), translators()["en"]).values
    numbers = [session.booking.table for session in values["sessions"]]
    assert (*values["pagination"][:2], numbers[0], numbers[-1]) == (page, 3, *tables)


def test_a_substitute_is_named_in_a_session_and_on_its_sheet() -> None:
    event, instead = many(1), dict[tuple[str, int], str]()
    now = SessionsNow(lambda: event, RiichiSessions(event.session_rules), lambda *whom: instead.get(whom))
    booking = event.riichi[1, 1]
    assert [one.names["south"] for one in now.some(slice(1), "en")] == [event.players[booking.players["south"]].name]
    instead[booking.players["south"], 1] = "Ida Berg"
    (found,) = now.some(slice(1), "en")
    assert found.sheet
    assert (found.names["south"], "Ida Berg" in found.sheet.players) == ("Ida Berg", True)


def test_few_sessions_need_no_page_links(arbiter: httpx.Client) -> None:
    assert 'data-key="page-links"' not in arbiter.get("/riichi").text
