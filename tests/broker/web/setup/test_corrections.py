"""Corrections to the plan of a running event: previewed, published, shown everywhere and taken back."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.event import open_event
from broker.export.document import event_document, restore_event
from broker.export.ema import entrants_of
from broker.scorer import open_stored_event
from tests.broker.scorer.folders import until_round
from tests.broker.web.pages.desks import Whole, cup, quickly, whole
from tests.broker.web.test_auth import logged_in, token_of

WHO: Final = "p07"
FORM: Final = re.compile(r'<form method="post".*?</form>', re.DOTALL)
HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
WAS: Final = next(one.name for one in cup().players if one.id == WHO)
NOTE: Final = re.compile(r'<li class="note".*?</li>', re.DOTALL)
HISTORY: Final = ("/rulings.csv", "/rulings.json")
NUMBERS: Final = ("N7-1", "04000007")
RIGHT: Final = {"name": "Zoé Öztürk", "country": "fra", "club": "Lille", "national": "N7-1", "ema": "04000007"}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with quickly(), whole(tmp_path_factory.mktemp("plan") / "cup", cup(), until_round(2)) as made:
        yield made


@pytest.fixture(scope="module")
def client(room: Whole) -> Iterator[httpx.Client]:
    with logged_in(room.server, "organiser") as found:
        yield found


def folder_of(room: Whole) -> Path:
    return room.scorer.publisher.folder


def filled(client: httpx.Client, address: str, kind: str, said: dict[str, str]) -> dict[str, str]:
    """Open a page; return the filled-in fields of its first form of a kind."""
    forms = [dict(HIDDEN.findall(one)) for one in FORM.findall(client.get(address).text)]
    found = next(one for one in forms if one.get("kind") == kind)
    return found | {"form": token_of(client, address), "reason": "as on the passport", **said}


def looked(client: httpx.Client, fields: dict[str, str]) -> httpx.Response:
    return client.post("/setup", data=fields | {"action": "look"})


def publish(client: httpx.Client, fields: dict[str, str]) -> httpx.Response:
    """Preview a correction, then publish the form of the preview."""
    page = looked(client, fields).text
    assert 'value="publish"' in page, page
    kept = next(dict(HIDDEN.findall(one)) for one in FORM.findall(page) if 'value="publish"' in one)
    return client.post("/setup", data=kept | {"action": "publish"}, follow_redirects=False)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Whole]:
    with quickly(), whole(tmp_path / "cup", cup(), until_round(2)) as made:
        yield made


def test_a_corrected_name_is_shown_everywhere_until_taken_back(fresh: Whole) -> None:
    with logged_in(fresh.server, "organiser") as client:
        correct_and_take_back(fresh, client)


def correct_and_take_back(room: Whole, client: httpx.Client) -> None:
    folder = folder_of(room)
    before = (folder / "event.toml").read_bytes()
    fields = filled(client, f"/setup?player={WHO}", "player", RIGHT)
    preview = looked(client, fields).text
    assert (WAS in preview, "Zoé Öztürk" in preview, "as on the passport" in preview) == (True, True, True)
    assert room.scorer.snapshot.event.players[WHO].name == WAS
    assert publish(client, fields).status_code == 303
    with logged_in(room.server, "head_arbiter") as head:
        for path in (f"/player/{WHO}", "/standings", "/rulings", "/setup", "/setup/players.csv", "/standings.csv", "/"):
            assert "Zoé Öztürk" in head.get(path).text, path
        assert WAS not in head.get("/standings").text
        (given,) = room.scorer.rulings.room.book.entries
        back = head.get(f"/rulings/new?undo={given}")
        assert (back.status_code, WAS in back.text, "Zoé Öztürk" in back.text) == (200, True, True)
        line = NOTE.findall(head.get("/rulings").text)[0]
        assert ("Lille" in line, [one for one in NUMBERS if one in line]) == (True, [])
        assert [head.get(path).text.count("04000007") for path in HISTORY] == [1, 1]
    with logged_in(room.server, "table_arbiter") as table:
        told_there = [table.get(path).text for path in ("/rulings", *HISTORY)]
        assert ["Zoé Öztürk" in one for one in told_there] == [True] * 3
        assert [number for number in NUMBERS if any(number in one for one in told_there)] == []
    stored = open_stored_event(folder)
    assert stored.event.name_of(WHO) == "Zoé Öztürk"
    assert entrants_of(folder, stored.event)[WHO].ema == "04000007"
    told = event_document(folder, stored)
    assert [one.name for one in told.people if one.id == WHO] == ["Zoé Öztürk"]
    assert b"04000007" not in b"".join(bytes(one.message) for one in told.journal)
    restore_event(event_document(folder, stored, whole=True), folder / "copy")
    assert (open_event(folder / "copy").name_of(WHO), open_stored_event(folder / "copy").event.name_of(WHO)) == (
        WAS,
        "Zoé Öztürk",
    )
    checked = CliRunner().invoke(homologue, ["event", "check", str(folder)]).stdout
    assert f"plan_corrected: {WHO}: Zoé Öztürk, but {WAS} in {folder / 'event.toml'}" in checked
    assert ((folder / "event.toml").read_bytes(), open_event(folder).name_of(WHO)) == (before, WAS)
    assert publish(client, filled(client, "/setup", "undo", {})).status_code == 303
    assert room.scorer.snapshot.event.players[WHO].name == WAS
    assert open_stored_event(folder).event.players == open_event(folder).players


def test_title_and_sessions_can_be_corrected(room: Whole, client: httpx.Client) -> None:
    publish(client, filled(client, "/setup", "title", {"title": "The  Right Cup"}))
    rows = {"name-1": "Sunday", "first_round-1": "1", "last_round-1": "4", "play_minutes-1": "30"}
    publish(client, filled(client, "/setup", "sessions", rows))
    plan = room.scorer.snapshot.event.plan
    assert (plan.title, [one.name for one in plan.sessions]) == ("The Right Cup", ["Sunday"])
    assert room.scorer.snapshot.event.minutes_of(1) == dict.fromkeys(range(1, 5), 30)
    assert "The Right Cup" in client.get("/").text


def test_typed_fields_are_kept_when_going_back_from_the_preview(client: httpx.Client) -> None:
    fields = filled(client, "/setup?player=p08", "player", {"name": "Nearly right"})
    page = client.post("/setup", data=fields | {"action": "change"}).text
    assert ('value="Nearly right"' in page, 'value="as on the passport"' in page) == (True, True)


def test_the_check_of_an_event_reports_a_corrected_club(room: Whole, client: httpx.Client) -> None:
    name = room.scorer.snapshot.event.name_of("p10")
    publish(client, filled(client, "/setup?player=p10", "player", {"name": name, "club": "Lyon"}))
    checked = CliRunner().invoke(homologue, ["event", "check", str(folder_of(room))]).stdout
    assert f"plan_corrected: p10 ({name}): country, club, numbers or parts of the name\n" in checked


def test_the_history_does_not_show_corrected_numbers(room: Whole, client: httpx.Client) -> None:
    said = {"name": room.scorer.snapshot.event.name_of("p11"), "club": "Lyon"}
    publish(client, filled(client, "/setup?player=p11", "player", said))
    publish(client, filled(client, "/setup?player=p11", "player", said | {"national": "N11"}))
    with logged_in(room.server, "head_arbiter") as head:
        newest = NOTE.findall(head.get("/rulings?lang=en").text)[0]
    assert ("Name, country, club and standing do not change." in newest, "N11" in newest) == (True, False)


def test_the_history_shows_changes_of_standing(room: Whole, client: httpx.Client) -> None:
    said = {"name": room.scorer.snapshot.event.name_of("p12")}
    count = len(room.scorer.rulings.room.book.entries)
    publish(client, filled(client, "/setup?player=p12", "player", said | {"without_standing": "yes"}))
    publish(client, filled(client, "/setup?player=p12", "player", said | {"without_standing": "yes", "club": "Metz"}))
    publish(client, filled(client, "/setup?player=p12", "player", said | {"club": "Metz"}))
    publish(client, filled(client, "/setup", "undo", {}))
    with logged_in(room.server, "head_arbiter") as head:
        notes = NOTE.findall(head.get("/rulings?lang=en").text)[:3]  # without the one that was taken back
        lines = csv.DictReader(io.StringIO(head.get("/rulings.csv").text.removeprefix("\ufeff")))
        told = [one.get("standing") for one in head.get("/rulings.json").json()["rulings"][count:]]
    assert [[len(re.findall(rf">{way} standing<", note)) for way in ("with", "without")] for note in notes[::-1]] == [
        [1, 1],
        [0, 2],
        [1, 1],
    ]
    assert [line["standing"] for line in lines][count:] == ["without", "", "with", "without"]
    assert told == ["without", None, "with", "without"]


def test_a_form_sent_twice_is_one_correction(room: Whole, client: httpx.Client) -> None:
    fields = filled(client, "/setup?player=p02", "player", {"name": "Twice"})
    first = publish(client, fields).headers["location"]
    count = len(room.scorer.rulings.room.book.entries)
    mark = room.scorer.ask(lambda: "")  # the scorer has processed everything before this
    again = client.post("/setup", data=fields | {"action": "publish", "looked_at": mark}, follow_redirects=False)
    assert (again.headers["location"], len(room.scorer.rulings.room.book.entries)) == (first, count)


@pytest.mark.parametrize(
    ("player", "said", "code"),
    [
        ("p03", {"name": ""}, "plan_wrong"),
        ("p03", {"name": "x" * 101}, "plan_wrong"),
        ("p03", {"name": "A\u202eB"}, "not_printable"),
        ("p03", {"name": "Anna", "country": "France"}, "country_wrong"),
        ("p03", {"name": "Anna", "reason": " "}, "reason_wrong"),
        ("p99", {"name": "Nobody"}, "nobody_of_event"),
        ("p03", {"name": "Anna", "after": "ruling-of-another"}, "ruling_conflict"),
        ("p03", {"name": "Anna", "form": "stolen"}, "form_foreign"),
    ],
)
def test_an_invalid_correction_is_refused_and_keeps_what_was_typed(
    room: Whole, client: httpx.Client, player: str, said: dict[str, str], code: str
) -> None:
    before = room.scorer.rulings.room.event
    fields = filled(client, "/setup?player=p03", "player", {"player": player, **said})
    answer = looked(client, fields)
    assert (answer.status_code in {400, 403, 409}, f"<code>{code}</code>" in answer.text) == (True, True), answer.text
    assert room.scorer.rulings.room.event is before
    kept = [f'value="{fields[field]}"' in answer.text for field in ("name", "reason")]
    assert player == "p99" or kept == [True, True]  # there is no form for an unknown player


def test_unchanged_values_and_duplicate_numbers_are_refused(room: Whole, client: httpx.Client) -> None:
    publish(client, filled(client, "/setup?player=p05", "player", {"name": "Five", "ema": "04000005"}))
    same = looked(client, filled(client, "/setup?player=p05", "player", {"name": "Five", "ema": "04000005"})).text
    other = looked(client, filled(client, "/setup?player=p06", "player", {"name": "Six", "ema": "04000005"})).text
    assert ("<code>nothing_corrected</code>" in same, "<code>player_listed_twice</code>" in other) == (True, True)
    assert room.scorer.rulings.room.event.name_of("p06") != "Six"


def test_the_form_makes_no_ruling_on_a_play(room: Whole, client: httpx.Client) -> None:
    head = [one for one in room.scorer.rulings.room.book.entries.values() if one.role == "head_arbiter"]
    assert head == []
    fields = filled(client, "/setup", "title", {"kind": "void"})
    assert "<code>form_malformed</code>" in looked(client, fields).text


def test_a_table_arbiter_may_not_open_the_page(room: Whole) -> None:
    with logged_in(room.server, "table_arbiter") as client:
        assert client.get("/setup").status_code == 403


@pytest.fixture
def list_(room: Whole) -> Iterator[Path]:
    """The player list beside the plan, restored after the test."""
    path = folder_of(room) / "players.csv"
    before = path.read_bytes()
    yield path
    path.write_bytes(before)


def offered(client: httpx.Client, player: str) -> dict[str, str]:
    """Return the values in the fields of a player's form."""
    page = client.get("/setup", params={"player": player, "lang": "en"}).text
    form = next(one for one in FORM.findall(page) if 'name="kind" value="player"' in one)
    return {name: text for name, text in re.findall(r'<input name="(\w+)"[^>]* value="([^"]*)"', form) if name in RIGHT}


