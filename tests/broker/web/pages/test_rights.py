"""The pages, files, streams and forms of a complete desk that each role may use."""

from collections.abc import Collection, Iterator
from typing import Final

import pytest
from starlette.routing import Route

from broker.people import ROLES
from broker.web.app import create_app
from tests.broker.web.pages.desks import Whole, cup, quickly, whole
from tests.broker.web.test_auth import ALLOWED, ARBITERS, OPEN, browser, logged_in, token_of

ORGANISERS: Final = {"head_arbiter", "organiser"}

BESIDES: Final[dict[str, Collection[str]]] = {
    "/attended": ARBITERS,
    "/checkin": {*ARBITERS, *ORGANISERS},
    "/devices": ARBITERS,
    "/devices/accept": ARBITERS,
    "/devices/revoke": ARBITERS,
    "/devices/standby": ARBITERS,
    "/devices/upgrade": ARBITERS,
    "/exports": {*ROLES},
    "/exports/{name}": {*ROLES},
    "/deal/{deal:int}/replay": {*ROLES},
    "/metrics": {"head_arbiter"},
    "/orders": ARBITERS,
    "/paper": ARBITERS,
    "/paper/sheets.pdf": {*ARBITERS, *ORGANISERS},
    "/pairing": ORGANISERS,
    "/pairing/pin": ORGANISERS,
    "/players": ORGANISERS,
    "/riichi": ARBITERS,
    "/live/riichi": ARBITERS,
    "/riichi/{table:int}-{round:int}.pdf": ARBITERS,
    "/infractions": ARBITERS,
    "/what-happened": ARBITERS,
    "/infractions.pdf": ARBITERS,
    "/ruling/{ruling}.pdf": ARBITERS,
    "/rulings": ARBITERS,
    "/rulings.csv": ARBITERS,
    "/rulings.json": ARBITERS,
    "/rulings/new": ARBITERS,
    "/setup": ORGANISERS,
    "/setup/carriers.pdf": ORGANISERS,
    "/setup/commitment.json": ORGANISERS,
    "/setup/draws.json": ORGANISERS,
    "/setup/players.csv": ORGANISERS,
    "/setup/movement.csv": ORGANISERS,
    "/what-if": ARBITERS,
    "/final": ARBITERS,
}
"""Routes in addition to those of a desk that has only a view (`ALLOWED`)."""

SIGNED: Final = {"/upgrade/manifest", "/upgrade/part/{sha256}"}
DEVICES: Final = {"/pairing/take", *SIGNED}
"""Routes for devices, which authenticate with a proof or a signature."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with quickly(), whole(tmp_path_factory.mktemp("rights") / "cup", cup()) as made:
        yield made


def routes(desk: Whole) -> Iterator[tuple[str, str]]:
    """Yield the method and path of all routes that require a right."""
    app = create_app(desk.scorer.feed, auth=desk.auth, services=desk.services)
    for one in app.routes:
        if isinstance(one, Route) and one.path not in OPEN | DEVICES:
            yield ("POST" if "POST" in (one.methods or ()) else "HEAD"), one.path


def at(path: str) -> str:
    filled = {"{deal:int}": "1", "{player}": "p01", "{team:int}": "1", "{name}": "results.csv"}
    for field, value in {**filled, "{table:int}": "7", "{round:int}": "1"}.items():
        path = path.replace(field, value)
    return path


def test_every_route_of_a_complete_desk_is_in_the_table_of_rights(desk: Whole) -> None:
    assert {path for _, path in routes(desk)} == ALLOWED.keys() | BESIDES.keys()


@pytest.mark.parametrize("role", ROLES)
def test_each_role_can_use_exactly_its_own_routes(desk: Whole, role: str) -> None:
    rights: dict[str, Collection[str]] = {**ALLOWED, **BESIDES}
    wrong = []
    with logged_in(desk.server, role) as client:
        for method, path in routes(desk):
            answer = client.request(method, at(path), headers={"Accept": "application/json"})
            # A form without the session's token is also refused, with another code, to those who may send it.
            refused = "not_allowed" in answer.text if method == "POST" else answer.status_code == 403
            if refused is (role in rights[path]):
                wrong.append((method, path, answer.status_code))
    assert wrong == []


def test_no_route_can_be_used_without_a_login(desk: Whole) -> None:
    with browser(desk.server) as client:
        answers = {
            client.request(*route, headers={"Accept": "text/plain"}).status_code
            for route in ((method, at(path)) for method, path in routes(desk))
        }
    assert answers == {401}


def test_answers_to_forms_are_redirects_or_cacheable_pages(desk: Whole) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        token = token_of(client, "/rulings/new?kind=deadline")
        posted = [path for method, path in routes(desk) if method == "POST"]
        answers = {}
        for path in posted:
            answer = client.post(path, data={"form": token}, headers={"Accept": "text/html"}, follow_redirects=False)
            if answer.status_code != 303:
                answers[path] = (answer.headers["content-type"], answer.headers["cache-control"])
    assert set(answers.values()) == {("text/html; charset=utf-8", "private, no-cache")}
    assert "/rulings/new" in posted


def test_a_successful_form_redirects(desk: Whole) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        form = {"form": token_of(client, "/people"), "action": "disable", "name": "display"}
        answer = client.post("/people", data=form, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/people?done=saved&lang=en")
        client.post("/people", data={**form, "action": "enable"})
        token = client.post("/people", data={**form, "action": "add_token", "name": "scoreboard", "role": "public"})
        assert (token.status_code, token.headers["cache-control"]) == (200, "no-store")
        refused = client.post("/people", data={**form, "action": "add_token", "name": "Score Board", "role": "monitor"})
        assert ('value="Score Board"' in refused.text, '"monitor" selected' in refused.text) == (True, True)
