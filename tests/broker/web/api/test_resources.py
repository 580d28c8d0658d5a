"""The read interface: what its document says is what it answers, and a token opens what its role may read."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from broker.people import Actor, Authentication
from broker.people.accounts import EMBARGO_READ
from broker.scorer import EventState, Snapshot
from broker.web.api import resources
from broker.web.api.resources import MOST_PER_PAGE, PREFIX, RESOURCES, openapi_document, openapi_text
from broker.web.app import CONTENT_SECURITY_POLICY
from broker.web.auth import MOST_MISSES
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.team_event import said, team_event
from tests.broker.web import sample
from tests.patience import PATIENCE_S

DOCUMENT: Final = openapi_document()
FILE: Final = Path(__file__).parents[4] / "docs" / "openapi.json"
BY: Final = Actor("test")
ROLES: Final = ("public", "arbiter", "monitor")


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A team event in which all have played deal 2, and some the others."""
    folder = tmp_path_factory.mktemp("hall")
    with open_journal(folder) as journal:
        made = make_hall(folder, journal, team_event())
        plays = [(play.table, play.round) for play in team_event().plan.plays][:13]
        made.hear(*(one for place in plays for one in said(*place, 18)))
        yield made


@pytest.fixture(scope="module")
def auth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authentication]:
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        opened = Authentication(tmp_path_factory.mktemp("people"))
        opened.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tokens(auth: Authentication) -> dict[str, str]:
    return {role: auth.tokens.add(role, role, BY) for role in ROLES}


@pytest.fixture(scope="module")
def desk(hall: Hall, auth: Authentication) -> Iterator[DeskServer]:
    services = Services(lambda: hall.scorer.snapshot, hall.scorer.wire)
    with DeskServer(hall.scorer.feed, port=0, auth=auth, services=services) as server:
        yield server


def get(desk: DeskServer, path: str, token: str = "", **headers: str) -> httpx.Response:
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.get(f"{desk.url.rstrip('/')}{path}", headers={**bearer, **headers}, timeout=PATIENCE_S)


def filled(path: str) -> str:
    return PREFIX + path.replace("{deal:int}", "1").replace("{player}", "p01").replace("{team:int}", "1")


def errors_of(answer: httpx.Response, schema: dict[str, Any]) -> list[str]:
    """Return what is wrong with an answer by the document's schema, in which every property has its own name."""
    whole = {**schema, "components": DOCUMENT["components"]}
    return [one.message for one in Draft202012Validator(whole).iter_errors(answer.json())]


def refusal_of(answer: httpx.Response, path: str = "/event") -> tuple[int, str]:
    """Return status and code of an answer that is an error, as the document describes it."""
    response = DOCUMENT["paths"][path]["get"]["responses"][str(answer.status_code)]
    assert errors_of(answer, response["content"]["application/json"]["schema"]) == []
    return answer.status_code, answer.json()["error"]["code"]


def test_the_document_is_what_the_code_says_now() -> None:
    assert FILE.read_text(encoding="utf-8") == openapi_text(), "docs/openapi.json is stale: run `make docs`"


def test_the_document_is_printed_as_it_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(resources.__file__, run_name="__main__")
    assert capsys.readouterr().out == openapi_text()


def test_every_resource_answers_as_its_document_says(desk: DeskServer, tokens: dict[str, str]) -> None:
    found = {}
    for one in RESOURCES:
        responses = DOCUMENT["paths"][one.path.replace(":int", "")]["get"]["responses"]
        for role in ROLES:
            answer = get(desk, filled(one.path), tokens[role])
            schema = responses[str(answer.status_code)]["content"]["application/json"]["schema"]
            found[one.path, role] = answer.status_code, errors_of(answer, schema)
    assert found == {
        (one.path, role): (200 if role == "arbiter" or (role, one.right) == ("public", "see_public") else 403, [])
        for one in RESOURCES
        for role in ROLES
    }


def test_what_a_schema_does_not_allow_is_noticed(desk: DeskServer, tokens: dict[str, str]) -> None:
    answer = get(desk, f"{PREFIX}/event", tokens["public"])
    assert errors_of(answer, {"$ref": "#/components/schemas/DealSheet"}) != []


def test_a_public_token_gets_nothing_of_a_deal_under_embargo_and_an_arbiter_s_does(
    desk: DeskServer, tokens: dict[str, str]
) -> None:
    plays = {role: get(desk, f"{PREFIX}/plays", tokens[role]).json()["total"] for role in ("public", "arbiter")}
    groups = {role: get(desk, f"{PREFIX}/travellers/1", tokens[role]).json()["groups"] for role in plays}
    assert (plays, groups["public"]) == ({"public": 4, "arbiter": 13}, [])
    assert groups["arbiter"] != []


def test_the_public_answer_is_the_same_whoever_asks(desk: DeskServer, tokens: dict[str, str]) -> None:
    assert len({get(desk, f"{PREFIX}/public", tokens[role]).text for role in ("public", "arbiter")}) == 1


