"""Check-in at the door, and changes of who plays during an event."""

import html
import re
from collections.abc import Iterator
from typing import Final

import httpx
import pytest

from broker.rulings import plan_draft
from tests.broker.scorer.folders import until_round
from tests.broker.web.pages.desks import Whole, cup, quickly, whole
from tests.broker.web.test_auth import logged_in, token_of

GONE: Final = "p07"
ITEM: Final = re.compile(r'<li id="(p\d+)".*?</li>', re.DOTALL)
HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
COUNT: Final = re.compile(r"<strong>(\d+)</strong>")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with quickly(), whole(tmp_path_factory.mktemp("players") / "cup", cup(), until_round(1)) as made:
        yield made


@pytest.fixture(scope="module")
def client(room: Whole) -> Iterator[httpx.Client]:
    with logged_in(room.server, "organiser") as found:
        yield found


def item(client: httpx.Client, player: str, asked: str = "/checkin") -> dict[str, str]:
    """Return the form of one player in the list."""
    text = client.get(asked).text
    return next(dict(HIDDEN.findall(one[0])) for one in re.finditer(ITEM, text) if one[1] == player)


def counts(client: httpx.Client) -> list[int]:
    """Return how many players are present, absent and unknown."""
    return [int(one) for one in COUNT.findall(client.get("/checkin").text.partition('id="counts"')[2])[:3]]


