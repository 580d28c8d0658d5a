"""Access rights: every route requires one, and forms are accepted only from the user's own session."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from starlette.routing import Mount, Route

from broker.mqtt.certificates import Certificates
from broker.people import ROLES, Actor, Authentication
from broker.people.login import PAIR_LIMIT
from broker.scorer import DashboardView, EventState, Snapshot
from broker.scorer.live_event import WireLog
from broker.web.app import create_app
from broker.web.embargo import PublicViews
from broker.web.errors import CertificateRefused, FormMalformed
from broker.web.forms import FORM_MEDIA_TYPE, MOST_FIELDS, parse_form
from broker.web.server import Certificate, DeskServer
from broker.web.services import Services
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.team_event import team_event
from tests.broker.web import sample
from tests.event_loop import run
from tests.patience import PATIENCE_S

OPEN: Final = {"/login", "/logout", "/welcome", "/health", "/receipt", "/receipt/{code}", "/api/v1/openapi.json"}
"""Routes that need no login."""

ARBITERS: Final = {"head_arbiter", "table_arbiter"}
PRINTERS: Final = {*ARBITERS, "organiser"}

ALLOWED: Final[dict[str, set[str]]] = {
    "/": {*ROLES},
    "/events": {*ROLES},
    "/view.json": {*ROLES},
    "/standings.csv": {*ROLES},
    "/team-standings.csv": {*ROLES},
    "/standings": {*ROLES},
    "/standings.json": {*ROLES},
    "/deals": {*ROLES},
    "/deal/{deal:int}": {*ROLES},
    "/deal/{deal:int}.json": {*ROLES},
    "/player/{player}": {*ROLES},
    "/player/{player}.json": {*ROLES},
    "/team/{team:int}": {*ROLES},
    "/team/{team:int}.json": {*ROLES},
    "/live/team/{team:int}": {*ROLES},
    "/carriers": {*ROLES},
    "/live/carriers": {*ROLES},
    "/live/standings": {*ROLES},
    "/ceremony": {*ROLES},
    "/luck": {*ROLES},
    "/live/deals": {*ROLES},
    "/live/deal/{deal:int}": {*ROLES},
    "/live/player/{player}": {*ROLES},
    "/display": {*ROLES},
    "/seating": {*ROLES},
    "/live/seating": {*ROLES},
    "/seating/names.pdf": PRINTERS,
    "/seating/tables.pdf": PRINTERS,
    "/seating/cards.pdf": PRINTERS,
    "/grid": ARBITERS,
    "/live/grid": ARBITERS,
    "/wire": ARBITERS,
    "/live/wire": ARBITERS,
    **{
        f"/api/v1{path}": {*ROLES}
        for path in ("/event", "/tables", "/plays", "/standings", "/teams", "/teams/{team:int}")
    },
    **{
        f"/api/v1{path}": {*ROLES}
        for path in ("/travellers", "/travellers/{deal:int}", "/players", "/players/{player}")
    },
    "/api/v1/public": {*ROLES},
    "/api/v1/rounds": ARBITERS,
    "/people": {"head_arbiter"},
    "/audit.csv": {"head_arbiter"},
}


@pytest.fixture(scope="module")
def auth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authentication]:
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        opened = Authentication(tmp_path_factory.mktemp("people"))
        for role in ROLES:
            opened.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def guarded(auth: Authentication) -> Iterator[DeskServer]:
    with DeskServer(sample.feed(), port=0, auth=auth, services=Services(nothing_yet, WireLog())) as server:
        yield server


def nothing_yet() -> Snapshot:
    return EventState(team_event()).snapshot()


def at(path: str) -> str:
    return path.replace("{deal:int}", "1").replace("{player}", "p01").replace("{team:int}", "1")


def browser(desk: DeskServer, agent: str = "Firefox") -> httpx.Client:
    origin = {"Origin": desk.url.rstrip("/"), "User-Agent": agent, "Accept": "text/html"}
    return httpx.Client(base_url=desk.url, headers=origin, timeout=PATIENCE_S)


@contextmanager
def logged_in(desk: DeskServer, role: str) -> Iterator[httpx.Client]:
    with browser(desk) as client:
        answer = client.post("/login", data={"name": role, "password": PASSWORD})
        assert answer.status_code == 303
        yield client


def token_of(client: httpx.Client, path: str = "/people") -> str:
    return client.get(path).text.partition('name="form" value="')[2].partition('"')[0]


@pytest.mark.parametrize(
    ("scheme", "address", "plain", "said"),
    [
        ("https", "192.0.2.7", False, False),
        ("http", "127.0.0.1", False, False),  # from the machine itself: nothing crosses a network
        ("http", "192.0.2.7", False, True),
        ("https", "192.0.2.7", True, True),  # the desk has a certificate; tables and broker do not
        ("http", "127.0.0.1", True, True),
    ],
)
@pytest.mark.parametrize("path", ["/login", "/welcome"])
def test_the_login_page_warns_when_traffic_is_not_encrypted(
    auth: Authentication, path: str, scheme: str, address: str, *, plain: bool, said: bool
) -> None:
    app = create_app(sample.feed(), auth=auth, services=Services(nothing_yet, WireLog(), plain=plain))

    async def shown() -> str:
        transport = httpx.ASGITransport(app, client=(address, 50_000))
        async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://127.0.0.1") as client:
            return (await client.get(path)).text

    assert ("NOT ENCRYPTED" in run(shown())) == said


def paths(auth: Authentication) -> set[str]:
    app = create_app(sample.feed(), auth=auth, services=Services(nothing_yet, WireLog()))
    return {one.path for one in app.routes if isinstance(one, Route)}


def test_every_route_is_either_open_on_purpose_or_in_the_table_of_rights(auth: Authentication) -> None:
    assert paths(auth) == OPEN | set(ALLOWED)
    mounts = [one.path for one in create_app(sample.feed(), auth=auth).routes if isinstance(one, Mount)]
    assert mounts == ["/static"]


def test_no_guarded_route_answers_without_a_login(guarded: DeskServer) -> None:
    with browser(guarded) as client:
        pages = {path: client.get(at(path)) for path in ALLOWED if not path.startswith("/api/")}
        programs = {path: client.get(at(path), headers={"Accept": "application/json"}) for path in ALLOWED}
        # A program gets an error code and not the login page, whatever it accepts.
        programs |= {f"{path} as a page": client.get(at(path)) for path in ALLOWED if path.startswith("/api/")}
    seen = [
        path
        for path, page in pages.items()
        if (page.status_code, page.headers.get("location", "").partition("?")[0]) != (303, "/login")
    ]
    seen += [path for path, told in programs.items() if told.status_code != 401]
    assert seen == []
    assert {told.json()["error"]["code"] for told in programs.values()} == {"login_needed"}


def test_the_login_page_keeps_the_requested_language(guarded: DeskServer) -> None:
    with browser(guarded) as client:
        sent_on = [client.get(f"/?lang={wish}").headers["location"] for wish in ("fr", "x" * 99, "")]
        assert sent_on == ["/login?lang=fr", f"/login?lang={'x' * 16}", "/login"]
        inside = client.post(sent_on[0], data={"name": "display", "password": PASSWORD})
    assert inside.headers["location"] == "/?lang=fr"


def test_a_login_continues_to_the_requested_page(guarded: DeskServer) -> None:
    """Even after a wrong password; the confirmation of an earlier action (`done`) is dropped."""
    right = {"name": "head_arbiter", "password": PASSWORD}
    with browser(guarded) as client:
        login = client.get("/people?table=2&lang=fr&name=%C3%A9&done=ruled").headers["location"]
        assert login == "/login?" + urlencode({"lang": "fr", "page": "/people?table=2&name=%C3%A9"})
        page = page_of(client.get(login))
        wrong = client.post("/login?lang=fr", data={**right, "page": page, "password": "wrong"})
        inside = client.post("/login?lang=fr", data={**right, "page": page_of(wrong)})
    assert inside.headers["location"] == "/people?table=2&name=%C3%A9&lang=fr"


def page_of(login: httpx.Response) -> str:
    """Return the page to which a login page continues."""
    (found,) = re.findall(r'name="page" value="([^"]+)"', login.text)
    return unescape(found)


@pytest.mark.parametrize(
    "page", ["//evil.example", "/\\evil.example", "https://evil.example/", "evil", "/\t/evil", "/" + "x" * 100, ""]
)
def test_a_login_never_redirects_to_another_site(guarded: DeskServer, page: str) -> None:
    with browser(guarded) as client:
        assert 'name="page"' not in client.get("/login", params={"page": page}).text
        inside = client.post("/login", data={"name": "head_arbiter", "password": PASSWORD, "page": page})
    assert inside.headers["location"] == "/?lang=en"


@pytest.mark.parametrize("role", ROLES)
def test_each_role_can_open_exactly_its_own_routes(guarded: DeskServer, role: str) -> None:
    with logged_in(guarded, role) as client:
        answers = {path: client.head(at(path)).status_code for path in ALLOWED}
    assert answers == {path: 200 if role in roles else 403 for path, roles in ALLOWED.items()}


@pytest.mark.parametrize("role", ROLES)
def test_only_arbiters_see_provisional_plays_and_alerts(guarded: DeskServer, role: str) -> None:
    with logged_in(guarded, role) as client:
        told = msgspec.json.decode(client.get("/view.json").content, type=DashboardView)
        page = client.get("/").text
    provisional = [play for play in told.plays if play.provisional]
    assert bool(provisional) == bool(told.alerts) == ("for-arbiter" in page) == role.endswith("arbiter")


def test_the_public_view_does_not_show_when_a_table_called_or_began() -> None:
    told = replace(sample.table(1), paused=True, calling_since=1, playing_since=2, pausing_since=3, played_ms=4)
    (shown,) = PublicViews().of(replace(sample.view(), tables=(told,))).tables
    times = shown.calling_since, shown.playing_since, shown.pausing_since, shown.played_ms
    assert (shown.paused, times) == (True, (None,) * 4)


def test_cookies_are_http_only_and_same_site(guarded: DeskServer) -> None:
    with browser(guarded) as client:
        answer = client.post("/login", data={"name": "display", "password": PASSWORD})
    session, mark = (one.partition("; ")[2] for one in answer.headers.get_list("set-cookie"))
    assert session == "HttpOnly; Path=/; SameSite=strict"
    assert mark == "HttpOnly; Max-Age=31536000; Path=/login; SameSite=strict"


def test_a_login_replaces_a_planted_session_cookie(guarded: DeskServer) -> None:
    with browser(guarded) as client:
        client.cookies.set("homologue", "planted")
        answer = client.post("/login", data={"name": "display", "password": PASSWORD})
        assert "planted" not in answer.headers["set-cookie"]


def test_a_stolen_cookie_ends_the_session_and_is_logged(guarded: DeskServer, auth: Authentication) -> None:
    with logged_in(guarded, "table_arbiter") as owner, browser(guarded, agent="curl") as thief:
        thief.cookies = owner.cookies
        assert thief.get("/").status_code == 303
        assert owner.get("/").status_code == 303
    assert [entry.action for entry in auth.audit.newest(1)] == ["session_moved"]


def test_a_session_cookie_is_useless_after_logout(guarded: DeskServer) -> None:
    with logged_in(guarded, "head_arbiter") as client:
        kept = client.cookies.get("homologue")
        assert client.post("/logout", data={"form": token_of(client)}).status_code == 303
        assert client.get("/view.json", headers={"Cookie": f"homologue={kept}"}).status_code == 303


FOREIGN: Final = (
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
)


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("path", ["/login", "/logout", "/people"])
def test_a_form_sent_by_another_site_does_nothing(
    guarded: DeskServer, auth: Authentication, headers: dict[str, str], path: str
) -> None:
    with logged_in(guarded, "head_arbiter") as client:
        token = token_of(client)
        before = list(auth.audit.entries())
        data = {"form": token, "action": "disable", "name": "display", "password": PASSWORD}
        answer = client.post(path, data=data, headers=headers)
        assert answer.status_code == 403
        assert "form_foreign" in answer.text
        assert list(auth.audit.entries()) == before
        assert client.get("/").status_code == 200


@pytest.mark.parametrize("token", ["", "x", "0" * 64])
def test_a_form_without_the_sessions_token_does_nothing(guarded: DeskServer, auth: Authentication, token: str) -> None:
    with logged_in(guarded, "head_arbiter") as client:
        answer = client.post("/people", data={"form": token, "action": "disable", "name": "display"})
    assert (answer.status_code, auth.accounts.get("display").disabled) == (403, False)


def test_a_form_with_another_sessions_token_does_nothing(guarded: DeskServer, auth: Authentication) -> None:
    with logged_in(guarded, "head_arbiter") as one, logged_in(guarded, "head_arbiter") as other:
        answer = one.post("/people", data={"form": token_of(other), "action": "disable", "name": "display"})
    assert (answer.status_code, auth.accounts.get("display").disabled) == (403, False)


def test_a_new_account_has_no_default_role(guarded: DeskServer, auth: Authentication) -> None:
    before = auth.accounts.all()
    with logged_in(guarded, "head_arbiter") as client:
        roles = re.search(r'<select name="role"( required)?>(.*?)</select>', client.get("/people").text)
        added = {"form": token_of(client), "action": "add", "name": "nadia", "full": "Nadia", "password": PASSWORD}
        answers = [client.post("/people", data=added | role) for role in ({}, {"role": ""})]
    assert roles is not None
    assert (roles[1], roles[2].index('<option value="">'), "selected" in roles[2]) == (" required", 0, False)
    assert [(answer.status_code, "bad_account" in answer.text) for answer in answers] == [(400, True)] * 2
    assert auth.accounts.all() == before


def test_a_head_arbiter_can_see_hurry_and_remove_webhooks(guarded: DeskServer, auth: Authentication) -> None:
    def asked(client: httpx.Client, action: str) -> str:
        return client.post("/people", data={"form": token_of(client), "action": action, "name": "site"}).text

    with logged_in(guarded, "head_arbiter") as client:
        assert 'id="webhooks"' not in client.get("/people").text
        auth.webhooks.add("site", "http://127.0.0.1:1/hook", Actor("test"))
        assert "Nothing to send yet" in client.get("/people").text
        auth.webhooks.put_down(b"{}")
        shown = client.get("/people").text
        assert ("Not notified yet" in shown, "Try now" in shown) == (True, True)
        auth.webhooks.tried(auth.webhooks.all()[0], "answered 500")
        assert "Last answer: answered 500" in client.get("/people").text
        asked(client, "hurry_webhook")
        assert [one.name for one in auth.webhooks.due()] == ["site"]
        assert 'id="webhooks"' not in asked(client, "remove_webhook")
    done = [(one.who, one.action, one.about) for one in auth.audit.newest(2)]
    assert done == [("head_arbiter", f"webhook_{what}", "site") for what in ("removed", "hurried")]


def test_too_many_wrong_passwords_delay_the_login(guarded: DeskServer, auth: Authentication) -> None:
    auth.accounts.add("victim", "Victim", "display", PASSWORD, Actor("test"))
    with browser(guarded) as client:
        codes = [client.post("/login", data={"name": "victim", "password": "x"}) for _ in range(PAIR_LIMIT + 1)]
    assert [answer.status_code for answer in codes] == [401] * PAIR_LIMIT + [429]
    assert codes[-1].headers["retry-after"].isdigit()


def test_wrong_passwords_from_elsewhere_do_not_lock_out_a_known_browser(
    guarded: DeskServer, auth: Authentication
) -> None:
    auth.accounts.add("kept-out", "Kept out", "display", PASSWORD, Actor("test"))
    with browser(guarded) as client:
        right, wrong = {"name": "kept-out", "password": PASSWORD}, {"name": "kept-out", "password": "wrong"}
        client.post("/login", data=right)
        with browser(guarded) as elsewhere:  # another browser at the same address
            for _ in range(PAIR_LIMIT + 1):
                elsewhere.post("/login", data=wrong)
            assert elsewhere.post("/login", data=right).status_code == 429
        assert client.post("/login", data=right).status_code == 303


def test_a_stream_ends_with_its_session(auth: Authentication) -> None:
    auth.accounts.add("wall", "Wall", "display", PASSWORD, Actor("test"))
    feed = sample.feed()
    with (
        DeskServer(feed, port=0, auth=auth) as desk,
        logged_in(desk, "wall") as client,
        client.stream("GET", "/events") as stream,
    ):
        lines = stream.iter_lines()
        assert [next(lines), next(lines)] == ["event: view", "id: 0"]  # the public view has its own version numbers
        auth.accounts.disable("wall", Actor("test"))
        feed.publish(sample.newer(feed.current, title="Not for the wall"))
        assert [line for line in lines if line][1:] == ["event: bye", "data:"]


def test_a_loopback_desk_without_accounts_is_readable_until_one_exists(tmp_path: Path) -> None:
    empty = Authentication(tmp_path)
    with DeskServer(sample.feed(), port=0, auth=empty) as desk, browser(desk) as client:
        assert [client.get(path).status_code for path in ("/", "/view.json", "/people")] == [200, 200, 303]
        empty.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, Actor("test"))
        assert [client.get(path).status_code for path in ("/", "/view.json")] == [303, 303]
    empty.close()


@pytest.mark.parametrize(("host", "hosts"), [("0.0.0.0", ()), ("127.0.0.1", ("desk.lan",))])  # noqa: S104 - that is what is tested
def test_a_reachable_desk_without_accounts_shows_nothing(tmp_path: Path, host: str, hosts: tuple[str, ...]) -> None:
    empty = Authentication(tmp_path)
    with DeskServer(sample.feed(), host, port=0, hosts=hosts, auth=empty) as desk, browser(desk) as client:
        assert [client.get(path).status_code for path in ("/", "/view.json", "/health")] == [303, 303, 200]
    empty.close()


def test_the_first_link_creates_and_logs_in_a_head_arbiter_once(tmp_path: Path) -> None:
    empty = Authentication(tmp_path)
    with DeskServer(sample.feed(), port=0, auth=empty) as desk, browser(desk) as client:
        link = str(empty.first_link(desk.url))
        assert 'name="token"' in client.get(link).text
        form = {"token": link.partition("token=")[2], "name": "anne", "full": "Anne Lefèvre", "password": PASSWORD}
        assert "weak_password" in client.post("/welcome", data=form | {"password": "short"}).text
        assert client.post("/welcome", data=form).status_code == 303
        assert "Anne Lefèvre" in client.get("/people").text
        spent = client.post("/welcome", data=form | {"name": "bert"}).text
        assert ("link_spent" in spent, 'class="button" href="/login?lang=en"' in spent) == (True, True)
    empty.close()


def test_the_cookie_is_secure_under_tls(auth: Authentication, tmp_path: Path) -> None:
    certificates = Certificates.ensure(tmp_path / "event")
    certificate = Certificate(certificates.server, certificates.server_key, certificates.ca)
    with DeskServer(sample.feed(), port=0, auth=auth, tls=certificate) as desk:
        origin = {"Origin": desk.url.rstrip("/")}
        trust = ssl.create_default_context(cadata=certificates.authority)
        data = {"name": "display", "password": PASSWORD}
        answer = httpx.post(f"{desk.url}login", data=data, headers=origin, verify=trust)
    cookie = answer.headers["set-cookie"]
    assert (desk.url[:8], cookie.partition("=")[0], "; Secure" in cookie) == ("https://", "__Host-homologue", True)


def test_a_renewed_certificate_is_served_without_a_restart(auth: Authentication, tmp_path: Path) -> None:
    certificates = Certificates.ensure(tmp_path / "event")
    certificate = Certificate(certificates.server, certificates.server_key, certificates.ca)
    with DeskServer(sample.feed(), port=0, auth=auth, tls=certificate) as desk:
        where = ("127.0.0.1", httpx.URL(desk.url).port or 0)
        before = ssl.get_server_certificate(where)
        certificates.renew()
        desk.read_certificate()
        assert ssl.get_server_certificate(where) != before


def test_an_unusable_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "desk.crt").write_text("no certificate")
    with pytest.raises(CertificateRefused):
        DeskServer(sample.feed(), port=0, tls=Certificate(tmp_path / "desk.crt", tmp_path / "desk.key"))


# ---- hostile forms --------------------------------------------------------------------------

TEXT: Final = st.text(st.characters(exclude_categories=()), max_size=40)
HOSTILE: Final = st.one_of(
    TEXT, st.sampled_from(["<script>alert(1)</script>", "'; DROP TABLE accounts;--", "a\0b", "{{7*7}}"])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    action=st.sampled_from(["add", "disable", "enable", "end_sessions", "password", "x", ""]),
    fields=st.dictionaries(st.sampled_from(["name", "full", "role", "password"]), HOSTILE),
)
def test_the_people_form_handles_any_input_and_never_echoes_html(
    auth: Authentication, session_client: tuple[httpx.Client, str], action: str, fields: dict[str, str]
) -> None:
    client, token = session_client
    body = urlencode({"form": token, "action": action, **fields}, errors="surrogatepass")
    answer = client.post("/people", content=body.encode(), headers={"Content-Type": FORM_MEDIA_TYPE})
    assert answer.status_code in {200, 400, 403}
    assert "<script>alert" not in answer.text
    assert auth.accounts.get("head_arbiter").disabled is False


@pytest.fixture(scope="module")
def session_client(guarded: DeskServer) -> Iterator[tuple[httpx.Client, str]]:
    with logged_in(guarded, "head_arbiter") as client:
        yield client, token_of(client)


@given(st.binary(max_size=300))
def test_any_bytes_parse_as_a_form_or_are_refused(body: bytes) -> None:
    try:
        form = parse_form(body, FORM_MEDIA_TYPE)
    except FormMalformed:
        return
    assert all(isinstance(value, str) for value in form.values())


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"a=1&a=2", FORM_MEDIA_TYPE, "form_malformed"),
        (b"a=%ff", FORM_MEDIA_TYPE, "form_malformed"),
        (b"a=%00", FORM_MEDIA_TYPE, "form_malformed"),
        (b"&".join(b"f%d=1" % at for at in range(MOST_FIELDS + 1)), FORM_MEDIA_TYPE, "form_malformed"),
        (b"{}", "application/json", "form_malformed"),
        (b"name=" + b"x" * 20_000, FORM_MEDIA_TYPE, "form_too_large"),
    ],
)
def test_an_invalid_form_is_refused_with_its_code(guarded: DeskServer, body: bytes, kind: str, code: str) -> None:
    with browser(guarded) as client:
        assert code in client.post("/login", content=body, headers={"Content-Type": kind}).text
