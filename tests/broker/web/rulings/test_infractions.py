"""Infractions and appeals at the desk: proposed penalties, confirmations, decisions and prints."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pypdfium2
import pytest

from tests.broker.scorer.small import event
from tests.broker.web.rulings.desks import NOW, Ruled, looked, opened, publish, ruling_desk, send
from tests.broker.web.test_auth import logged_in

PLAY = "1-2"
HERE = event().bookings[1, 2].players
WEST = event().players[HERE["west"]].name
FORM = f"/rulings/new?play={PLAY}&kind=fine"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Ruled]:
    with ruling_desk(tmp_path / "cup") as made:
        yield made


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ruled, httpx.Client]]:
    """Return a desk on which nothing is ruled, with a head arbiter's client."""
    with ruling_desk(tmp_path_factory.mktemp("idle") / "cup") as made, logged_in(made.server, "head_arbiter") as client:
        yield made, client


@pytest.fixture
def head(desk: Ruled) -> Iterator[httpx.Client]:
    with logged_in(desk.server, "head_arbiter") as client:
        yield client


def fined(client: httpx.Client, **fields: str) -> str:
    """Rule on an infraction by West; return the ruling's id."""
    form = opened(client, FORM) | {"by-west": "1", "infraction": "sound"} | fields
    answer = publish(client, form)
    assert answer.status_code == 303, answer.text
    return form["id"]


def printed(client: httpx.Client, address: str) -> str:
    answer = client.get(address)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    return "\n".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(answer.content))


def test_repeated_infractions_get_the_penalties_of_the_rules(desk: Ruled, head: httpx.Client) -> None:
    fined(head)
    fined(head)
    fined(head)
    assert [kind for kind, _ in desk.kinds] == ["warning", "fine", "fine"]
    page = head.get("/infractions").text
    assert [word for word in ("3 times now", "Hu or its value told aloud", "−8", "False hu") if word not in page] == []
    history = head.get("/rulings?kind=warning").text
    assert history.count(f"Hu or its value told aloud · {WEST}") == 1


def test_a_warning_sent_twice_is_given_once(desk: Ruled, head: httpx.Client) -> None:
    form = looked(head, opened(head, FORM) | {"by-west": "1", "infraction": "sound"})
    answers = [send(head, form), send(head, form)]
    fined(head)
    assert [one.status_code for one in (*answers, send(head, form))] == [303, 303, 303]
    assert [kind for kind, _ in desk.kinds] == ["warning", "fine"]


def test_a_fine_not_in_the_rules_needs_confirmation(desk: Ruled, head: httpx.Client) -> None:
    form = opened(head, FORM) | {"fine-west": "5", "infraction": "sound"}
    questioned = publish(head, form)
    assert (questioned.status_code, 'name="exception"' in questioned.text, desk.kinds) == (400, True, [])
    assert 'name="exception"' not in head.get(FORM).text
    assert publish(head, form | {"exception": "1"}).status_code == 303
    assert desk.kinds == [("fine", True)]
    assert "−5 IMP · not in the rules" in head.get("/rulings").text


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "nothing_given"),
        ({"by-west": "1"}, "nothing_given"),
        ({"by-west": "1", "infraction": "false_hu"}, "fine_to_choose"),
        ({"by-west": "1", "infraction": "whistling"}, "unknown_infraction"),
        ({"by-west": "1", "measure": "fine", "infraction": "sound"}, "penalty_wrong"),
        ({"by-west": "1", "measure": "hanging", "infraction": "sound"}, "bad_ruling"),
        ({"by-north": "1", "measure": "dead_hand", "infraction": "wrong_tiles"}, "dead_hand_won"),
    ],
)
def test_an_invalid_penalty_is_refused_with_its_code(
    idle: tuple[Ruled, httpx.Client], fields: dict[str, str], code: str
) -> None:
    desk, client = idle
    answer = send(client, opened(client, FORM) | fields)
    assert (answer.status_code, code in answer.text, desk.kinds) == (400, True, [])


def test_players_with_different_penalties_need_separate_rulings(desk: Ruled, head: httpx.Client) -> None:
    fined(head)
    both = opened(head, FORM) | {"by-west": "1", "by-east": "1", "infraction": "sound"}
    assert "penalties_differ" in publish(head, both).text
    assert desk.kinds == [("warning", True)]


def test_the_rules_propose_penalties_outside_plays_too(desk: Ruled, head: httpx.Client) -> None:
    form = opened(head, "/rulings/new?kind=fine") | {"player": HERE["west"], "infraction": "late", "fine-player": ""}
    assert publish(head, form).status_code == 303
    assert desk.kinds == [("warning", True)]


