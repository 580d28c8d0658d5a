"""Whoever looks at results under embargo leaves a trace in the audit log: once a person, deal and hour."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.people import EMBARGO_READ, HOUR_MS, PEOPLE_FILE, Actor, Authentication
from broker.protocol import LogMessage
from broker.web import Visitor
from broker.web.embargo import EmbargoTrace
from tests.broker.people.conftest import NOON, PASSWORD, Hand, quick_hashes
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import whole_log
from tests.broker.web.rulings.desks import Ruled, ruling_desk
from tests.broker.web.test_auth import logged_in


def traces(auth: Authentication, who: str) -> list[str]:
    return [one.about for one in auth.audit.entries() if (one.action, one.who) == (EMBARGO_READ, who)]


@pytest.fixture
def under_way(tmp_path: Path) -> Iterator[Ruled]:
    """No deal is complete."""
    with ruling_desk(tmp_path, until_round(1)) as desk:
        yield desk


@pytest.mark.parametrize("path", ["/deal/{deal}", "/deal/{deal}.json", "/player/{player}", "/player/{player}.json"])
def test_an_arbiter_who_opens_a_traveller_or_a_players_sheet_is_noted_once(under_way: Ruled, path: str) -> None:
    (play, *_) = under_way.scorer.feed.current.plays
    page = path.format(deal=play.deal, player=play.seats["east"].player)
    with logged_in(under_way.server, "table_arbiter") as arbiter:
        assert [arbiter.get(page).status_code for _ in range(3)] == [200] * 3
    assert traces(under_way.auth, "table_arbiter") == [str(play.deal)]


@pytest.mark.parametrize(("path", "page"), [("/", "room"), ("/view.json", "room"), ("/wire", "wire")])
def test_an_arbiter_who_follows_results_as_they_come_is_noted_once_and_the_head_arbiter_sees_it(
    under_way: Ruled, path: str, page: str
) -> None:
    with logged_in(under_way.server, "table_arbiter") as arbiter:
        assert [arbiter.get(path).status_code for _ in range(3)] == [200] * 3
    assert traces(under_way.auth, "table_arbiter") == [page]
    with logged_in(under_way.server, "head_arbiter") as head:
        text = head.get("/people").text
    listed = text[text.index('id="looked"') : text.index('id="audit"')]
    assert [one in listed for one in ("table_arbiter", f"<td>{page}</td>")] == [True, True]


@pytest.mark.parametrize("path", ["/", "/view.json"])
def test_before_the_first_result_and_after_the_last_nobody_is_noted(tmp_path: Path, path: str) -> None:
    for name, said in (("before", []), ("after", everything())):
        with ruling_desk(tmp_path / name, said) as desk, logged_in(desk.server, "table_arbiter") as arbiter:
            assert arbiter.get(path).status_code == 200
            assert traces(desk.auth, "table_arbiter") == []


def test_a_room_that_cannot_note_who_looks_is_shown_all_the_same(under_way: Ruled) -> None:
    with logged_in(under_way.server, "table_arbiter") as arbiter, sqlite3.connect(under_way.folder / PEOPLE_FILE) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no room'); END")
        db.commit()
        assert arbiter.get("/").status_code == 200


@pytest.mark.parametrize("role", ["organiser", "display"])
def test_who_is_shown_nothing_under_embargo_leaves_no_trace(under_way: Ruled, role: str) -> None:
    deal = under_way.scorer.feed.current.plays[0].deal
    with logged_in(under_way.server, role) as client:
        assert client.get(f"/deal/{deal}").status_code == 200
    assert traces(under_way.auth, role) == []


def everything() -> list[LogMessage]:
    return [one for table in (1, 2, 3, 4) for one in whole_log(table)]


def test_a_deal_that_all_have_played_leaves_none(tmp_path: Path) -> None:
    with ruling_desk(tmp_path, everything()) as desk:
        deal = desk.scorer.feed.current.plays[0].deal
        with logged_in(desk.server, "head_arbiter") as client:
            assert client.get(f"/deal/{deal}").status_code == 200
        assert traces(desk.auth, "head_arbiter") == []


def test_after_an_hour_it_is_noted_again_and_a_clock_put_back_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_hashes(monkeypatch)
    clock = Hand()
    auth = Authentication(tmp_path, clock)
    account = auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, Actor("test"))
    token = auth.admit(account, agent="a browser", address="10.0.0.7")
    trace, visitor = EmbargoTrace(auth), Visitor(auth.known(token, agent="a browser", address="10.0.0.7"))
    for clock.now in (NOON, NOON + HOUR_MS - 1, NOON + HOUR_MS, NOON):
        trace.looked(visitor, [7, 8])
    assert traces(auth, "anne") == ["7,8"] * 3
    auth.close()
