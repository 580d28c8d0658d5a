"""The read interface: it answers as its document says, and a token opens only what its role may read."""

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
    """A team event in which all tables have played deal 2, and some the other deals."""
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
    """Return the violations of the document's schema in an answer."""
    whole = {**schema, "components": DOCUMENT["components"]}
    return [one.message for one in Draft202012Validator(whole).iter_errors(answer.json())]


def refusal_of(answer: httpx.Response, path: str = "/event") -> tuple[int, str]:
    """Return the status and code of an error, after checking it against the document."""
    response = DOCUMENT["paths"][path]["get"]["responses"][str(answer.status_code)]
    assert errors_of(answer, response["content"]["application/json"]["schema"]) == []
    return answer.status_code, answer.json()["error"]["code"]


def test_the_stored_document_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == openapi_text(), "docs/openapi.json is stale: run `make docs`"


def test_the_module_prints_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(resources.__file__, run_name="__main__")
    assert capsys.readouterr().out == openapi_text()


def test_every_resource_answers_as_documented(desk: DeskServer, tokens: dict[str, str]) -> None:
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


def test_the_schema_check_notices_a_wrong_answer(desk: DeskServer, tokens: dict[str, str]) -> None:
    answer = get(desk, f"{PREFIX}/event", tokens["public"])
    assert errors_of(answer, {"$ref": "#/components/schemas/DealSheet"}) != []


def test_only_an_arbiters_token_reads_deals_under_embargo(desk: DeskServer, tokens: dict[str, str]) -> None:
    plays = {role: get(desk, f"{PREFIX}/plays", tokens[role]).json()["total"] for role in ("public", "arbiter")}
    groups = {role: get(desk, f"{PREFIX}/travellers/1", tokens[role]).json()["groups"] for role in plays}
    assert (plays, groups["public"]) == ({"public": 4, "arbiter": 13}, [])
    assert groups["arbiter"] != []


def test_the_public_resource_is_the_same_for_everybody(desk: DeskServer, tokens: dict[str, str]) -> None:
    assert len({get(desk, f"{PREFIX}/public", tokens[role]).text for role in ("public", "arbiter")}) == 1


def test_reading_under_embargo_with_a_token_is_noted_in_the_audit_log(
    desk: DeskServer, auth: Authentication, tokens: dict[str, str]
) -> None:
    get(desk, f"{PREFIX}/travellers/1", tokens["arbiter"])
    assert "(token arbiter)" in {entry.who for entry in auth.audit.newest(9, EMBARGO_READ)}


def test_a_token_opens_no_page_and_changes_nothing(desk: DeskServer, tokens: dict[str, str]) -> None:
    codes = [get(desk, path, tokens["arbiter"]).status_code for path in ("/", "/view.json", "/grid", "/people")]
    assert codes == [401] * 4
    sent = httpx.post(f"{desk.url}api/v1/event", headers={"Authorization": f"Bearer {tokens['arbiter']}"})
    assert refusal_of(sent) == (405, "method_refused")
    assert set(sent.headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_an_unknown_host_is_refused_as_documented(desk: DeskServer, tokens: dict[str, str]) -> None:
    answer = get(desk, f"{PREFIX}/event", tokens["public"], host="evil.example")
    assert refusal_of(answer) == (400, "host_unknown")


def test_an_internal_error_has_a_code(auth: Authentication, tokens: dict[str, str]) -> None:
    there = [EventState(team_event()).snapshot()]
    with DeskServer(sample.feed(), port=0, auth=auth, services=Services(lambda: there[0])) as desk:
        there.clear()
        answer = get(desk, f"{PREFIX}/event", tokens["public"])
    assert refusal_of(answer) == (500, "desk_failed")
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


def test_a_revoked_token_is_refused_at_once(desk: DeskServer, auth: Authentication) -> None:
    token = auth.tokens.add("gone", "public", BY)
    before = get(desk, f"{PREFIX}/event", token).status_code
    auth.tokens.revoke("gone", BY)
    after = get(desk, f"{PREFIX}/event", token)
    assert (before, after.status_code, after.json()["error"]["code"]) == (200, 401, "token_unknown")


def test_an_unchanged_answer_is_not_sent_again(desk: DeskServer, tokens: dict[str, str]) -> None:
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
def test_the_nearest_page_of_a_list_is_returned(
    desk: DeskServer, tokens: dict[str, str], asked: str, page: int, items: int
) -> None:
    answer = get(desk, f"{PREFIX}/players{asked}", tokens["public"]).json()
    assert (answer["page"], len(answer["items"]), answer["total"]) == (page, items, 16)


def test_all_pages_together_are_the_whole_list(desk: DeskServer, tokens: dict[str, str]) -> None:
    pages = [get(desk, f"{PREFIX}/rounds?per_page=3&page={at}", tokens["arbiter"]).json() for at in range(1, 7)]
    got = [(one["round"], one["table"]) for page in pages for one in page["items"]]
    assert (got, len(got)) == (sorted(set(got)), pages[0]["total"])


@pytest.mark.parametrize("path", ["/travellers/99", "/players/nobody", "/teams/99"])
def test_an_unknown_item_is_refused_as_json(desk: DeskServer, tokens: dict[str, str], path: str) -> None:
    answer = get(desk, PREFIX + path, tokens["public"], Accept="text/html")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "sheet_unknown")


def test_guessing_tokens_is_delayed(auth: Authentication) -> None:
    def nothing_yet() -> Snapshot:
        return EventState(team_event()).snapshot()

    with DeskServer(sample.feed(), port=0, auth=auth, services=Services(nothing_yet)) as desk:
        answers = [get(desk, f"{PREFIX}/event", "wrong") for _ in range(MOST_MISSES + 1)]
    assert [one.status_code for one in answers] == [401] * MOST_MISSES + [429]
    assert int(answers[-1].headers["retry-after"]) > 0


def test_former_addresses_give_the_same_answers(desk: DeskServer, tokens: dict[str, str]) -> None:
    for old, new in (("/deal/1.json", "/travellers/1"), ("/player/p01.json", "/players/p01")):
        said = get(desk, PREFIX + new, tokens["public"])
        assert msgspec.json.decode(get(desk, old, tokens["public"]).content) == said.json()