def test_an_unreadable_player_list_is_reported_and_changes_nothing(client: httpx.Client, list_: Path) -> None:
    was = offered(client, "p09")
    assert "cannot be read" not in client.get("/setup?lang=en").text
    list_.write_text(list_.read_text(encoding="utf-8") + "p99,Bad,frankreich,,,,,,\n", encoding="utf-8")
    assert "players.csv cannot be read" in client.get("/setup?lang=en").text
    assert (offered(client, "p09"), was["country"]) == (was, "FR")
    preview = looked(client, filled(client, "/setup?player=p09", "player", was | {"name": "Anna"})).text
    assert re.findall(r'<th scope="row">(.*?)</th>', preview.partition('id="changes"')[2]) == ["Name"]


def test_names_come_from_the_plan_and_unlisted_players_can_be_corrected(client: httpx.Client, list_: Path) -> None:
    was, lines = offered(client, "p10")["name"], list_.read_text(encoding="utf-8").splitlines()
    said = [line.replace(was, "Of the list") for line in lines if not line.startswith("p12,")]
    list_.write_text("\n".join(said) + "\n", encoding="utf-8")
    assert (was != "Of the list", offered(client, "p10")["name"]) == (True, was)
    assert re.findall(r"<tr><td>(p\d\d)</td>", client.get("/setup", params={"q": "p12"}).text) == ["p12"]
    preview = looked(client, filled(client, "/setup?player=p12", "player", {"name": "In no list"})).text
    assert 'value="publish"' in preview


def test_players_can_be_searched(client: httpx.Client) -> None:
    page = client.get("/setup", params={"q": "p11"}).text
    assert re.findall(r"<tr><td>(p\d\d)</td>", page) == ["p11"]
