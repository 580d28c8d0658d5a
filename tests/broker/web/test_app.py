"""The routes of the application and the headers of its answers."""

import csv
import io
from collections.abc import Iterator

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from broker.scorer import DashboardView, ViewFeed
from broker.web.app import CONTENT_SECURITY_POLICY
from broker.web.server import DeskServer
from tests.broker.web import sample
from tests.patience import PATIENCE_S

PATHS = ("", "view.json", "standings.csv", "static/desk.js", "static/desk.css", "health", "nowhere")


@pytest.fixture(scope="module")
def still() -> Iterator[DeskServer]:
    """A desk whose view does not change, shared by tests that only read."""
    with DeskServer(sample.feed(), port=0) as server:
        yield server


def get(desk: DeskServer, path: str = "", method: str = "GET", **headers: str) -> httpx.Response:
    return httpx.request(method, desk.url + path, headers=headers, timeout=PATIENCE_S)


def test_the_page_contains_the_current_view(still: DeskServer) -> None:
    assert "7 of 32 plays in" in get(still).text


def test_view_json_returns_the_view(still: DeskServer) -> None:
    told = msgspec.json.decode(get(still, "view.json").content, type=DashboardView)
    assert replace(told, plays=tuple(told.plays), standings=tuple(told.standings)) == sample.view()


def test_health_reports_only_the_broker_connection(still: DeskServer) -> None:
    assert get(still, "health").json() == {"ok": True, "connected": True}


def test_the_standings_are_downloaded_under_a_file_name(still: DeskServer) -> None:
    answer = get(still, "standings.csv")
    assert (answer.headers["content-type"], answer.headers["content-disposition"]) == (
        "text/csv; charset=utf-8",
        'attachment; filename="standings-lille-2026-41.csv"',
    )


def test_the_csv_file_has_one_row_per_player_by_place(still: DeskServer) -> None:
    rows = list(csv.reader(io.StringIO(get(still, "standings.csv").content.decode("utf-8-sig"))))
    assert rows[:3] + rows[-1:] == [
        ["place", "player", "name", "imp", "fines", "plays", "country", "club"],
        ["1", "p02", "欧阳修竹", "17", "0", "2", "", ""],
        ["2", "p11", "司马相如", "5", "0", "2", "", ""],
        ["16", "p06", "Søren Kjær", "-10", "8", "2", "", ""],
    ]


def test_the_csv_file_begins_with_a_byte_order_mark(still: DeskServer) -> None:
    assert get(still, "standings.csv").content.startswith(b"\xef\xbb\xbfplace,")


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_security_headers(still: DeskServer, path: str) -> None:
    headers = get(still, path).headers
    names = ("content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options")
    assert [headers[name] for name in names] == [CONTENT_SECURITY_POLICY, "nosniff", "same-origin", "DENY"]


def test_the_policy_allows_nothing_inline_and_no_frame() -> None:
    assert (
        "unsafe" in CONTENT_SECURITY_POLICY,
        "frame-ancestors 'none'" in CONTENT_SECURITY_POLICY,
        CONTENT_SECURITY_POLICY.split(";")[0],
    ) == (
        False,
        True,
        "default-src 'none'",
    )


@pytest.mark.parametrize(
    ("path", "caching"), [("", "no-store"), ("view.json", "no-store"), ("static/desk.css", "no-cache")]
)
def test_live_content_is_never_cached(still: DeskServer, path: str, caching: str) -> None:
    assert get(still, path).headers["cache-control"] == caching


@pytest.mark.parametrize("path", ["", "events", "view.json", "standings.csv", "health"])
def test_a_request_for_an_unknown_host_is_refused(still: DeskServer, path: str) -> None:
    answer = get(still, path, host="evil.example")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "host_unknown")
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("host", ["evil.example", "[::1", "a b", ":", "", "localhost@evil.example"])
def test_a_host_refusal_is_translated_and_shows_nothing_of_the_event(still: DeskServer, host: str) -> None:
    answer = get(still, host=host, accept="text/html", **{"accept-language": "fr"})
    assert (answer.status_code, "Le bureau ne répond pas à cette adresse." in answer.text) == (400, True)
    assert sample.view().title not in answer.text


def test_static_files_are_served_under_any_host(still: DeskServer) -> None:
    assert get(still, "static/desk.css", host="evil.example").status_code == 200


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:99", "[::1]:8136", "LOCALHOST"])
def test_a_loopback_host_is_accepted(still: DeskServer, host: str) -> None:
    assert get(still, "health", host=host).status_code == 200


def test_a_configured_host_is_accepted(feed: ViewFeed) -> None:
    with DeskServer(feed, port=0, hosts=["desk.lan"]) as desk:
        assert get(desk, "health", host="desk.lan").status_code == 200


@pytest.mark.parametrize("path", ["", "events", "view.json", "standings.csv", "static/desk.css", "health"])
def test_head_is_answered_without_a_body(still: DeskServer, path: str) -> None:
    answer = get(still, path, "HEAD")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["", "events", "view.json", "standings.csv", "static/desk.css", "health"])
def test_read_only_routes_accept_no_other_method(still: DeskServer, path: str, method: str) -> None:
    assert get(still, path, method).status_code == 405


@pytest.mark.parametrize("path", ["static/../app.py", "static/%2e%2e/app.py", "static/..%2flabels.py", "static/"])
def test_no_file_outside_the_static_folders_is_served(still: DeskServer, path: str) -> None:
    assert get(still, path).status_code == 404


@pytest.mark.parametrize(("query", "tag"), [("", "fr"), ("?lang=zh", "zh-Hans"), ("?lang=%3Cscript%3E", "fr")])
def test_the_requested_language_is_used(still: DeskServer, query: str, tag: str) -> None:
    assert f'<html lang="{tag}"' in get(still, query, **{"accept-language": "fr-CH, en;q=0.5"}).text


def test_a_later_request_gets_the_newer_view(desk: DeskServer, feed: ViewFeed) -> None:
    feed.publish(sample.newer(feed.current, plays_in=8))
    assert "8 of 32 plays in" in get(desk).text
