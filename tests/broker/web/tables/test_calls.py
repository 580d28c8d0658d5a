"""The buttons for calls and alerts: each press is noted in the audit log and shown to all arbiters."""

import re
from collections.abc import Iterator
from functools import partial
from html import unescape

import httpx
import pytest
from msgspec.structs import replace

from broker.people.accounts import EMBARGO_READ
from broker.protocol import Call
from broker.web.alerts import alert_value
from tests.broker.scorer import small
from tests.broker.scorer.folders import until_round
from tests.broker.web.pages.desks import MINUTE, NOW, PEOPLE, Whole, cup, quickly, whole
from tests.broker.web.test_auth import logged_in, token_of

HEAD, TABLE = "head_arbiter", "table_arbiter"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    said = until_round(2)
    last = {one.table: one.seq for one in said}
    third = {table: small.event().bookings[table, 3].deal for table in small.event().tables}
    with quickly(), whole(tmp_path_factory.mktemp("attended") / "cup", cup(), said) as made:
        there = {
            table: replace(small.state(table), round=3, deal=third[table], minutes=15, stood_ms=0) for table in third
        }
        made.hear(
            replace(there[1], calling=True, state="restoring"),
            small.fact(1, last[1] + 1, Call(round=3, deal=third[1], open=True), at=NOW),
            there[2],
            *small.begun(2, 3, first=last[2] + 1, at=NOW - 15 * MINUTE, verified=False),
            there[3],
            *small.begun(3, 3, first=last[3] + 1, at=NOW - 14 * MINUTE),
        )
        yield made


@pytest.fixture
def quiet(desk: Whole) -> Iterator[Whole]:
    """Return the desk; afterwards reset who attends calls and which alerts are seen."""
    yield desk
    attended = desk.scorer.live.attendance
    for alert in desk.scorer.feed.current.alerts:
        desk.scorer.ask(partial(attended.mark_unseen, alert))
    desk.scorer.ask(lambda: attended._store(1, None))


def press(client: httpx.Client, name: str, value: str, **more: str) -> httpx.Response:
    return client.post("/attended?lang=en", data={"form": token_of(client, "/"), "to": "/grid", name: value, **more})


def gone(desk: Whole) -> str:
    """Return the button's value for table 1, which tells who was shown to be going there."""
    who = desk.scorer.feed.current.tables[0].attended
    return f"1-{who.at if who else 0}"


def notes(desk: Whole, count: int) -> list[tuple[str, str, str]]:
    written = [
        one for one in desk.auth.audit.entries() if one.action != EMBARGO_READ
    ]  # readings under embargo are noted too
    return [(one.who, one.action, one.about) for one in written[-count:]]


def test_attending_a_call_is_shown_noted_and_can_be_taken_back(quiet: Whole) -> None:
    with logged_in(quiet.server, HEAD) as client, logged_in(quiet.server, TABLE) as other:
        answer = press(client, "go", "1-0")
        assert (answer.status_code, answer.headers["location"]) == (303, "/grid?lang=en")
        for page in ("/?lang=en", "/grid?lang=en"):
            assert f"{PEOPLE[0]} is going, since" in other.get(page).text
        assert press(client, "stay", gone(quiet)).status_code == 303
        assert "is going, since" not in other.get("/grid?lang=en").text
    assert notes(quiet, 2) == [(HEAD, "call_taken", "1"), (HEAD, "call_left", "1")]


def test_the_second_of_two_arbiters_is_refused_and_may_take_over(
    quiet: Whole,
) -> None:
    with logged_in(quiet.server, HEAD) as client, logged_in(quiet.server, TABLE) as other:
        press(client, "go", "1-0")
        before = notes(quiet, 10_000)
        late = other.post("/attended?lang=fr", data={"form": token_of(other, "/"), "go": "1-0"})
        assert (late.status_code, "Regardez qui y va." in late.text) == (409, True)
        assert notes(quiet, 10_000) == before
        assert press(other, "stay", gone(quiet)).status_code == 409  # only the arbiter who is going may withdraw
        assert press(other, "go", gone(quiet)).status_code == 303
        assert f"{PEOPLE[1]} is going, since" in client.get("/?lang=en").text


