"""The page of a draw: each person enters their words, which are never shown or stored."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from broker.cli.desk import empty_view_feed
from broker.event import read_deals
from broker.event.deals import read_draws
from broker.event.readiness import start_problems
from broker.export.revealed_deals import verify_folder
from broker.people import Actor, Authentication
from broker.rules.commitment import words_hash
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.event.deals.draws import BEACON, VALUE, WORDS
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.web.setup.steps import made, send
from tests.broker.web.test_auth import logged_in, token_of
from tests.patience import PATIENCE_S

HASHES = {f"{field}-{at}": value for at, (name, words) in enumerate(WORDS.items())
          for field, value in (("name", name), ("hash", words_hash(words)))}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cup").mkdir()
    return tmp_path / "cup"


@pytest.fixture
def client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """An organiser's client; the event has a movement."""
    quick_hashes(monkeypatch)
    auth = Authentication(folder)
    auth.accounts.add("organiser", "An organiser", "organiser", PASSWORD, Actor("test"))
    with (
        DeskServer(empty_view_feed(), port=0, auth=auth, services=Services(folder=folder)) as server,
        logged_in(server, "organiser") as found,
    ):
        made(found, 3)
        yield found
    auth.close()


def ask(client: httpx.Client, **data: str) -> httpx.Response:
    return client.post(
        "/setup/draw", data={"form": token_of(client, "/setup/draw"), **data}, timeout=PATIENCE_S, follow_redirects=True
    )


def refused(answer: httpx.Response, code: str) -> bool:
    return code in answer.text


def announce(client: httpx.Client) -> httpx.Response:
    return ask(client, action="announce", source=BEACON[0], round=BEACON[1], **HASHES)


def test_an_incomplete_announcement_names_what_is_missing(client: httpx.Client, folder: Path) -> None:
    wrong = {"name-0": "Li Wei", "hash-0": "abc", "name-1": "Anne", "hash-1": "", "name-2": "", "hash-2": "a" * 64}
    page = ask(client, action="announce", **wrong).text
    for said in ("Li Wei: the hash of the words must", "Anne: the hash of the words must", "a hash has no name"):
        assert said in page
    page = ask(client, action="announce", **{"name-0": "Li Wei", "hash-0": "a" * 64, "source": "Lottery"}).text
    assert "enter both the source of the public value and its round" in page
    assert read_draws(folder) == ()


def test_a_draw_makes_and_seals_the_deals(client: httpx.Client, folder: Path) -> None:
    assert read_draws(folder) == ()
    page = announce(client)
    (draw,) = read_draws(folder)
    assert (draw.hash in page.text, draw.announcement.deals, draw.announcement.beacon is None) == (True, 20, False)
    assert client.get("/setup/draws.json").json()["draws"][0]["hash"] == draw.hash
    for at, words in enumerate(WORDS.values()):
        ask(client, action="words", person=str(at), words=words)
    ask(client, action="make", value=VALUE)
    assert start_problems(folder) == []
    assert [deal.sealed is None for deal in read_deals(folder)] == [False] * 20
    said = verify_folder(folder)
    assert {one.refusal for one in said.deals} == {None}
    assert said.draw is not None
    assert (said.draw.draw, said.draw.words is None, said.draw.refusal) == (1, False, None)


def test_wrong_words_are_refused_and_no_words_are_shown(client: httpx.Client, folder: Path) -> None:
    announce(client)
    before = {path.name: path.read_bytes() for path in folder.glob("dr*")}
    wrong = ask(client, action="words", person="0", words="alpha beta nonsense")
    right = ask(client, action="words", person="0", words=WORDS["Li Wei"])
    assert (refused(wrong, "words_differ"), refused(right, "words_differ")) == (True, False)
    pages = wrong.text + right.text + client.get("/setup/draw").text
    assert [word for word in ("alpha", "nonsense", "gamma") if word in pages] == []
    assert {path.name: path.read_bytes() for path in folder.glob("dr*")} == before


def test_deals_are_not_made_before_all_words_are_entered(client: httpx.Client, folder: Path) -> None:
    announce(client)
    ask(client, action="words", person="0", words=WORDS["Li Wei"])
    assert refused(ask(client, action="make", value=VALUE), "words_missing")
    assert not (folder / "deals.json").exists()


def test_an_abandoned_draw_stays_listed(client: httpx.Client) -> None:
    announce(client)
    page = ask(client, action="give_up", reason="Anne has lost her words").text
    assert "Anne has lost her words" in page
    assert "Anne has lost her words" in announce(client).text


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"action": "announce"}, "person_missing"),
        ({"action": "announce", "name-0": "A", "hash-0": "no hash"}, "malformed"),
        ({"action": "announce", "name-0": "A", "hash-0": "a" * 64, "source": "drand"}, "malformed"),
        ({"action": "make"}, "no_draw"),
        ({"action": "words", "person": "0", "words": "x"}, "no_draw"),
        ({"action": "give_up", "reason": "x"}, "no_draw"),
        ({"action": "other"}, "form_malformed"),
    ],
)
def test_an_invalid_form_is_refused_with_its_code(
    client: httpx.Client, folder: Path, fields: dict[str, str], code: str
) -> None:
    assert refused(ask(client, **fields), code)
    assert read_draws(folder) == ()


def test_words_must_be_entered_for_a_listed_person(client: httpx.Client) -> None:
    announce(client)
    for person in ("2", "-1", "x", "²", ""):
        assert refused(ask(client, action="words", person=person, words=WORDS["Anne"]), "form_malformed")


def test_existing_deals_can_be_sealed(client: httpx.Client, folder: Path) -> None:
    send(client, {"action": "deals"})
    assert "not_sealed" in client.get("/setup").text
    send(client, {"action": "seal"})
    assert {deal.sealed is None for deal in read_deals(folder)} == {False}
    assert ("not_sealed" in client.get("/setup").text, start_problems(folder)) == (False, [])


def test_a_draw_stays_listed_after_its_deals_are_removed(client: httpx.Client, folder: Path) -> None:
    announce(client)
    for at, words in enumerate(WORDS.values()):
        ask(client, action="words", person=str(at), words=words)
    ask(client, action="make", value=VALUE)
    first = read_draws(folder)[0].hash
    send(client, {"action": "take_out", "sure": "yes"})
    announce(client)
    assert read_draws(folder)[1].announcement.previous == first
