"""Reading results under embargo is noted in the audit log, once per person, item and hour."""

import re
import sqlite3
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import httpx
import pytest

from broker.files import PEOPLE_FILE
from broker.people import Actor, Authentication
from broker.people.accounts import EMBARGO_READ, HOUR_MS
from broker.protocol import LogMessage
from broker.rules import Outcome
from broker.web import Visitor
from broker.web.embargo import EmbargoTrace
from tests.broker.people.conftest import NOON, PASSWORD, Hand, quick_hashes
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import OUTCOMES, event, whole_log, whole_play
from tests.broker.web.rulings.desks import Ruled, ruling_desk
from tests.broker.web.test_auth import ALLOWED, logged_in


def traces(auth: Authentication, who: str) -> list[str]:
    return [one.about for one in auth.audit.entries() if (one.action, one.who) == (EMBARGO_READ, who)]


@pytest.fixture
def under_way(tmp_path: Path) -> Iterator[Ruled]:
    """A desk whose event has results but no complete deal."""
    with ruling_desk(tmp_path, until_round(1)) as desk:
        yield desk


@pytest.mark.parametrize("path", ["/deal/{deal}", "/deal/{deal}.json", "/player/{player}", "/player/{player}.json"])
def test_opening_a_traveller_or_player_sheet_under_embargo_is_noted_once(under_way: Ruled, path: str) -> None:
    (play, *_) = under_way.scorer.feed.current.plays
    page = path.format(deal=play.deal, player=play.seats["east"].player)
    with logged_in(under_way.server, "table_arbiter") as arbiter:
        assert [arbiter.get(page).status_code for _ in range(3)] == [200] * 3
    assert traces(under_way.auth, "table_arbiter") == [str(play.deal)]


@pytest.mark.parametrize(("path", "page"), [("/", "room"), ("/view.json", "room"), ("/wire", "wire")])
def test_following_the_room_is_noted_once_and_shown_to_the_head_arbiter(under_way: Ruled, path: str, page: str) -> None:
    with logged_in(under_way.server, "table_arbiter") as arbiter:
        assert [arbiter.get(path).status_code for _ in range(3)] == [200] * 3
    assert traces(under_way.auth, "table_arbiter") == [page]
    with logged_in(under_way.server, "head_arbiter") as head:
        text = head.get("/people").text
    listed = text[text.index('id="embargo-reads"') : text.index('id="audit"')]
    assert [one in listed for one in ("table_arbiter", f"<td>{page}</td>")] == [True, True]


@pytest.mark.parametrize("path", ["/", "/view.json"])
def test_nothing_is_noted_before_the_first_result_or_after_the_last(tmp_path: Path, path: str) -> None:
    for name, said in (("before", []), ("after", everything())):
        with ruling_desk(tmp_path / name, said) as desk, logged_in(desk.server, "table_arbiter") as arbiter:
            assert arbiter.get(path).status_code == 200
            assert traces(desk.auth, "table_arbiter") == []


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Ruled, Ruled]]:
    """Return two desks of the same event that differ in one result, which is under embargo."""
    with (
        ruling_desk(tmp_path / "one", two_rounds(OUTCOMES[1])) as one,
        ruling_desk(tmp_path / "other", two_rounds(OUTCOMES[2])) as other,
    ):
        yield one, other


def two_rounds(outcome: Outcome) -> list[LogMessage]:
    """Return two rounds after which no deal is complete; `outcome` is that of table 1's first play."""
    first = whole_play(1, 1, outcome)
    others = [message for message in until_round(2) if message.table != 1]
    return [*first, *whole_play(1, 2, first=len(first) + 1), *others]


def telling(two: tuple[Ruled, Ruled], role: str) -> list[str]:
    """Return the pages on which a role can tell the two events apart."""
    booking = event().bookings[1, 1]
    named = {"{deal:int}": str(booking.deal), "{player}": booking.players["east"], "{team:int}": "1"}
    pages = [
        reduce(lambda path, name: path.replace(*name), named.items(), path)
        for path, roles in ALLOWED.items()
        if role in roles and not path.startswith("/live/") and path != "/events"  # streams show the same as their pages
    ]
    with logged_in(two[0].server, role) as one, logged_in(two[1].server, role) as other:
        return [page for page in pages if said(one, page) != said(other, page)]


def said(client: httpx.Client, page: str) -> str:
    """Return a page without times, the session's token, and the anchor, a hash that reveals nothing."""
    anchor = r'"anchor":{[^}]*}|<code class="anchor">[^<]*'
    return re.sub(rf'name="form" value="[^"]*"|<time .*?</time>|{anchor}', "", client.get(page).text)


def test_every_page_that_reveals_a_hidden_result_to_an_arbiter_is_noted(two: tuple[Ruled, Ruled]) -> None:
    pages, silent = telling(two, "table_arbiter"), list[str]()
    assert {"/", "/standings", "/api/v1/plays", "/api/v1/standings"} <= {*pages}
    for number, page in enumerate(pages):
        two[0].auth.accounts.add(f"who{number}", "Who", "table_arbiter", PASSWORD, Actor("test"))
        with logged_in(two[0].server, f"who{number}") as client:
            client.get(page)
        silent += [page] if not traces(two[0].auth, f"who{number}") else []
    assert silent == []


@pytest.mark.parametrize("role", ["display", "organiser"])
def test_no_page_reveals_a_hidden_result_without_the_right_to_see_the_room(two: tuple[Ruled, Ruled], role: str) -> None:
    assert telling(two, role) == []


def test_the_room_is_shown_even_if_the_audit_entry_cannot_be_written(under_way: Ruled) -> None:
    with logged_in(under_way.server, "table_arbiter") as arbiter, sqlite3.connect(under_way.folder / PEOPLE_FILE) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no room'); END")
        db.commit()
        assert arbiter.get("/").status_code == 200


@pytest.mark.parametrize("role", ["organiser", "display"])
def test_roles_that_see_nothing_under_embargo_are_not_noted(under_way: Ruled, role: str) -> None:
    deal = under_way.scorer.feed.current.plays[0].deal
    with logged_in(under_way.server, role) as client:
        assert client.get(f"/deal/{deal}").status_code == 200
    assert traces(under_way.auth, role) == []


def everything() -> list[LogMessage]:
    return [one for table in (1, 2, 3, 4) for one in whole_log(table)]


def test_reading_a_complete_deal_is_not_noted(tmp_path: Path) -> None:
    with ruling_desk(tmp_path, everything()) as desk:
        deal = desk.scorer.feed.current.plays[0].deal
        with logged_in(desk.server, "head_arbiter") as client:
            assert client.get(f"/deal/{deal}").status_code == 200
        assert traces(desk.auth, "head_arbiter") == []


def test_a_reading_is_noted_again_after_an_hour_or_if_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_hashes(monkeypatch)
    clock = Hand()
    auth = Authentication(tmp_path, clock)
    account = auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, Actor("test"))
    token = auth.admit(account, agent="a browser", address="10.0.0.7")
    trace, visitor = EmbargoTrace(auth), Visitor(auth.known(token, agent="a browser", address="10.0.0.7"))
    for clock.now in (NOON, NOON + HOUR_MS - 1, NOON + HOUR_MS, NOON):
        trace.note_items(visitor, [7, 8])
    assert traces(auth, "anne") == ["7,8"] * 3
    auth.close()