def test_a_seen_alert_is_listed_with_who_has_seen_it_and_can_be_put_back(quiet: Whole) -> None:
    with logged_in(quiet.server, TABLE) as client:
        alert = next(one for one in quiet.scorer.feed.current.alerts if one.code == "unverified")
        assert press(client, "see", alert_value(alert)).status_code == 303
        seen = client.get("/?lang=en").text.partition('data-key="seen"')[2]
        assert ("Seen: 1" in seen, f"Seen by {PEOPLE[1]}" in seen) == (True, True)
        assert press(client, "unsee", alert_value(alert)).status_code == 303
        assert "Seen by" not in client.get("/?lang=en").text
    assert notes(quiet, 2) == [(TABLE, "alert_seen", "unverified 2"), (TABLE, "alert_unseen", "unverified 2")]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("go", "2-0", "no_call"),
        ("go", "99-0", "no_call"),
        ("stay", "2-0", "no_call"),
        ("go", "1", "form_malformed"),
        ("go", "\u0661-0", "form_malformed"),
        ("go", "1-" + "9" * 400, "form_malformed"),
        ("see", "1 unverified 2 ", "alert_gone"),
        ("unsee", "", "alert_gone"),
        ("dance", "1-0", "form_malformed"),
        ("go", "1-5", "call_attended"),
    ],
)
def test_an_invalid_press_is_refused_and_not_noted(desk: Whole, name: str, value: str, code: str) -> None:
    with logged_in(desk.server, HEAD) as client:
        before = notes(desk, 10_000)
        assert code in press(client, name, value).text
        assert notes(desk, 10_000) == before


def test_a_press_that_changes_nothing_is_not_noted(quiet: Whole) -> None:
    with logged_in(quiet.server, HEAD) as client, logged_in(quiet.server, TABLE) as other:
        alert = next(one for one in quiet.scorer.feed.current.alerts if one.code == "unverified")
        pressed = (("go", "1-0"), ("see", alert_value(alert)))
        for one in pressed:
            press(client, *one)
        before = notes(quiet, 10_000)
        assert [press(client, *one).status_code for one in pressed] == [303, 303]
        assert press(other, "see", alert_value(alert)).status_code == 303
        assert notes(quiet, 10_000) == before
        for one in (("stay", gone(quiet)), ("unsee", alert_value(alert))):
            assert [press(client, *one).status_code for _ in range(2)] == [303, 303]
    assert notes(quiet, 3) == [
        (HEAD, "alert_seen", "unverified 2"),
        (HEAD, "call_left", "1"),
        (HEAD, "alert_unseen", "unverified 2"),
    ]


def test_a_form_without_the_sessions_token_is_refused(desk: Whole) -> None:
    with logged_in(desk.server, HEAD) as client:
        assert "form_foreign" in client.post("/attended", data={"form": "x", "go": "1-0"}).text


@pytest.mark.parametrize(
    ("to", "back"),
    [
        ("https://elsewhere.example/", "/?lang=en"),
        ("//elsewhere.example/grid", "/?lang=en"),
        ("/orders?page=2", "/?lang=en"),
        ("/grid?kind=calling&page=20&lang=fr&evil=1", "/grid?page=20&kind=calling&lang=en"),
        ("/?page=%0d%0aX", "/?page=%0D%0AX&lang=en"),
        (f"/grid?kind={'x' * 99}", f"/grid?kind={'x' * 64}&lang=en"),
    ],
)
def test_a_press_returns_only_to_pages_with_buttons(quiet: Whole, to: str, back: str) -> None:
    with logged_in(quiet.server, HEAD) as client:
        answer = press(client, "go", "1-0", to=to)
    assert answer.headers["location"] == back


def test_buttons_carry_their_page_without_javascript(desk: Whole) -> None:
    with logged_in(desk.server, HEAD) as client:
        pages = [client.get(path).text for path in ("/?lang=en", "/grid?kind=calling&page=20&lang=en")]
    back = [unescape(re.findall(r'name="to" value="([^"]*)"', page)[0]) for page in pages]
    assert back == ["/?", "/grid?kind=calling&page=20"]


def test_the_grid_shows_when_plays_end_and_which_are_over_time(desk: Whole) -> None:
    with logged_in(desk.server, HEAD) as client:
        whole_grid, over = (client.get(f"/grid?lang=en{kind}").text for kind in ("", "&kind=over"))
    assert f'data-until="{NOW}"' in whole_grid
    assert f'data-until="{NOW + MINUTE}"' in whole_grid
    assert "Over time: 1" in whole_grid
    assert [f'id="row-{table}"' in over for table in (1, 2, 3)] == [False, True, False]


def test_tables_that_need_attention_are_listed_most_urgent_first(desk: Whole) -> None:
    with logged_in(desk.server, HEAD) as client:
        page = client.get("/grid?lang=en&kind=wants").text
    assert [page.count(f'id="row-{table}"') for table in (1, 2, 3)] == [1, 1, 0]
    assert page.index('id="row-1"') < page.index('id="row-2"')
    assert "Walls not verified" in page


def test_a_display_shows_no_buttons_and_no_arbiters(quiet: Whole) -> None:
    with logged_in(quiet.server, HEAD) as client, logged_in(quiet.server, "display") as screen:
        press(client, "go", "1-0")
        page = screen.get("/?lang=en").text
    assert ('id="attend"' in page, PEOPLE[0] in page) == (False, False)
