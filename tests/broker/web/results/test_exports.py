"""Exports at the desk: each role gets its files, and only arbiters get results under embargo."""

import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest

from broker.event import Plan, open_event
from broker.export.archive import EXPORTS
from broker.people import ROLES, Actor, Authentication
from broker.protocol import LogMessage
from broker.scorer import StoredEvent, open_stored_event
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from broker.web.problems import PROBLEM
from broker.web.results import exports
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.folders import declare, event_folder, until_round
from tests.broker.scorer.riichi_deals import riichi_plan, whole_riichi_event
from tests.broker.scorer.small import NAME
from tests.broker.web.results.test_sessions import PLAN as SESSIONS
from tests.broker.web.test_auth import browser, logged_in
from tests.patience import PATIENCE_S


def desk_of(folder: Path) -> Iterator[DeskServer]:
    """Serve an event's folder with a scorer."""
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        auth, journal = Authentication(folder), SqliteJournal(folder / STORE, NAME)
        for role in ROLES:
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        scorer = Scorer(open_event(folder), journal, folder, lambda: 0)
        with DeskServer(
            scorer.feed, port=0, auth=auth, services=Services(lambda: scorer.snapshot, scorer=scorer, folder=folder)
        ) as server:
            yield server
        journal.close()
        auth.close()


LISTED: Final = [one for one in EXPORTS if not one.of_teams]
"""The exports of an event without teams."""


@pytest.fixture(scope="module")
def under_way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    """A desk whose event has three rounds of results and no complete deal."""
    yield from desk_of(event_folder(tmp_path_factory.mktemp("under-way") / "cup", until_round(3)))


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    yield from desk_of(declare(event_folder(tmp_path_factory.mktemp("over") / "cup")))


def names(content: bytes) -> list[str]:
    return sorted(name.partition("/")[2] for name in zipfile.ZipFile(BytesIO(content)).namelist())


@pytest.mark.parametrize("role", ROLES)
def test_each_role_can_download_its_files_after_the_event(over: DeskServer, role: str) -> None:
    with logged_in(over, role) as client:
        page, packed = client.get("/exports").text, client.get("/exports/all.zip")
        got = {one.name: client.get(f"/exports/{one.name}").status_code for one in LISTED if one.personal}
    mine = [one.name for one in LISTED if role != "display" or not one.personal]
    assert names(packed.content) == sorted(mine)
    assert got == {one.name: 200 if one.name in mine else 403 for one in LISTED if one.personal}
    assert [one.name for one in LISTED if f"/exports/{one.name}?" in page] == mine


@pytest.mark.parametrize("role", ROLES)
def test_only_arbiters_can_export_results_under_embargo(under_way: DeskServer, role: str) -> None:
    with logged_in(under_way, role) as client:
        plain, asked = client.get("/exports/results.csv"), client.get("/exports/results.csv?embargoed=1")
        standings = client.get("/exports/standings-table.csv").text
        page = client.get("/exports").text
        noted = "embargo_read,results.csv" in client.get("/audit.csv").text
    arbiter = role.endswith("arbiter")
    assert noted == (role == "head_arbiter")  # the only role that may read the log
    assert plain.text.count("\n") == 1
    told = asked.headers["content-type"].startswith("text/csv") and asked.text.count("\n") > 1
    assert (asked.status_code, told) == ((200, True) if arbiter else (403, False))
    assert ("embargoed=1" in page) == arbiter
    # Everybody else gets what the public page shows, with none of these deals, in the standings either.
    assert (",3,,\r\n" in standings) == arbiter


def test_an_export_during_another_is_refused_with_a_retry_time(
    over: DeskServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()

    def slowly(folder: Path) -> StoredEvent:
        begun.set()
        go.wait(PATIENCE_S)
        return open_stored_event(folder)

    monkeypatch.setattr(exports, "open_stored_event", slowly)
    with logged_in(over, "display") as client, ThreadPoolExecutor(1) as other:
        first = other.submit(client.get, "/exports/results.csv")
        assert begun.wait(PATIENCE_S)
        answers = [client.get(f"/exports/all.zip?lang={lang}") for lang in ("en", "fr", "zh")]
        go.set()
        assert (first.result().status_code, client.get("/exports/results.csv").status_code) == (200, 200)
    assert [(one.status_code, one.headers["Retry-After"]) for one in answers] == [(503, "5")] * 3
    assert ["exports_busy" in one.text for one in answers] == [True] * 3
    assert len({one.text for one in answers}) == 3


def test_a_file_available_only_at_the_end_is_refused_with_its_code(under_way: DeskServer) -> None:
    with logged_in(under_way, "head_arbiter") as client:
        answer = client.get("/exports/ema.csv")
    assert (answer.status_code, "<code>not_final</code>" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("plan", "said", "left", "reason"),
    [
        (riichi_plan(), whole_riichi_event(), {"booklet.pdf", "plays.pmn", "replay.html"}, "no_riichi_record"),
        (SESSIONS, [], {one.name for one in LISTED} - {"event.json"}, "no_compared_plays"),
    ],
    ids=["riichi", "only riichi sessions"],
)
def test_impossible_exports_are_not_offered_and_the_reason_is_given(
    tmp_path: Path, plan: Plan, said: list[LogMessage], left: set[str], reason: str
) -> None:
    folder = event_folder(tmp_path / "cup", said, plan)
    for server in desk_of(declare(folder) if said else folder):
        with logged_in(server, "head_arbiter") as client:
            page, packed = client.get("/exports").text, client.get("/exports/all.zip")
            refused = client.get(f"/exports/{min(left)}")
    assert {one.name for one in LISTED if f"/exports/{one.name}?" not in page} == left
    assert page.count(PROBLEM[reason]) == len(left)
    assert set(names(packed.content)) == {one.name for one in LISTED} - left
    assert (refused.status_code, reason in refused.text) == (400, True)


@pytest.mark.parametrize("name", ["none", "..%2fdeals.json", "deals.json", "%00", "all.zip%2f.."])
def test_no_other_file_can_be_downloaded(over: DeskServer, name: str) -> None:
    with logged_in(over, "head_arbiter") as client:
        assert client.get(f"/exports/{name}").status_code == 404


def test_exports_require_a_login(over: DeskServer) -> None:
    with browser(over) as client:
        assert {client.get(path).status_code for path in ("/exports", "/exports/all.zip")} == {303}