def test_a_table_arbiter_can_check_in_a_player_and_undo_it(room: Whole) -> None:
    with logged_in(room.server, "table_arbiter") as client:
        name = next(one.name for one in room.scorer.snapshot.event.players.values() if one.id == "p02")
        before = counts(client)
        form = item(client, "p02", f"/checkin?q={name.upper()}")
        answer = client.post("/checkin", data=form | {"said": "present"}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"].endswith("#p02")) == (303, True)
        assert counts(client) == [before[0] + 1, before[1], before[2] - 1]
        client.post("/checkin", data=item(client, "p02") | {"said": "unknown"})
        assert counts(client) == before


def test_a_conflicting_check_in_is_refused_and_shows_the_player(room: Whole, client: httpx.Client) -> None:
    with logged_in(room.server, "head_arbiter") as other:
        mine, theirs = item(client, "p03"), item(other, "p03", "/checkin?q=p03&show=unknown")
        client.post("/checkin", data=mine | {"said": "present"})
        answer = other.post("/checkin", data=theirs | {"said": "absent"})
        assert "ruling_conflict" in answer.text
        assert [one[1] for one in re.finditer(ITEM, answer.text)] == ["p03"]
        assert room.scorer.state.checked_in["p03"] is True


def test_an_empty_filter_and_an_unknown_name_give_different_messages(client: httpx.Client) -> None:
    says = [client.get("/checkin", params=asked).text for asked in ({"show": "absent"}, {"q": "Nemo"})]
    assert ['class="empty">Nobody</p>' in one for one in says] == [True, False]
    assert ["Nobody of this name" in one for one in says] == [False, True]


def test_a_new_seating_is_previewed_published_and_withdrawn(room: Whole, client: httpx.Client) -> None:
    before = dict(room.scorer.state.planned.bookings)
    asked = {"form": token_of(client, "/players"), "action": "look", "reason": "did not come", "round": "2"}
    page = client.post("/players", data=asked | {f"leave-{GONE}": "on", "enter": "Zoé Öztürk\n"}).text
    assert ("Zoé Öztürk" in page, 'value="publish"' in page) == (True, True), page
    assert room.scorer.state.planned.bookings == before
    kept = {name: value.replace("&#34;", '"').replace("&quot;", '"') for name, value in HIDDEN.findall(page)}
    answer = client.post("/players", data=kept | {"action": "publish"}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    assert room.scorer.state.planned.bookings != before
    for path in ("/seating", "/display", "/seating?by=table", "/players"):
        text = client.get(path).text
        assert ("Zoé Öztürk" in text or path == "/display", "changed at" in text) == (True, True), path
    assert "Zoé Öztürk" in client.get("/player/p17").text
    undone = next(iter(one for one in room.scorer.state.book.entries.values() if one.kind == "plan_changed")).id
    with logged_in(room.server, "head_arbiter") as head:
        assert "Zoé Öztürk" in head.get("/rulings").text
        assert head.get(f"/rulings/new?undo={undone}").status_code == 200
        for path in ("/", "/setup/players.csv", "/standings", "/grid", "/paper", "/exports", "/carriers"):
            assert head.get(path).status_code == 200, path
    look = {"form": token_of(client, "/players"), "action": "look", "reason": "a mistake", "undo": undone}
    kept = dict(HIDDEN.findall(client.post("/players", data=look).text))
    assert client.post("/players", data=kept | {"action": "publish"}, follow_redirects=False).status_code == 303
    assert room.scorer.state.planned.bookings == before


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept the first seating found, since its quality does not matter here."""
    monkeypatch.setattr(plan_draft, "SEARCH_S", 0.0)


@pytest.mark.usefixtures("hurried")
def test_a_leaving_player_may_be_given_by_box_id_or_name(room: Whole, client: httpx.Client) -> None:
    asked = {"form": token_of(client, "/players"), "action": "look", "reason": "did not come", "round": "2"}
    ways = {f"leave-{GONE}": "on"}, {"leave": f"\n {GONE} \n"}, {"leave": room.scorer.state.planned.players[GONE].name}
    changes = [dict(HIDDEN.findall(client.post("/players", data=asked | way).text))["change"] for way in ways]
    assert changes == [changes[0]] * 3


@pytest.mark.usefixtures("hurried")
def test_a_new_player_with_an_existing_name_is_pointed_out(room: Whole, client: httpx.Client) -> None:
    playing, leaving = (room.scorer.state.planned.players[one].name for one in ("p08", GONE))
    asked = {"form": token_of(client, "/players"), "action": "look", "reason": "came late", "round": "2"}
    ways = (
        {"enter": f" {playing.upper()}\n"},
        {"replaced": GONE, "by": playing},
        {f"leave-{GONE}": "on", "enter": leaving},
        {"enter": "Zoé Öztürk"},
    )
    pages = [client.post("/players", data=asked | way).text for way in ways]
    found = [re.findall(r'id="alike">.*?In the event already: (.*?)\. If', page, re.DOTALL) for page in pages]
    assert [[html.unescape(one) for one in names] for names in found] == [[playing], [playing], [leaving], []]


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(("action", "code"), [("change", ""), ("publish", "ruling_conflict")])
def test_typed_changes_are_kept_after_a_preview_or_conflict(client: httpx.Client, action: str, code: str) -> None:
    asked = {"form": token_of(client, "/players"), "action": "look", "reason": "late train", "round": "2"}
    typed = asked | {"enter": "Zoé Öztürk\r\nAda", "leave-p03": "on", "without_standing": "yes"}
    kept = {name: html.unescape(value) for name, value in HIDDEN.findall(client.post("/players", data=typed).text)}
    page = client.post("/players", data=kept | {"action": action, "after": "another-plan"}).text
    assert f"<code>{code}</code>" in page or not code
    form = html.unescape(page.partition('class="card change"')[2].partition("</form>")[0])
    assert re.findall(r'name="([^"]+)"(?: value="yes")?[^>]* checked', form) == ["leave-p03", "without_standing"]
    assert ("Zoé Öztürk\r\nAda</textarea>" in form, 'value="late train"' in form) == (True, True)
    assert "<option selected>2</option>" in form


@pytest.mark.usefixtures("hurried")
def test_a_new_player_may_play_without_standing(client: httpx.Client) -> None:
    asked = {"form": token_of(client, "/players"), "action": "look", "reason": "a guest", "enter": "Ada"}
    said = [
        html.unescape(dict(HIDDEN.findall(client.post("/players", data=asked | ticked).text))["change"])
        for ticked in ({}, {"without_standing": "yes"})
    ]
    assert ['"without_standing":true' in one for one in said] == [False, True]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "nothing_changes"),
        ({"enter": "x" * 101}, "names_wrong"),
        ({f"leave-p{number:02}": "on" for number in range(1, 15)}, "too_few_players"),
        ({"leave-p99": "on"}, "nobody_of_event"),
        ({"leave": "p01\nNemo"}, "nobody_of_event"),
        ({"replaced": "Nemo", "by": "Anna"}, "nobody_of_event"),
    ],
)
def test_an_impossible_change_is_refused_with_its_code(client: httpx.Client, fields: dict[str, str], code: str) -> None:
    asked = {"form": token_of(client, "/players"), "action": "look", "reason": "why"}
    assert f"<code>{code}</code>" in client.post("/players", data=asked | fields).text


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("fields", [{"action": "publish", "change": '{"x":' + "[" * 50_000}, {"round": "9" * 5_000}])
@pytest.mark.parametrize("path", ["/players", "/final"])
def test_malformed_input_never_fails_the_desk(room: Whole, path: str, fields: dict[str, str]) -> None:
    with logged_in(room.server, "head_arbiter") as head:
        asked = {"form": token_of(head, path), "action": "look", "reason": "why", "enter": "Ada"}
        assert head.post(path, data=asked | fields).status_code < 500