def test_who_read_what_is_under_embargo_by_a_token_is_in_the_audit_log(
    desk: DeskServer, auth: Authentication, tokens: dict[str, str]
) -> None:
    get(desk, f"{PREFIX}/travellers/1", tokens["arbiter"])
    assert "(token arbiter)" in {entry.who for entry in auth.audit.newest(9, EMBARGO_READ)}


def test_a_token_opens_no_page_and_does_nothing(desk: DeskServer, tokens: dict[str, str]) -> None:
    codes = [get(desk, path, tokens["arbiter"]).status_code for path in ("/", "/view.json", "/grid", "/people")]
    assert codes == [401] * 4
    sent = httpx.post(f"{desk.url}api/v1/event", headers={"Authorization": f"Bearer {tokens['arbiter']}"})
    assert refusal_of(sent) == (405, "method_refused")
    assert set(sent.headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_a_foreign_name_is_refused_as_the_document_says(desk: DeskServer, tokens: dict[str, str]) -> None:
    answer = get(desk, f"{PREFIX}/event", tokens["public"], host="evil.example")
    assert refusal_of(answer) == (400, "host_unknown")


def test_a_fault_of_ours_is_an_error_with_a_code_too(auth: Authentication, tokens: dict[str, str]) -> None:
    there = [EventState(team_event()).snapshot()]
    with DeskServer(sample.feed(), port=0, auth=auth, services=Services(lambda: there[0])) as desk:
        there.clear()
        answer = get(desk, f"{PREFIX}/event", tokens["public"])
    assert refusal_of(answer) == (500, "desk_failed")
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


def test_a_revoked_token_opens_nothing_from_the_next_request_on(desk: DeskServer, auth: Authentication) -> None:
    token = auth.tokens.add("gone", "public", BY)
    before = get(desk, f"{PREFIX}/event", token).status_code
    auth.tokens.revoke("gone", BY)
    after = get(desk, f"{PREFIX}/event", token)
    assert (before, after.status_code, after.json()["error"]["code"]) == (200, 401, "token_unknown")


def test_an_answer_that_has_not_changed_is_not_sent_again(desk: DeskServer, tokens: dict[str, str]) -> None:
    first = get(desk, f"{PREFIX}/standings", tokens["public"])
    again = [
        get(desk, f"{PREFIX}/standings", tokens["public"], **{"If-None-Match": tag})
        for tag in (first.headers["etag"], f'"x", W/{first.headers["etag"]}', '"x"')
    ]
    assert [one.status_code for one in again] == [304, 304, 200]
    assert first.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize(
    ("asked", "page", "items"),
    [
        ("", 1, 16),
        ("?per_page=5", 1, 5),
        ("?per_page=5&page=4", 4, 1),
        ("?per_page=5&page=99", 4, 1),
        ("?per_page=0", 1, 1),
        ("?per_page=-1&page=x", 1, 16),
        (f"?per_page={MOST_PER_PAGE + 1}", 1, 16),
    ],
)
def test_lists_come_in_pages_and_whatever_is_asked_for_there_is_one(
    desk: DeskServer, tokens: dict[str, str], asked: str, page: int, items: int
) -> None:
    answer = get(desk, f"{PREFIX}/players{asked}", tokens["public"]).json()
    assert (answer["page"], len(answer["items"]), answer["total"]) == (page, items, 16)


def test_all_pages_together_are_the_whole_list(desk: DeskServer, tokens: dict[str, str]) -> None:
    pages = [get(desk, f"{PREFIX}/rounds?per_page=3&page={at}", tokens["arbiter"]).json() for at in range(1, 7)]
    got = [(one["round"], one["table"]) for page in pages for one in page["items"]]
    assert (got, len(got)) == (sorted(set(got)), pages[0]["total"])


@pytest.mark.parametrize("path", ["/travellers/99", "/players/nobody", "/teams/99"])
def test_what_there_is_not_is_a_plain_no(desk: DeskServer, tokens: dict[str, str], path: str) -> None:
    answer = get(desk, PREFIX + path, tokens["public"], Accept="text/html")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "sheet_unknown")


def test_who_guesses_tokens_has_to_wait(auth: Authentication) -> None:
    def nothing_yet() -> Snapshot:
        return EventState(team_event()).snapshot()

    with DeskServer(sample.feed(), port=0, auth=auth, services=Services(nothing_yet)) as desk:
        answers = [get(desk, f"{PREFIX}/event", "wrong") for _ in range(MOST_MISSES + 1)]
    assert [one.status_code for one in answers] == [401] * MOST_MISSES + [429]
    assert int(answers[-1].headers["retry-after"]) > 0


def test_the_addresses_that_sheets_had_before_say_the_same(desk: DeskServer, tokens: dict[str, str]) -> None:
    for old, new in (("/deal/1.json", "/travellers/1"), ("/player/p01.json", "/players/p01")):
        said = get(desk, PREFIX + new, tokens["public"])
        assert msgspec.json.decode(get(desk, old, tokens["public"]).content) == said.json()