def test_an_appeal_is_recorded_and_decided_and_the_ruling_withdrawn(desk: Ruled, head: httpx.Client) -> None:
    fined(head)
    ruling = fined(head)
    form = opened(head, f"/rulings/new?appeal={ruling}&kind=appeal") | {"appellant-0": WEST}
    assert publish(head, form).status_code == 303
    assert "Record the decision" in head.get("/infractions").text
    decision = opened(head, f"/rulings/new?appeal={ruling}&kind=appeal_decided")
    assert "verdict_missing" in publish(head, decision | {"committee": "Ada"}).text
    assert "committee_missing" in publish(head, decision | {"verdict": "changed"}).text
    assert publish(head, decision | {"verdict": "changed", "committee": "Ada Lovelace\n Bo  Ek "}).status_code == 303
    page = head.get("/infractions").text
    assert [word for word in ("Ada Lovelace · Bo Ek", "The ruling still counts") if word not in page] == []
    assert publish(head, opened(head, f"/rulings/new?undo={ruling}")).status_code == 303
    assert "The ruling still counts" not in head.get("/infractions").text
    assert [kind for kind, _ in desk.kinds] == ["warning", "fine", "appeal", "appeal_decided", "undo"]
    of_play = head.get("/rulings?play=1-2").text
    titles = [
        re.sub("<.*?>", "", one)
        for one in re.findall(r"<p>(<strong>(?:Appeal|Decision on an appeal)<.*?)</p>", of_play)
    ]
    about = "Fine · Table 1 · Round 2 · Deal"
    assert [title.partition(about)[0] for title in titles] == ["Decision on an appeal · ", "Appeal · "]


def test_a_late_appeal_needs_confirmation(desk: Ruled, head: httpx.Client) -> None:
    ruling = fined(head)
    desk.now = NOW + 31 * 60_000
    form = opened(head, f"/rulings/new?appeal={ruling}&kind=appeal") | {"appellant-0": HERE["west"]}
    questioned = publish(head, form)
    assert ("appeal_late" in questioned.text, 'name="exception"' in questioned.text) == (True, True)
    assert publish(head, form | {"exception": "1"}).status_code == 303


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Warning", "Hu or its value told aloud", "Record of a ruling", "Appeals until", "Signatures")),
        ("fr", ("Avertissement", "Hu ou sa valeur annoncés à voix haute", "Procès-verbal", "Recours jusqu’à")),
        ("zh", ("警告", "出声示和或报番", "裁决记录", "申诉截止", "签名")),
    ],
)
def test_pages_and_prints_are_translated(head: httpx.Client, language: str, words: tuple[str, ...]) -> None:
    ruling = fined(head)
    record = printed(head, f"/ruling/{ruling}.pdf?lang={language}")
    assert [word for word in (WEST, "seen by the arbiter", "A head_arbiter", *words) if word not in record] == []
    page = head.get(f"/infractions?lang={language}").text
    assert [word for word in words[:2] if word not in page] == []
    register = printed(head, f"/infractions.pdf?lang={language}")
    assert [word for word in words[:1] if word not in register] == []


def test_the_record_of_a_ruling_contains_the_appeal_against_it(head: httpx.Client) -> None:
    ruling = fined(head)
    appeal = opened(head, f"/rulings/new?appeal={ruling}&kind=appeal") | {
        "appellant-0": WEST,
        "reason": "A cough",
    }
    publish(head, appeal)
    decision = {"verdict": "upheld", "committee": "Ada Lovelace", "reason": "Two players heard it"}
    publish(head, opened(head, f"/rulings/new?appeal={ruling}&kind=appeal_decided") | decision)
    told = ("A cough", "Ada Lovelace", "The ruling is upheld", "Two players heard it")
    for id_ in (ruling, appeal["id"]):
        assert [word for word in told if word not in printed(head, f"/ruling/{id_}.pdf")] == []
    assert head.get("/ruling/nothing-here.pdf").status_code == 404


def test_actions_of_the_head_arbiter_are_not_offered_to_table_arbiters(desk: Ruled, head: httpx.Client) -> None:
    by_head = fined(head)
    appeal = {"appellant-0": WEST, "reason": "I said nothing"}
    publish(head, opened(head, f"/rulings/new?appeal={by_head}&kind=appeal") | appeal)
    offered = {}
    for role in ("head_arbiter", "table_arbiter"):
        with logged_in(desk.server, role) as client:
            own = fined(client)
            rulings, event = client.get("/rulings").text, client.get("/rulings/new").text
            offered[role] = (
                [kind for kind in ("award", "substitute", "withdrawn", "deadline") if f"kind={kind}&amp;" in event],
                "kind=appeal_decided" in client.get("/infractions").text,
                "kind=appeal_decided" in client.get(f"/rulings/new?appeal={by_head}").text,
                [f"undo={one}&amp;" in rulings for one in (by_head, own)],
                f"appeal={own}&amp;kind=appeal&amp;" in rulings,
            )
    assert offered == {
        "head_arbiter": (["award", "substitute", "withdrawn", "deadline"], True, True, [True, True], True),
        "table_arbiter": ([], False, False, [False, True], True),
    }
